---Public functions. Nothing has to be called: |redline-settings| live in `vim.g.redline`.
local M = {}

---Changes settings; optional.
---@param options? redline.Config
function M.setup(options)
  local config = require("redline.config")
  config.options = vim.tbl_extend("force", config.options, options or {})
  config.get()
end

---Text for a status line: pending hunks, conflicts, and what the turn does. Empty where Redline is not attached.
---@param bufnr? integer
---@return string
function M.statusline(bufnr)
  return vim.b[bufnr or 0].redline_status or ""
end

---Text of a closed fold: what `foldtext()` says, and how many hunks are inside.
---@return string
function M.foldtext()
  return require("redline.fold").text()
end

---Hunks of a buffer that wait for a decision, by place.
---@param bufnr? integer
---@return redline.DocumentHunk[]
function M.hunks(bufnr)
  return require("redline.document").pending(bufnr or vim.api.nvim_get_current_buf())
end

---Accepts part of what is pending; see |:Redline-accept|.
---@param scope? "hunk"|"file"|"transaction"|"all"
function M.accept(scope)
  require("redline.review").decide("accept", scope or "hunk")
end

---Rejects part of what is pending; see |:Redline-reject|.
---@param scope? "hunk"|"file"|"transaction"|"all"
function M.reject(scope)
  require("redline.review").decide("reject", scope or "hunk")
end

---Moves the cursor to another hunk of the buffer.
---@param where "next"|"prev"|"first"|"last"
---@param count? integer
function M.jump(where, count)
  require("redline.jump").to(where, count)
end

return M
