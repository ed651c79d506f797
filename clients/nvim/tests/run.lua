---Runs one test: `nvim -l run.lua FILE NAME`. Ends with status 1 and says why when it fails.
local here = vim.fs.dirname(vim.fs.normalize(debug.getinfo(1, "S").source:sub(2)))
package.path = here .. "/?.lua;" .. package.path
vim.opt.runtimepath:prepend(vim.fs.dirname(here))

local tests = {}
---@param name string
---@param run fun()
function _G.test(name, run)
  tests[name] = run
end

dofile(arg[1])
local run = tests[arg[2]]
local support = require("support")
local ok, err = xpcall(run or function()
  error("no such test: " .. arg[2])
end, debug.traceback)
if not ok then
  io.stderr:write(tostring(err), "\n", support.evidence())
end
support.stop()
os.exit(ok and 0 or 1)
