---Draws hunks. Anchors exist for all of them; full marks only near what a window shows, so that ten thousand cost
---what a screen costs. Marks move with the text by themselves: nothing is drawn anew while the user types.
local M = {}

local api = vim.api
local block = require("redline.block")
local document = require("redline.document")

local marks = api.nvim_create_namespace("redline")
---`virt_lines_overflow` is an error before 0.11.
local CAN_SCROLL = vim.fn.has("nvim-0.11") == 1

---@class (exact) redline.Drawn
---@field key string what it was drawn from
---@field marks integer[] the first one stands on the hunk's home line
---@field home integer line of the first mark when it was drawn
---@field n_virtual integer virtual lines of the hunk
---@field above boolean they hang above the first line of the buffer

---@class (exact) redline.Canvas
---@field drawn table<string, redline.Drawn> by hunk id
---@field views table<integer, [integer, integer, integer, boolean]> lines drawn for each window, its text width and 'wrap'
---@field captures table<string, redline.Capture[][]>
---@field revealed table<string, integer> revision of each hunk above line 1 that was brought into view

---@type table<integer, redline.Canvas>
local canvases = {}

---@param bufnr integer
---@return redline.Canvas
local function canvas_of(bufnr)
  canvases[bufnr] = canvases[bufnr] or { drawn = {}, views = {}, captures = {}, revealed = {} }
  return canvases[bufnr]
end

---@param win integer
---@return integer cells of text in a line of the window
local function text_width(win)
  local info = vim.fn.getwininfo(win)[1]
  return math.max(20, info.width - info.textoff)
end

---@param bufnr integer
---@param wins integer[]
---@return redline.Layout
local function layout_of(bufnr, wins)
  local layout = {
    width = vim.o.columns,
    pad = vim.o.columns,
    wrap = false,
    tabstop = vim.bo[bufnr].tabstop,
    max_lines = require("redline.config").get().max_block_lines,
  }
  for _, win in ipairs(wins) do
    -- The other window of a diff shows the text: blocks would only push the lines apart.
    layout.bare = layout.bare or (vim.wo[win].diff and api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage())
    layout.width = math.min(layout.width, text_width(win))
    layout.wrap = layout.wrap or vim.wo[win].wrap
  end
  return layout
end

---@param bufnr integer
---@param canvas redline.Canvas
---@param id string
local function erase(bufnr, canvas, id)
  for _, mark in ipairs(canvas.drawn[id].marks) do
    api.nvim_buf_del_extmark(bufnr, marks, mark)
  end
  canvas.drawn[id] = nil
end

---Cells left at the end of a line for a label.
---@param line string
---@param layout redline.Layout
---@return integer
local function room_after(line, layout)
  local _, used = block.lay({ { line, "" } }, "", vim.tbl_extend("force", layout, { wrap = false }))
  if layout.wrap and used > layout.width then
    used = (used - 1) % layout.width + 1
  end
  return layout.width - used - 5
end

---@param bufnr integer
---@param canvas redline.Canvas
---@param placed redline.Placed
---@param layout redline.Layout
---@return redline.Chunk[][] virtual
---@return redline.Span[][] removed_words
local function proposal(bufnr, canvas, placed, layout, label)
  local config = require("redline.config").get()
  local hunk = placed.shown.hunk
  local removed, added = {}, {}
  if config.words and #hunk.removed > 0 and #hunk.added > 0 then
    removed, added = require("redline.words").compare(hunk.removed, hunk.added)
  end
  local captures = {}
  if config.syntax then
    local key = hunk.id .. "@" .. hunk.revision .. vim.bo[bufnr].filetype
    captures = canvas.captures[key]
      or require("redline.syntax").captures(
        bufnr,
        placed.first,
        placed.last,
        vim.list_slice(hunk.added, 1, layout.max_lines)
      )
    canvas.captures[key] = captures
  end
  return block.added(hunk, captures, added, layout, label), removed
end

