---The user's own version of a proposal: a scratch split whose `:w` sends it.
local M = {}

local api = vim.api

---Opens the proposed lines of the hunk under the cursor in a split.
function M.open()
  local review = require("redline.review")
  local client, bufnr = review.client_here(), api.nvim_get_current_buf()
  local placed = client and review.under_cursor()
  if not client or not placed then
    return
  end
  local shown = placed.shown
  local filetype = vim.bo[bufnr].filetype
  local name = ("redline://amend/%s"):format(shown.hunk.id)
  local present = vim.fn.bufnr(("^%s$"):format(name))
  if present ~= -1 then
    api.nvim_buf_delete(present, { force = true })
  end

  vim.cmd(("belowright %dsplit"):format(math.max(5, math.min(#shown.hunk.added + 2, 20))))
  local scratch = api.nvim_create_buf(false, false)
  api.nvim_win_set_buf(0, scratch)
  api.nvim_buf_set_name(scratch, name)
  vim.bo[scratch].buftype = "acwrite"
  vim.bo[scratch].bufhidden = "wipe"
  vim.bo[scratch].swapfile = false
  vim.bo[scratch].tabstop = vim.bo[bufnr].tabstop
  vim.bo[scratch].shiftwidth = vim.bo[bufnr].shiftwidth
  vim.bo[scratch].expandtab = vim.bo[bufnr].expandtab
  vim.bo[scratch].undolevels = -1
  api.nvim_buf_set_lines(scratch, 0, -1, false, shown.hunk.added)
  vim.bo[scratch].undolevels = vim.o.undolevels
  vim.bo[scratch].modified = false
  vim.bo[scratch].filetype = filetype
  api.nvim_set_option_value(
    "winbar",
    "Redline: amend hunk " .. require("redline.block").label(shown):gsub("%%", "%%%%") .. "  (:w sends, :q! drops)",
    { scope = "local", win = 0 }
  )

  api.nvim_create_autocmd("BufWriteCmd", {
    buffer = scratch,
    callback = function()
      local added = api.nvim_buf_get_lines(scratch, 0, -1, false)
      -- An empty buffer is one empty line: nothing is left of the proposal but what it removes.
      if #added == 1 and added[1] == "" then
        added = {}
      end
      local tick = api.nvim_buf_get_changedtick(scratch)
      local answered, failure = false, nil
      require("redline.lsp").request(client, require("redline.protocol").method.TRANSACTION_AMEND, {
        transactionId = shown.transactionId,
        hunk = review.ref(shown),
        added = added,
      }, function(err, transaction)
        answered, failure = true, err
        if err then
          return review.failed(client, bufnr, err)
        end
        for _, file in ipairs(transaction.files) do
          for _, hunk in ipairs(file.hunks) do
            if hunk.id == shown.hunk.id then
              shown = vim.tbl_extend("force", shown, { hunk = hunk })
            end
          end
        end
        review.say("hunk amended")
      end, bufnr)
      -- `:wq` closes the window when this returns: only an answer tells whether anything would be lost.
      vim.wait(5000, function()
        return answered
      end, 5)
      if
        answered
        and not failure
        and api.nvim_buf_is_valid(scratch)
        and tick == api.nvim_buf_get_changedtick(scratch)
      then
        vim.bo[scratch].modified = false
      end
    end,
  })
end

return M
