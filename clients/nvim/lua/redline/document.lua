---Hunks of each buffer and the anchors that keep their places.
---
---The sidecar sends all hunks of a document with the version that their ranges count in, and says nothing
---when they only move: the anchors move with the text. A list for an older version is moved here, by the
---changes made since.
local M = {}

local api = vim.api

---Changes kept for lists that count in an older version.
local MAX_CHANGES = 5000

---@class (exact) redline.Change
---@field tick integer `changedtick` after the change
---@field first integer zero-based first line
---@field last integer line after the last one replaced
---@field new_last integer line after the last one that replaces

---@class (exact) redline.Document
---@field bufnr integer
---@field client_id integer
---@field hunks redline.DocumentHunk[] as sent
---@field by_mark table<integer, redline.DocumentHunk>
---@field mark_of table<string, integer> anchor of each hunk id
---@field changes redline.Change[] since `opened`

---@type table<integer, redline.Document>
local documents = {}

local anchors = api.nvim_create_namespace("redline.anchor")

---@param bufnr integer
---@return redline.Document?
function M.get(bufnr)
  return documents[bufnr]
end

---@return redline.Document[]
function M.all()
  return vim.tbl_values(documents)
end

---Moves a half-open range of lines over one change, as the sidecar does: a change at its edge only moves it.
---@param first integer
---@param last integer
---@param change redline.Change
---@return integer first
---@return integer last
function M.move(first, last, change)
  local shift = change.new_last - change.last
  if change.last <= first then
    return first + shift, last + shift
  elseif change.first >= last then
    return first, last
  end
  first = math.min(first, change.first)
  return first, math.max(first, last + shift)
end