---@param bufnr integer
---@param canvas redline.Canvas
---@param placed redline.Placed
---@param layout redline.Layout
---@return redline.Drawn
local function draw(bufnr, canvas, placed, layout, key)
  local hunk = placed.shown.hunk
  local home = document.home(placed)
  ---@type redline.Drawn
  local drawn =
    { key = key, marks = {}, home = home, n_virtual = 0, above = placed.first == placed.last and placed.first == 0 }
  local function mark(row, col, opts)
    opts.strict = false
    drawn.marks[#drawn.marks + 1] = api.nvim_buf_set_extmark(bufnr, marks, row, col, opts)
  end

  local sign, sign_group = block.sign(hunk)
  mark(home, 0, {
    sign_text = sign,
    sign_hl_group = sign_group,
    end_row = math.max(home, placed.last - 1),
    priority = 30,
  })

  local label = block.label(placed.shown)
  if layout.bare then
    mark(home, 0, { virt_text = { { "  ◀ " .. label, "RedlineInfo" } }, hl_mode = "combine", priority = 90 })
    return drawn
  end
  if placed.first < placed.last then
    local group = ({ conflict = "RedlineConflict", pending = "RedlineRemove" })[hunk.state]
    if group then
      mark(placed.first, 0, { end_row = placed.last, end_col = 0, hl_group = group, hl_eol = true, priority = 90 })
    end
    local line = api.nvim_buf_get_lines(bufnr, placed.first, placed.first + 1, false)[1] or ""
    local room = room_after(line, layout)
    -- What does not fit gets a virtual line of its own; a conflict or a settled hunk has none.
    local fits = room >= api.nvim_strwidth(label)
    if fits or hunk.state ~= "pending" then
      mark(placed.first, 0, {
        virt_text = { { "  ◀ " .. (fits and label or block.cut(label, math.max(room, 24))), "RedlineInfo" } },
        hl_mode = "combine",
        priority = 90,
      })
      label = nil
    end
  elseif hunk.state ~= "pending" then
    mark(home, 0, { virt_text = { { "  ◀ " .. label, "RedlineInfo" } }, hl_mode = "combine", priority = 90 })
  end
  if hunk.state ~= "pending" then
    return drawn
  end

  local virtual, words = proposal(bufnr, canvas, placed, layout, label)
  if #virtual == 0 and label then
    virtual = { { { "▲ " .. block.cut(label, layout.width - 2), "RedlineInfo" } } }
  end
  if #virtual > 0 then
    mark(math.max(home, placed.last - 1), 0, {
      virt_lines = virtual,
      virt_lines_above = drawn.above,
      virt_lines_overflow = CAN_SCROLL and not layout.wrap and "scroll" or nil,
      priority = 90,
    })
    drawn.n_virtual = #virtual
  end
  for offset, spans in ipairs(words) do
    for _, span in ipairs(spans) do
      mark(placed.first + offset - 1, span[1], { end_col = span[2], hl_group = "RedlineRemoveWord", priority = 150 })
    end
  end
  return drawn
end

---@param placed redline.Placed
---@param layout redline.Layout
---@return string
local function key_of(placed, layout)
  local hunk = placed.shown.hunk
  return table.concat({
    hunk.revision,
    hunk.state,
    block.label(placed.shown),
    tostring(hunk.unsaved),
    placed.last - placed.first,
    layout.width,
    layout.pad,
    tostring(layout.wrap),
    layout.tabstop,
    layout.max_lines,
    tostring(layout.bare),
  }, "\0")
end

---Draws what the windows of a buffer show and one screen around, and erases the rest.
---@param bufnr integer
function M.refresh(bufnr)
  if not api.nvim_buf_is_loaded(bufnr) then
    canvases[bufnr] = nil
    return
  end
  local canvas = canvas_of(bufnr)
  local wins = vim.fn.win_findbuf(bufnr)
  local layout = layout_of(bufnr, wins)
  canvas.views = {}
  ---@type table<string, redline.Placed>
  local wanted = {}
  for _, win in ipairs(wins) do
    local height = api.nvim_win_get_height(win)
    local first = math.max(0, vim.fn.line("w0", win) - 1 - height)
    local last = vim.fn.line("w$", win) + height
    canvas.views[win] = { first, last, text_width(win), vim.wo[win].wrap }
    for _, placed in ipairs(document.within(bufnr, first, last)) do
      wanted[placed.shown.hunk.id] = placed
    end
  end
  local lost_lines = false
  for id, drawn in pairs(canvas.drawn) do
    local placed = wanted[id]
    local place = api.nvim_buf_get_extmark_by_id(bufnr, marks, drawn.marks[1], {})
    if not placed or drawn.key ~= key_of(placed, layout) or place[1] ~= document.home(placed) then
      lost_lines = lost_lines or drawn.n_virtual > 0
      erase(bufnr, canvas, id)
    end
  end
  local view = require("redline.view")
  for id, placed in pairs(wanted) do
    if not canvas.drawn[id] then
      canvas.drawn[id] = draw(bufnr, canvas, placed, layout, key_of(placed, layout))
      local hunk = placed.shown.hunk
      -- Once: what the user scrolls away stays away.
      if canvas.drawn[id].above and canvas.drawn[id].n_virtual > 0 and canvas.revealed[id] ~= hunk.revision then
        canvas.revealed[id] = hunk.revision
        view.show_above(bufnr, canvas.drawn[id].n_virtual)
      end
    end
  end
  if #document.pending(bufnr) == 0 then
    canvas.captures = {}
  end
  if lost_lines then
    -- The editor scrolls what is below a virtual line that goes, and can lose lines in doing so.
    for _, win in ipairs(wins) do
      api.nvim__redraw({ win = win, valid = false })
    end
  end
end

---Erases everything of a buffer.
---@param bufnr integer
function M.clear(bufnr)
  canvases[bufnr] = nil
  if api.nvim_buf_is_valid(bufnr) then
    api.nvim_buf_clear_namespace(bufnr, marks, 0, -1)
  end
end

---Draws everything anew: after a change of colours, of settings, or of a view that turned out stale.
---@param bufnr integer
function M.redraw(bufnr)
  M.clear(bufnr)
  M.refresh(bufnr)
end

---@param bufnr integer
---@param id string
---@return redline.Drawn?
function M.drawn(bufnr, id)
  local canvas = canvases[bufnr]
  return canvas and canvas.drawn[id]
end

local waiting = {}

---Draws a buffer when the editor has time; many calls make one.
---@param bufnr integer
function M.schedule(bufnr)
  if waiting[bufnr] then
    return
  end
  waiting[bufnr] = true
  vim.schedule(function()
    waiting[bufnr] = nil
    M.refresh(bufnr)
  end)
end

---Asks for marks where a window has come to lines that have none, or has another width.
api.nvim_set_decoration_provider(api.nvim_create_namespace("redline.provider"), {
  on_win = function(_, win, bufnr, top, bottom)
    local shown = document.get(bufnr)
    if shown and #shown.hunks > 0 then
      local view = canvas_of(bufnr).views[win]
      local margin = math.floor((bottom - top) / 2)
      if
        not view
        or math.max(0, top - margin) < view[1]
        or math.min(bottom + margin, api.nvim_buf_line_count(bufnr)) > view[2]
        or text_width(win) ~= view[3]
        or vim.wo[win].wrap ~= view[4]
      then
        M.schedule(bufnr)
      end
    end
    return false
  end,
})

return M
