---Asking from where the user is: the file, and the lines that it is about.
local M = {}

---@param bufnr integer
---@param range? [integer, integer] 1-based lines
---@return redline.About?
function M.about(bufnr, range)
  local document = require("redline.document").get(bufnr)
  if not document then
    return nil
  end
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(bufnr), ":t")
  return {
    name = range and ("%s:%d-%d"):format(name, range[1], range[2]) or name,
    context = {
      uri = vim.uri_from_bufnr(bufnr),
      range = range and {
        start = { line = range[1] - 1, character = 0 },
        ["end"] = { line = range[2], character = 0 },
      } or nil,
    },
  }
end

---Asks for a change. Without a text the user is asked for one.
---@param text string
---@param range? [integer, integer] 1-based lines that the prompt is about
function M.ask(text, range)
  local session = require("redline.session")
  local conversation = session.here()
  if not conversation then
    return
  end
  local about = M.about(vim.api.nvim_get_current_buf(), range) or conversation.about
  if text ~= "" then
    return session.send(conversation, text, about and about.context)
  end
  local prompt = range and ("Redline, lines %d-%d: "):format(range[1], range[2]) or "Redline: "
  vim.ui.input({ prompt = prompt }, function(input)
    if input and vim.trim(input) ~= "" then
      session.send(conversation, input, about and about.context)
    end
  end)
end

return M
