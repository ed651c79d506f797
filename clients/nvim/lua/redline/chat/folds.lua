---Folds of a conversation: made by hand in each window, so that typing never waits for their computation.
local M = {}

local api = vim.api

---@param win integer
---@return boolean
local function manual(win)
  return vim.wo[win].foldmethod == "manual"
end

---Folds lines in every window of a buffer where they are in no fold yet. A fold grows by itself when lines come
---before its last one.
---@param bufnr integer
---@param ranges [integer, integer][] 1-based lines
function M.close(bufnr, ranges)
  if #ranges == 0 then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    if manual(win) then
      api.nvim_win_call(win, function()
        for _, range in ipairs(ranges) do
          if vim.fn.foldlevel(range[1]) == 0 then
            vim.cmd(("%d,%dfold"):format(range[1], range[2]))
          end
        end
      end)
    end
  end
end

---Opens the fold that a line is in, in every window of a buffer.
---@param bufnr integer
---@param line integer 1-based
function M.open(bufnr, line)
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    api.nvim_win_call(win, function()
      if vim.fn.foldclosed(line) ~= -1 then
        vim.cmd(("%dfoldopen!"):format(line))
      end
    end)
  end
end

---Takes all folds of a window away: those that it remembers of an earlier visit are for other lines.
---@param win integer
function M.reset(win)
  if manual(win) then
    api.nvim_win_call(win, function()
      vim.cmd("normal! zE")
    end)
  end
end

---Text of a closed fold: the line as it is coloured, and how much is hidden.
---@return string|[string, string][]
function M.text()
  local line = vim.fn.getline(vim.v.foldstart)
  local title, state = line:match("^(.*) · (.-)$")
  local hidden = (" … %d more"):format(vim.v.foldend - vim.v.foldstart)
  if not title then
    return line .. hidden
  end
  local block = require("redline.block")
  local room = api.nvim_win_get_width(0) - api.nvim_strwidth(hidden) - 3
  title = block.cut(title, math.max(10, room - math.min(20, api.nvim_strwidth(state))))
  state = block.cut(state, math.max(4, room - api.nvim_strwidth(title)))
  local group = "RedlineMuted"
  for _, mark in
    ipairs(
      api.nvim_buf_get_extmarks(
        0,
        api.nvim_create_namespace("redline.chat"),
        { vim.v.foldstart - 1, 0 },
        { vim.v.foldstart - 1, -1 },
        { details = true }
      )
    )
  do
    group = mark[3] > 0 and mark[4].hl_group or group
  end
  return { { title, "RedlineTool" }, { " · ", "RedlineMuted" }, { state, group }, { hidden, "RedlineMuted" } }
end

return M
