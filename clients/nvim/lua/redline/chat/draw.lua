---Writes a conversation into its buffer: what is new at the end of the history, what changed in its place.
---
---The history stands above the prompt. Nothing but this module writes there, so lines are counted, not searched.
local M = {}

local api = vim.api
local entries = require("redline.chat.entry")
local folds = require("redline.chat.folds")

local marks = api.nvim_create_namespace("redline.chat")

---Time of the processor that building entries may take in one flush, before the editor has its turn.
local BUDGET_S = 0.006

---@class (exact) redline.Board
---@field bufnr integer
---@field conversation redline.Conversation
---@field n_history integer lines of the history
---@field writing boolean a change is ours
---@field context redline.EntryContext

---@param board redline.Board
---@param change fun(bufnr: integer)
local function changing(board, change)
  board.writing = true
  local bo = vim.bo[board.bufnr]
  local modifiable, levels = bo.modifiable, bo.undolevels
  if not modifiable then
    bo.modifiable = true
  end
  -- The editor's undo knows lines by number: it must not take back what arrived above what was typed.
  bo.undolevels = -1
  change(board.bufnr)
  bo.undolevels = levels
  if not modifiable then
    bo.modifiable = false
  end
  bo.modified = false
  board.writing = false
end

---Replaces whole lines.
---@param board redline.Board
---@param first integer zero-based
---@param last integer
---@param lines string[]
local function write(board, first, last, lines)
  changing(board, function(bufnr)
    api.nvim_buf_set_lines(bufnr, first, last, false, lines)
  end)
end

