---Moves between the hunks of a buffer, and from file to file.
local M = {}

local api = vim.api
local document = require("redline.document")

---@param win integer
---@param bufnr integer
---@param placed redline.Placed
local function go(win, bufnr, placed)
  vim.cmd("normal! m'")
  api.nvim_win_set_cursor(win, { document.home(placed) + 1, 0 })
  vim.cmd("normal! ^")
  if vim.fn.foldclosed(".") ~= -1 then
    vim.cmd("normal! zv")
  end
  -- Drawn now, not at the next redraw: how far to scroll depends on the block's height.
  local render = require("redline.render")
  render.refresh(bufnr)
  local drawn = render.drawn(bufnr, placed.shown.hunk.id)
  if drawn then
    require("redline.view").reveal(win, placed, drawn)
  end
end

---Moves the cursor to a hunk of the current buffer; goes round at the ends as 'wrapscan' says.
---@param where "next"|"prev"|"first"|"last"
---@param count? integer
function M.to(where, count)
  local win, bufnr = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local placed = document.placed(bufnr)
  if #placed == 0 then
    local others = require("redline.status").counts(bufnr)
    vim.api.nvim_echo({
      {
        others and others.files > 0 and ("redline: no hunk here; %s with hunks (:Redline review)"):format(
          require("redline.block").count(others.files, "file")
        ) or "redline: nothing pending",
      },
    }, false, {})
    return
  end
  local row = api.nvim_win_get_cursor(win)[1] - 1
  local target
  if where == "first" then
    target = 1
  elseif where == "last" then
    target = #placed
  else
    local step = where == "next" and 1 or -1
    local from, to = step == 1 and 1 or #placed, step == 1 and #placed or 1
    for i = from, to, step do
      if (document.home(placed[i]) - row) * step > 0 then
        target = i
        break
      end
    end
    if target then
      target = target + step * ((count or 1) - 1)
    elseif vim.o.wrapscan then
      target = from
    end
    if target and (target < 1 or target > #placed) then
      target = vim.o.wrapscan and (target - 1) % #placed + 1 or math.max(1, math.min(target, #placed))
    end
  end
  if not target then
    api.nvim_echo({ { ("redline: no hunk %s the cursor"):format(where == "next" and "below" or "above") } }, false, {})
    return
  end
  go(win, bufnr, placed[target])
end

return M
