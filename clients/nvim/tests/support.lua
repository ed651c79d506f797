---What the tests share: child Neovims with the plugin, the `redline` program, and waiting for conditions.
local M = {}

local root = vim.env.REDLINE_TEST_ROOT

---@class Child
---@field channel integer
---@field n_typed? integer
local Child = {}
Child.__index = Child

---@type Child[]
local children = {}

---Starts a Neovim with the plugin, as a user without configuration would.
---@param opts? { plugin?: boolean, config?: string, columns?: integer, lines?: integer }
---@return Child
function M.nvim(opts)
  opts = opts or {}
  local plugin = vim.fs.dirname(vim.fs.dirname(vim.fs.normalize(debug.getinfo(1, "S").source:sub(2))))
  local args = { vim.env.REDLINE_TEST_NVIM, "--embed", "--headless", "--clean", "-n" }
  vim.list_extend(args, {
    "--cmd",
    ("set columns=%d lines=%d"):format(opts.columns or 100, opts.lines or 40),
    "--cmd",
    ([[lua vim.g.redline = { cmd = { %q, "lsp" } }]]):format(vim.env.REDLINE_BIN),
  })
  vim.list_extend(args, { "--cmd", "let g:test_typed = 0" })
  for _, map in ipairs({ "noremap", "noremap!" }) do
    vim.list_extend(args, { "--cmd", map .. " <F35> <Cmd>let g:test_typed += 1<CR>" })
  end
  if opts.config then
    vim.list_extend(args, { "--cmd", "lua " .. opts.config })
  end
  if opts.plugin ~= false then
    vim.list_extend(args, { "--cmd", "set runtimepath^=" .. vim.fn.fnameescape(plugin) })
  end
  local channel = vim.fn.jobstart(args, { rpc = true, cwd = root })
  assert(channel > 0, "cannot start " .. table.concat(args, " "))
  local child = setmetatable({ channel = channel }, Child)
  children[#children + 1] = child
  return child
end

---Runs Lua in the child; `...` are its arguments.
---@param code string
---@return any
function Child:lua(code, ...)
  return vim.rpcrequest(self.channel, "nvim_exec_lua", code, { ... })
end

---Runs an Ex command.
---@param command string
function Child:ex(command)
  return vim.rpcrequest(self.channel, "nvim_command", command)
end

---Types keys as a user does, and waits until the child has read them.
---@param keys string
function Child:keys(keys)
  -- Requests overtake keys: a key of our own tells when those before it were read.
  self.n_typed = (self.n_typed or 0) + 1
  vim.rpcrequest(self.channel, "nvim_input", keys .. "<F35>")
  M.wait("the keys are read: " .. keys, function()
    return self:lua("return vim.g.test_typed") == self.n_typed
  end)
end

---@return string[]
function Child:lines()
  return vim.rpcrequest(self.channel, "nvim_buf_get_lines", 0, 0, -1, false)
end

---Opens a file and waits until the server has it.
---@param path string from the root of the project
function Child:edit(path)
  self:ex("edit " .. path)
  M.wait("attached to " .. path, function()
    return self:lua([[return require("redline.document").get(vim.api.nvim_get_current_buf()) ~= nil]])
  end)
end

---Open hunks of the current buffer: id, revision, state, lines.
---@return { id: string, revision: integer, state: string, first: integer, last: integer, added: string[], removed: string[] }[]
function Child:hunks()
  return self:lua([[
    return vim.tbl_map(function(placed)
      local hunk = placed.shown.hunk
      return { id = hunk.id, revision = hunk.revision, state = hunk.state, first = placed.first, last = placed.last,
        added = hunk.added, removed = hunk.removed, unsaved = hunk.unsaved or false }
    end, require("redline.document").placed(vim.api.nvim_get_current_buf()))
  ]])
end

---Waits until the current buffer shows as many open hunks.
---@param n integer
function Child:wait_hunks(n)
  M.wait(("%d hunks are shown"):format(n), function()
    return #self:hunks() == n
  end)
end

---Marks drawn in the current buffer, by place.
---@return { row: integer, col: integer, opts: table }[]
function Child:marks()
  return self:lua([[
    vim.cmd.redraw()
    local marks = vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace("redline"), 0, -1, { details = true })
    return vim.tbl_map(function(mark)
      mark[4].ns_id = nil
      return { row = mark[2], col = mark[3], opts = mark[4] }
    end, marks)
  ]])