---Replaces the lines of an entry so that a fold around them stays, and grows or shrinks with them.
---
---By Vim's own functions: the API takes replaced lines for deleted ones, and folds with them, in some releases.
---@param board redline.Board
---@param row integer zero-based
---@param before string[]
---@param lines string[]
local function rewrite(board, row, before, lines)
  local grown = #lines - #before
  changing(board, function(bufnr)
    if grown > 0 then
      -- Before the last line, which the fold ends with.
      local last = table.remove(before)
      for _ = 1, grown do
        before[#before + 1] = ""
      end
      before[#before + 1] = last
      vim.fn.appendbufline(bufnr, row + #before - 1 - grown, vim.fn["repeat"]({ "" }, grown))
    elseif grown < 0 then
      vim.fn.deletebufline(bufnr, row + #lines + 1, row + #before)
    end
    for i, line in ipairs(lines) do
      if before[i] ~= line then
        vim.fn.setbufline(bufnr, row + i, line)
      end
    end
  end)
end

---@param board redline.Board
---@param row integer zero-based line of the entry's first line
---@param shown redline.ShownEntry
local function mark(board, row, shown)
  for _, each in ipairs(shown.marks) do
    api.nvim_buf_set_extmark(board.bufnr, marks, row + each[1] - 1, each[2], {
      end_col = each[3],
      hl_group = each[4],
      priority = 120,
      strict = false,
    })
  end
end

---What is kept of an entry once it is drawn.
---@param shown redline.ShownEntry
local function settle(shown)
  shown.lines, shown.marks = nil, nil
end

---@param row integer
---@param shown redline.ShownEntry
---@return [integer, integer]
local function fold_range(row, shown)
  return { row + shown.fold, row + shown.n }
end

---Draws an entry again in its place, with as few lines as changed.
---@param board redline.Board
---@param entry redline.Entry
---@param row integer
local function redraw(board, entry, row)
  local old, new = entry.shown, entries.build(entry, board.context)
  local before = api.nvim_buf_get_lines(board.bufnr, row, row + old.n, false)
  if
    entry.kind == "answer" and entry ~= board.conversation.transcript.entries[board.conversation.transcript.n_drawn]
  then
    local fence = entries.open_fence(new.lines)
    if fence then
      table.insert(new.lines, fence)
      new.n = new.n + 1
    end
  end
  new.lead = old.lead
  local grown = new.n - old.n
  rewrite(board, row, before, new.lines)
  board.n_history = board.n_history + grown
  api.nvim_buf_clear_namespace(board.bufnr, marks, row, row + new.n)
  mark(board, row, new)
  if new.fold then
    folds.close(board.bufnr, { fold_range(row, new) })
  elseif old.fold then
    folds.open(board.bufnr, row + 1)
  end
  settle(new)
  entry.shown, entry.fresh = new, nil
end

---Appends what arrived of a text to its last line.
---@param board redline.Board
---@param entry redline.Entry
---@param row integer
local function extend(board, entry, row)
  local shown = entry.shown
  local last = row + shown.n - 1
  local before = api.nvim_buf_get_lines(board.bufnr, last, last + 1, false)[1]
  local text = table.concat(entry.pieces, "", entry.fresh):gsub("\r\n", "\n")
  entry.fresh = #entry.pieces + 1
  -- A piece may have ended between CR and LF.
  local from = before:sub(-1) == "\r" and text:sub(1, 1) == "\n" and #before - 1 or #before
  local lines = vim.split(text, "\n", { plain = true })
  changing(board, function(bufnr)
    api.nvim_buf_set_text(bufnr, last, from, last, #before, lines)
  end)
  shown.n = shown.n + #lines - 1
  board.n_history = board.n_history + #lines - 1
end

---Visits drawn entries from the last one up, with the line of each, until told to stop.
---@param board redline.Board
---@param visit fun(entry: redline.Entry, row: integer): boolean? true stops
local function upwards(board, visit)
  local transcript = board.conversation.transcript
  local row = board.n_history
  for index = transcript.n_drawn, 1, -1 do
    local entry = transcript.entries[index]
    row = row - entry.shown.n
    if visit(entry, row) then
      return
    end
    row = row - entry.shown.lead
  end
end

---Closes the code block that an answer left open, before anything comes after it.
---@param board redline.Board
local function close_fence(board)
  local transcript = board.conversation.transcript
  local entry = transcript.entries[transcript.n_drawn]
  if not entry or entry.kind ~= "answer" then
    return
  end
  local row = board.n_history - entry.shown.n
  local fence = entries.open_fence(api.nvim_buf_get_lines(board.bufnr, row, board.n_history, false))
  if fence then
    write(board, board.n_history, board.n_history, { fence })
    entry.shown.n = entry.shown.n + 1
    board.n_history = board.n_history + 1
    -- What still comes of it is drawn with the whole.
    entry.fresh = nil
  end
end

---Draws entries that are new, many with one write.
---@param board redline.Board
---@param deadline number of `os.clock`
local function append(board, deadline)
  local transcript = board.conversation.transcript
  local from = transcript.n_drawn + 1
  close_fence(board)
  local lines, placed = {}, {}
  local row = board.n_history
  for index = from, #transcript.entries do
    local entry = transcript.entries[index]
    local shown = entries.build(entry, board.context)
    if entry.kind == "answer" and index < #transcript.entries then
      local fence = entries.open_fence(shown.lines)
      if fence then
        table.insert(shown.lines, fence)
        shown.n = shown.n + 1
      else
        entry.fresh = #entry.pieces + 1
      end
    elseif entry.kind == "answer" then
      entry.fresh = #entry.pieces + 1
    end
    local above = lines[#lines] or api.nvim_buf_get_lines(board.bufnr, row - 1, row, false)[1]
    -- A text that ends with a line break brings the blank line itself.
    if above ~= "" and entries.spaced(entry, transcript.entries[index - 1]) then
      lines[#lines + 1] = ""
      shown.lead = 1
    end
    placed[#placed + 1] = { row = row + #lines, shown = shown }
    vim.list_extend(lines, shown.lines)
    entry.shown = shown
    transcript.changed[entry] = nil
    transcript.n_drawn = index
    if os.clock() > deadline then
      break
    end
  end
  write(board, row, row, lines)
  board.n_history = row + #lines
  local ranges = {}
  for _, each in ipairs(placed) do
    mark(board, each.row, each.shown)
    if each.shown.fold then
      ranges[#ranges + 1] = fold_range(each.row, each.shown)
    end
    settle(each.shown)
  end
  folds.close(board.bufnr, ranges)
end

---Draws what is not drawn yet, as much as there is time for.
---@param board redline.Board
---@return boolean more is left
function M.flush(board)
  local transcript = board.conversation.transcript
  local deadline = os.clock() + BUDGET_S
  local waiting = vim.tbl_count(transcript.changed)
  if waiting > 0 then
    local found = {}
    upwards(board, function(entry, row)
      if transcript.changed[entry] then
        found[#found + 1] = { entry, row }
        waiting = waiting - 1
      end
      return waiting == 0
    end)
    -- From the last one up: what changes below moves nothing above.
    for _, each in ipairs(found) do
      local entry, row = each[1], each[2]
      transcript.changed[entry] = nil
      if entry.fresh then
        extend(board, entry, row)
      else
        redraw(board, entry, row)
      end
      if os.clock() > deadline then
        break
      end
    end
  end
  if transcript.n_drawn < #transcript.entries then
    append(board, deadline)
  end
  return next(transcript.changed) ~= nil or transcript.n_drawn < #transcript.entries
end

---Writes everything anew.
---@param board redline.Board
function M.reset(board)
  local transcript = board.conversation.transcript
  api.nvim_buf_clear_namespace(board.bufnr, marks, 0, -1)
  local title = ("# Redline · %s"):format(vim.fs.basename(board.conversation.root))
  write(board, 0, -1, { title })
  board.n_history = 1
  transcript.n_drawn, transcript.changed = 0, {}
  for _, entry in ipairs(transcript.entries) do
    entry.shown, entry.fresh = nil, nil
  end
end

---The entry that a line belongs to.
---@param board redline.Board
---@param row integer zero-based
---@return redline.Entry?
---@return integer? line of the entry, from 1
function M.at(board, row)
  local found, line
  upwards(board, function(entry, first)
    if row >= first then
      if row < first + entry.shown.n then
        found, line = entry, row - first + 1
      end
      return true
    end
  end)
  return found, line
end

---The line of an entry.
---@param board redline.Board
---@param wanted redline.Entry
---@return integer? row zero-based
function M.row(board, wanted)
  local found
  upwards(board, function(entry, row)
    found = entry == wanted and row or nil
    return found ~= nil
  end)
  return found
end

---Folds what is folded, in a window that has just come to show the conversation.
---@param board redline.Board
---@param win integer
function M.fold_window(board, win)
  folds.reset(win)
  local ranges = {}
  upwards(board, function(entry, row)
    if entry.shown.fold then
      table.insert(ranges, fold_range(row, entry.shown))
    end
  end)
  folds.close(board.bufnr, ranges)
end

M.write = write

return M
