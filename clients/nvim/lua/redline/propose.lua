---Any agent's output gets the same review: the text of a buffer becomes a proposal.
local M = {}

---@param result vim.SystemCompleted
local function tell(result)
  local ok, answer = pcall(vim.json.decode, result.stdout, { luanil = { object = true } })
  local lsp = require("redline.lsp")
  if not ok or type(answer) ~= "table" then
    return lsp.report({ code = "INTERNAL", message = vim.trim(result.stderr), hint = ":checkhealth redline" })
  elseif answer.error then
    return lsp.report(answer.error)
  end
  local count = require("redline.block").count
  local hunks = 0
  for _, file in ipairs(answer.files) do
    hunks = hunks + #file.hunks
  end
  require("redline.review").say(
    ("%s in %s pending (:Redline review)"):format(count(hunks, "hunk"), count(#answer.files, "file"))
  )
end

---Proposes the diff, patch or search/replace blocks in the current buffer.
---
---By the command line and not by this client: who proposes over a connection may not decide over it.
---@param range? [integer, integer] 1-based lines; absent means all
function M.buffer(range)
  local client = require("redline.review").client_here()
  if not client then
    return
  end
  range = range or { 1, vim.api.nvim_buf_line_count(0) }
  local lines = vim.api.nvim_buf_get_lines(0, range[1] - 1, range[2], false)
  local program = require("redline.config").get().cmd[1]
  vim.system(
    { program, "propose", "--json" },
    { cwd = client.root_dir, stdin = table.concat(lines, "\n") .. "\n", text = true },
    vim.schedule_wrap(tell)
  )
end

return M