---Starts to keep the hunks of a buffer. Called in the same instant in which the document was opened to the server.
---@param bufnr integer
---@param client_id integer
function M.open(bufnr, client_id)
  local document = documents[bufnr]
  if document then
    document.client_id = client_id
    document.changes = {}
    return
  end
  ---@type redline.Document
  document = { bufnr = bufnr, client_id = client_id, hunks = {}, by_mark = {}, mark_of = {}, changes = {} }
  documents[bufnr] = document
  api.nvim_buf_attach(bufnr, false, {
    on_lines = function(_, _, tick, first, last, new_last)
      if documents[bufnr] ~= document then
        return true
      end
      -- A preview ('inccommand') has no tick and is taken back.
      if tick then
        local changes = document.changes
        changes[#changes + 1] = { tick = tick, first = first, last = last, new_last = new_last }
        if #changes > MAX_CHANGES then
          document.changes = vim.list_slice(changes, MAX_CHANGES / 2)
        end
      end
    end,
    on_reload = function()
      -- The language client closes and opens the document here: the sidecar sends its hunks anew.
      document.changes = {}
      M.clear(bufnr)
    end,
    on_detach = function()
      if documents[bufnr] == document then
        documents[bufnr] = nil
      end
    end,
  })
end

---Forgets a buffer.
---@param bufnr integer
function M.close(bufnr)
  if documents[bufnr] then
    M.clear(bufnr)
    documents[bufnr] = nil
  end
end

---Changes made after `version`; version 0 is the text as it was opened.
---@param document redline.Document
---@param version integer
---@return redline.Change[]
local function since(document, version)
  return vim.tbl_filter(function(change)
    return change.tick > version
  end, document.changes)
end

---Tells whether a buffer changed after `version` of its document.
---@param bufnr integer
---@param version integer
---@return boolean
function M.changed_since(bufnr, version)
  local document = documents[bufnr]
  return document ~= nil and #since(document, version) > 0
end

---@param bufnr integer
function M.clear(bufnr)
  local document = documents[bufnr]
  if document and api.nvim_buf_is_valid(bufnr) then
    api.nvim_buf_clear_namespace(bufnr, anchors, 0, -1)
    document.hunks, document.by_mark, document.mark_of = {}, {}, {}
  end
end

---Takes over what the sidecar says of a document.
---@param bufnr integer
---@param version integer document version that the ranges count in
---@param hunks redline.DocumentHunk[]
function M.update(bufnr, version, hunks)
  local document = documents[bufnr]
  if not document then
    return
  end
  M.clear(bufnr)
  local changes = since(document, version)
  local n_lines = api.nvim_buf_line_count(bufnr)
  for _, shown in ipairs(hunks) do
    local first, last = shown.range.start.line, shown.range["end"].line
    for _, change in ipairs(changes) do
      first, last = M.move(first, last, change)
    end
    first = math.min(first, n_lines)
    last = math.max(first, math.min(last, n_lines))
    local mark = api.nvim_buf_set_extmark(bufnr, anchors, first, 0, {
      end_row = last,
      end_col = 0,
      right_gravity = last > first,
      end_right_gravity = false,
      strict = false,
    })
    document.by_mark[mark] = shown
    document.mark_of[shown.hunk.id] = mark
  end
  document.hunks = hunks
end

---Lines of a hunk in the buffer as it is now: zero-based, half-open, empty for an insertion.
---@param bufnr integer
---@param id string
---@return integer? first
---@return integer? last
function M.rows(bufnr, id)
  local document = documents[bufnr]
  local mark = document and document.mark_of[id]
  if not mark then
    return nil
  end
  local place = api.nvim_buf_get_extmark_by_id(bufnr, anchors, mark, { details = true })
  if not place[1] then
    return nil
  end
  return place[1], math.max(place[1], place[3].end_row or place[1])
end

---@class (exact) redline.Placed
---@field shown redline.DocumentHunk
---@field first integer zero-based first line
---@field last integer line after the last one; equal to `first` for an insertion

---Hunks that touch the lines `first` to `last`, by place. An insertion touches the lines on both its sides.
---@param bufnr integer
---@param first integer zero-based
---@param last integer line after the last one
---@return redline.Placed[]
function M.within(bufnr, first, last)
  local document = documents[bufnr]
  if not document or #document.hunks == 0 then
    return {}
  end
  local found = {}
  local marks = api.nvim_buf_get_extmarks(bufnr, anchors, { math.max(0, first), 0 }, { last, 0 }, {
    details = true,
    overlap = true,
  })
  for _, mark in ipairs(marks) do
    local shown, from = document.by_mark[mark[1]], mark[2]
    local to = math.max(from, mark[4].end_row or from)
    if shown and (from == to or (from < last and to > first)) then
      found[#found + 1] = { shown = shown, first = from, last = to }
    end
  end
  table.sort(found, function(a, b)
    if a.first ~= b.first then
      return a.first < b.first
    end
    return a.shown.hunk.index < b.shown.hunk.index
  end)
  return found
end

---Whether a hunk waits for the user.
---@param shown redline.DocumentHunk
---@return boolean
function M.is_open(shown)
  return shown.hunk.state == "pending" or shown.hunk.state == "conflict"
end

---All hunks of a buffer that wait for the user, with their places.
---@param bufnr integer
---@return redline.Placed[]
function M.placed(bufnr)
  return vim.tbl_filter(function(placed)
    return M.is_open(placed.shown)
  end, M.within(bufnr, 0, api.nvim_buf_line_count(bufnr)))
end

---The same without places, as sent.
---@param bufnr integer
---@return redline.DocumentHunk[]
function M.pending(bufnr)
  local document = documents[bufnr]
  return document and vim.tbl_filter(M.is_open, document.hunks) or {}
end

---The line on which the cursor is "on" a hunk: its first line, for an insertion the line above it.
---@param placed redline.Placed
---@return integer row zero-based
function M.home(placed)
  if placed.first < placed.last then
    return placed.first
  end
  return math.max(0, placed.first - 1)
end

---The open hunk that a line shows: it holds the line, or its block hangs below it.
---@param bufnr integer
---@param row integer zero-based
---@return redline.Placed?
function M.at(bufnr, row)
  local below
  for _, placed in ipairs(M.within(bufnr, row, row + 1)) do
    if M.is_open(placed.shown) then
      if placed.first <= row and row < placed.last then
        return placed
      elseif placed.first == placed.last and M.home(placed) == row then
        below = below or placed
      end
    end
  end
  return below
end

return M