end

---Texts of the virtual lines of the current buffer, without their padding.
---@return string[]
function Child:virtual_lines()
  local texts = {}
  for _, mark in ipairs(self:marks()) do
    for _, line in ipairs(mark.opts.virt_lines or {}) do
      local chunks = vim.tbl_map(function(chunk)
        return chunk[1]
      end, line)
      texts[#texts + 1] = (table.concat(chunks):gsub("%s+$", ""))
    end
  end
  return texts
end

---What the screen shows, line by line.
---@return string[]
function Child:screen()
  return self:lua([[
    vim.cmd.redraw()
    local lines = {}
    for row = 1, vim.o.lines do
      local cells = {}
      for col = 1, vim.o.columns do
        cells[col] = vim.fn.screenstring(row, col)
      end
      lines[row] = (table.concat(cells):gsub("%s+$", ""))
    end
    return lines
  ]])
end

---@param needle string plain text
function Child:wait_screen(needle)
  M.wait(("the screen shows %q"):format(needle), function()
    for _, line in ipairs(self:screen()) do
      if line:find(needle, 1, true) then
        return true
      end
    end
  end)
end

---Runs `redline` in the project.
---@param args string[]
---@param stdin? string
---@return { code: integer, stdout: string, stderr: string }
function M.redline(args, stdin)
  local command = vim.list_extend({ vim.env.REDLINE_BIN }, args)
  return vim.system(command, { cwd = root, stdin = stdin, text = true, timeout = 60000 }):wait()
end

---Runs `redline … --json` and wants success.
---@param args string[]
---@param stdin? string
---@return table
function M.json(args, stdin)
  local result = M.redline(vim.list_extend(vim.list_slice(args), { "--json" }), stdin)
  assert(
    result.code == 0,
    ("redline %s: %d\n%s%s"):format(table.concat(args, " "), result.code, result.stdout, result.stderr)
  )
  return vim.json.decode(result.stdout, { luanil = { object = true } })
end

---Proposes new texts for files, as one transaction.
---@param texts table<string, string> whole new text by path
---@return table transaction
function M.propose(texts)
  local blocks = {}
  for path, text in vim.spairs(texts) do
    local before = M.read(path)
    local diff = (vim.text and vim.text.diff or vim.diff)(before, text, { ctxlen = 3 })
    blocks[#blocks + 1] = ("--- a/%s\n+++ b/%s\n%s"):format(path, path, diff)
  end
  return M.json({ "propose" }, table.concat(blocks))
end

---@param path string
---@param text string
function M.write(path, text)
  local file = assert(io.open(root .. "/" .. path, "wb"))
  file:write(text)
  file:close()
end

---@param path string
---@return string
function M.read(path)
  local file = assert(io.open(root .. "/" .. path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

---@param from integer
---@param to integer
---@return string text numbered lines
function M.numbered(from, to)
  local lines = {}
  for i = from, to do
    lines[#lines + 1] = "line " .. i
  end
  return table.concat(lines, "\n") .. "\n"
end

---Waits for a condition; fails by name.
---@param what string
---@param condition fun(): any
function M.wait(what, condition)
  local last
  local ok = vim.wait(20000, function()
    last = condition()
    return last and true or false
  end, 10)
  assert(ok, "timed out: " .. what)
end

---@param expected any
---@param actual any
---@param what? string
function M.equal(expected, actual, what)
  if not vim.deep_equal(expected, actual) then
    error(("%s\nexpected %s\nbut got  %s"):format(what or "not equal", vim.inspect(expected), vim.inspect(actual)), 2)
  end
end

---What the children said, for a failure's report.
---@return string
function M.evidence()
  local parts = {}
  for i, child in ipairs(children) do
    local ok, said = pcall(
      child.lua,
      child,
      [[return vim.fn.execute("messages") .. "\n" .. table.concat(vim.api.nvim_buf_get_lines(0, 0, 60, false), "\n")]]
    )
    parts[#parts + 1] = ("--- child %d\n%s\n"):format(i, tostring(ok and said or "gone"))
  end
  return table.concat(parts)
end

function M.stop()
  for _, child in ipairs(children) do
    vim.fn.jobstop(child.channel)
  end
  vim.fn.jobwait(
    vim.tbl_map(function(child)
      return child.channel
    end, children),
    5000
  )
end

return M
