if vim.g.loaded_redline or vim.fn.has("nvim-0.10") == 0 then
  return
end
vim.g.loaded_redline = true

local api = vim.api

api.nvim_create_user_command("Redline", function(cmd)
  require("redline.command").run(cmd)
end, {
  nargs = "*",
  range = true,
  bang = true,
  desc = "Redline: ask, review, accept, reject, undo, status",
  complete = function(lead, line)
    return require("redline.command").complete(lead, line)
  end,
})

---By the API itself: `vim.keymap.set` would double what start-up pays for this file.
---@param name string
---@param modes string one letter each
---@param verb string function of the module `redline.keys`
---@param expr? boolean
local function plug(name, modes, verb, expr)
  for mode in modes:gmatch(".") do
    api.nvim_set_keymap(mode, ("<Plug>(redline-%s)"):format(name), "", {
      callback = function()
        return require("redline.keys")[verb]()
      end,
      noremap = true,
      silent = true,
      expr = expr,
      replace_keycodes = expr,
      desc = "Redline: " .. name:gsub("-", " "),
    })
  end
end

for _, verb in ipairs({ "accept", "reject" }) do
  plug(verb, "n", verb .. "_repeatable", true)
  plug(verb, "x", verb)
  plug(verb .. "-file", "n", verb .. "_file")
  plug(verb .. "-transaction", "n", verb .. "_transaction")
  plug(verb .. "-operator", "n", verb .. "_operator", true)
end
for _, verb in ipairs({ "next", "prev", "first", "last" }) do
  plug(verb, "nx", verb)
end
for _, verb in ipairs({
  "split",
  "amend",
  "preview",
  "show",
  "review",
  "overview",
  "diff",
  "undo",
  "redo",
  "cancel",
  "stop",
  "approve",
  "mode",
  "model",
  "sessions",
}) do
  plug(verb, "n", verb)
end
plug("ask", "nx", "ask")
plug("chat", "nx", "chat")
plug("textobject", "ox", "textobject")

-- Attaching waits until the editor has nothing else to do: start-up pays for this file alone.
local group = api.nvim_create_augroup("redline", {})
local function attach(bufnr)
  vim.schedule(function()
    if api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].buftype == "" then
      require("redline.lsp").attach(bufnr)
    end
  end)
end
api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost" }, {
  group = group,
  desc = "Redline: attach to files",
  callback = function(args)
    attach(args.buf)
  end,
})
if vim.v.vim_did_enter == 1 then
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(bufnr) then
      attach(bufnr)
    end
  end
end
