---Brings virtual lines into view where the editor would hide them.
local M = {}

local api = vim.api

---@param win integer
---@param view table
local function restore(win, view)
  api.nvim_win_call(win, function()
    vim.fn.winrestview(view)
  end)
end

---@param win integer
---@return vim.fn.winsaveview.ret
local function save(win)
  return api.nvim_win_call(win, vim.fn.winsaveview)
end

---Shows virtual lines above line 1 in the windows that stand at the top. They stay hidden otherwise.
---@param bufnr integer
---@param n_virtual integer
function M.show_above(bufnr, n_virtual)
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    local view = save(win)
    local fill = math.min(n_virtual, math.max(0, api.nvim_win_get_height(win) - view.lnum))
    if view.topline == 1 and view.topfill < fill then
      restore(win, { topline = 1, topfill = fill })
    end
  end
end

---Scrolls as little as shows a hunk whole; its first line stays in the window.
---@param win integer
---@param placed redline.Placed
---@param drawn redline.Drawn
function M.reveal(win, placed, drawn)
  if drawn.above then
    restore(win, { topline = 1, topfill = math.min(drawn.n_virtual, api.nvim_win_get_height(win) - 1) })
    return
  end
  local home = require("redline.document").home(placed)
  local last = math.max(home, placed.last - 1)
  local height = api.nvim_win_get_height(win)
  local view = save(win)
  local top = view.topline - 1
  local function rows(from)
    return api.nvim_win_text_height(win, { start_row = from, end_row = last }).all + drawn.n_virtual
  end
  if top > home or rows(top) <= height then
    return
  end
  while top < home and rows(top) > height do
    top = top + 1
  end
  restore(win, { topline = top + 1, topfill = 0 })
end

---Hunks at the two ends of a buffer: their blocks hang where no line can be scrolled to.
---@param win integer
---@param delta { topline: integer }
local function arrive(win, delta)
  local bufnr = api.nvim_win_get_buf(win)
  local document, render = require("redline.document"), require("redline.render")
  ---Draws before the next redraw does: how far to scroll depends on it.
  local function ends(first, last)
    local found = document.within(bufnr, first, last)
    if #found > 0 then
      render.refresh(bufnr)
    end
    return found
  end
  if delta.topline < 0 and vim.fn.line("w0", win) == 1 then
    for _, placed in ipairs(ends(0, 1)) do
      local drawn = render.drawn(bufnr, placed.shown.hunk.id)
      if drawn and drawn.above then
        M.show_above(bufnr, drawn.n_virtual)
      end
    end
  elseif delta.topline > 1 and vim.fn.line("w$", win) == api.nvim_buf_line_count(bufnr) then
    local n_lines = api.nvim_buf_line_count(bufnr)
    -- Only after a jump to the end; scrolling by lines shows the block by itself.
    if api.nvim_win_get_cursor(win)[1] ~= n_lines then
      return
    end
    for _, placed in ipairs(ends(n_lines - 1, n_lines)) do
      local drawn = render.drawn(bufnr, placed.shown.hunk.id)
      if drawn and drawn.n_virtual > 0 and placed.last >= n_lines then
        M.reveal(win, placed, drawn)
      end
    end
  end
end

---Watches windows that arrive at the top or the end of a buffer.
function M.setup()
  local group = api.nvim_create_augroup("redline.view", {})
  api.nvim_create_autocmd("WinScrolled", {
    group = group,
    callback = function()
      for win, delta in pairs(vim.v.event) do
        win = tonumber(win)
        if win and api.nvim_win_is_valid(win) then
          local shown = require("redline.document").get(api.nvim_win_get_buf(win))
          if shown and #shown.hunks > 0 then
            arrive(win, delta)
          end
        end
      end
    end,
  })
  api.nvim_create_autocmd("VimResized", {
    group = group,
    callback = function()
      for _, document in ipairs(require("redline.document").all()) do
        require("redline.render").schedule(document.bufnr)
      end
    end,
  })
end

return M
