---Windows that stay at the end of a conversation while it grows.
local M = {}

local api = vim.api

---The first line that a window shows when its last line is the buffer's.
---@param win integer
---@return integer
local function bottom_view(win)
  local height = api.nvim_win_get_height(win) - vim.fn.getwininfo(win)[1].winbar
  local row = api.nvim_buf_line_count(api.nvim_win_get_buf(win)) - 1
  local used = 0
  while row >= 0 do
    local from = api.nvim_win_call(win, function()
      return vim.fn.foldclosed(row + 1)
    end)
    used = used + (from ~= -1 and 1 or api.nvim_win_text_height(win, { start_row = row, end_row = row }).all)
    if used > height then
      return row + 2
    end
    row = (from ~= -1 and from - 1 or row) - 1
  end
  return 1
end

---Shows the end again in the windows that showed it.
---@param wins integer[]
function M.show_end(wins)
  for _, win in ipairs(wins) do
    if api.nvim_win_is_valid(win) then
      local last = api.nvim_buf_line_count(api.nvim_win_get_buf(win))
      local cursor = api.nvim_win_get_cursor(win)
      if cursor[1] ~= last then
        api.nvim_win_set_cursor(win, { last, cursor[2] })
      end
      local top = bottom_view(win)
      api.nvim_win_call(win, function()
        vim.fn.winrestview({ topline = top })
      end)
    end
  end
end

---Windows whose cursor is on the last line: they follow, all others stay where they are.
---@param bufnr integer
---@return integer[]
function M.of(bufnr)
  local last = api.nvim_buf_line_count(bufnr)
  return vim.tbl_filter(function(win)
    return api.nvim_win_get_cursor(win)[1] == last
  end, vim.fn.win_findbuf(bufnr))
end

return M
