---The configuration that `vim.lsp.enable("redline")` finds; what the user gives to `vim.lsp.config` goes over it.
return require("redline.lsp").config()
