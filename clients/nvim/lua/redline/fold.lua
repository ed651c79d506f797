---Lets closed folds say how many hunks they hide: virtual lines inside a fold are not drawn.
local M = {}

local api = vim.api
local OURS = "v:lua.require'redline'.foldtext()"

---Text of the closed fold that is being drawn.
---@return string
function M.text()
  local text = vim.fn.foldtext()
  local document = require("redline.document")
  local pending, conflicts = 0, 0
  for _, placed in ipairs(document.within(api.nvim_get_current_buf(), vim.v.foldstart - 1, vim.v.foldend)) do
    local state = placed.shown.hunk.state
    -- A block on the first line of the fold, but belonging to the line above it, is outside.
    if placed.first < placed.last or placed.first >= vim.v.foldstart then
      pending = pending + (state == "pending" and 1 or 0)
      conflicts = conflicts + (state == "conflict" and 1 or 0)
    end
  end
  local count = require("redline.block").count
  if pending > 0 then
    text = text .. "  ┃~ " .. count(pending, "hunk")
  end
  if conflicts > 0 then
    text = text .. "  ┃! " .. count(conflicts, "conflict")
  end
  return text
end

---Sets or restores 'foldtext' in the windows of a buffer; one that the user chose is left alone.
---@param bufnr integer
---@param pending boolean
function M.update(bufnr, pending)
  if pending and not require("redline.config").get().foldtext then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    local present = vim.wo[win].foldtext
    local wanted = pending and OURS or "foldtext()"
    if present == (pending and "foldtext()" or OURS) then
      api.nvim_set_option_value("foldtext", wanted, { scope = "local", win = win })
    end
  end
end

return M
