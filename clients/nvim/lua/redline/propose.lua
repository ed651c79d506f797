---Any agent's output gets the same review: the text of a buffer becomes a proposal.
local M = {}

---Proposes the diff, patch or search/replace blocks in the current buffer.
---@param range? [integer, integer] 1-based lines; absent means all
function M.buffer(range)
  local review, lsp = require("redline.review"), require("redline.lsp")
  local client = review.client_here()
  if not client then
    return
  end
  range = range or { 1, vim.api.nvim_buf_line_count(0) }
  local lines = vim.api.nvim_buf_get_lines(0, range[1] - 1, range[2], false)
  lsp.request(client, require("redline.protocol").method.TRANSACTION_PROPOSE, {
    content = table.concat(lines, "\n") .. "\n",
    proposedBy = "neovim",
  }, function(err, transaction)
    if err then
      return lsp.report(err)
    end
    local count = require("redline.block").count
    local hunks = 0
    for _, file in ipairs(transaction.files) do
      hunks = hunks + #file.hunks
    end
    review.say(("%s in %s pending (:Redline review)"):format(count(hunks, "hunk"), count(#transaction.files, "file")))
  end)
end

return M
