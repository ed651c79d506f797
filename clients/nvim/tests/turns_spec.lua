-- model: neovim.json
local support = require("support")
local equal, wait = support.equal, support.wait

---A conversation about a project of one file, beside that file.
---@return Child
local function open()
  support.write("greeting.txt", "hello\nworld\n")
  local child = support.nvim({
    columns = 140,
    config = "_G.notices = {}; vim.notify = function(text) table.insert(_G.notices, text) end",
  })
  child:edit("greeting.txt")
  child:ex("Redline chat")
  return child
end

---@param child Child
---@return string
local function last_line(child)
  return child:lua([[return vim.fn.getline("$")]])
end

---@param child Child
---@param start string
---@return integer number of the first line that begins so
local function wait_line(child, start)
  local number
  wait(("a line begins with %q"):format(start), function()
    for i, line in ipairs(child:lines()) do
      if vim.startswith(line, start) then
        number = i
        return true
      end
    end
  end)
  return number
end

---@param child Child
---@param text string
local function prompt(child, text)
  child:keys("i" .. text .. "<C-s>")
end

---@param path string
---@return boolean
local function exists(path)
  return vim.uv.fs_stat(vim.env.REDLINE_TEST_ROOT .. "/" .. path) ~= nil
end

---The process of this project's sidecar.
---@return integer pid
local function sidecar()
  for name in vim.fs.dir("/proc") do
    local pid = tonumber(name)
    local environment = pid and io.open("/proc/" .. name .. "/environ", "rb")
    local command = pid and io.open("/proc/" .. name .. "/cmdline", "rb")
    if environment and command then
      local ours = environment:read("*a"):find("XDG_RUNTIME_DIR=" .. vim.env.XDG_RUNTIME_DIR .. "\0", 1, true)
      local serves = command:read("*a"):find("\0serve", 1, true)
      if ours and serves then
        return pid
      end
    end
    for _, file in ipairs({ environment or nil, command or nil }) do
      file:close()
    end
  end
  error("no sidecar runs")
end

test("a command waits, is approved, and one undo takes the whole turn back", function()
  local child = open()
  prompt(child, "copy the greeting")
  local card = wait_line(child, "    runs     cp greeting.txt 'the copy.txt'")
  equal(false, exists("the copy.txt"))
  equal("n", child:lua("return vim.api.nvim_get_mode().mode"))
  child:keys(card .. "Gga")
  wait_line(child, "Copied, and changed.")
  wait_line(child, "■ done · 2 tool calls")
  equal("hello\nworld\n", support.read("the copy.txt"))
  equal("hello\nworld\n", support.read("greeting.txt"))
  child:ex("wincmd p")
  child:wait_hunks(1)
  child:ex("Redline accept")
  wait("the edit is in the buffer", function()
    return child:lines()[1] == "good day"
  end)
  child:ex("write")
  child:ex("Redline undo")
  wait("all of the turn is taken back", function()
    return child:lines()[1] == "hello" and not exists("the copy.txt")
  end)
end)

test("a denied command does not run, and the model reads why", function()
  local child = open()
  prompt(child, "remove everything")
  child:keys(wait_line(child, "    runs     rm -r .") .. "G")
  child:ex("Redline deny greetings are kept")
  wait_line(child, "Then I leave it.")
  wait_line(child, "▸ rm -r . · denied")
  equal(true, exists("greeting.txt"))
end)

test("a plan is accepted in the conversation, and the work that it lists runs", function()
  local child = open()
  child:ex("Redline mode plan")
  wait("the mode is plan", function()
    return child:lua("return (vim.b.redline_status_dict or {}).mode") == "plan"
  end)
  prompt(child, "plan it first")
  local card = wait_line(child, "    changes  *.txt")
  equal(false, exists("the copy.txt"))
  child:keys(card .. "Gga")
  wait_line(child, "Done as planned.")
  equal("hello\nworld\n", support.read("the copy.txt"))
  child:ex("wincmd p")
  wait("what the plan lists is committed", function()
    return child:lines()[1] == "good day"
  end)
  child:ex("write")
  child:ex("Redline undo")
  wait("all of the turn is taken back", function()
    return child:lines()[1] == "hello" and not exists("the copy.txt")
  end)
end)

test("stopping a turn in mid-stream ends it, and keeps what was said", function()
  local child = open()
  prompt(child, "take your time")
  wait_line(child, "A slow")
  child:keys("<C-c>")
  wait_line(child, "■ stopped by you")
  wait_line(child, "A slow")
  equal("idle", child:lua("return vim.b.redline_status_dict.state"))
end)

test("a sidecar that is killed in mid-turn loses nothing", function()
  local child = open()
  prompt(child, "edit and talk on")
  wait_line(child, "A slow")
  child:keys("ityped meanwhile<Esc>")
  vim.uv.kill(sidecar(), "sigkill")
  wait_line(child, "■ interrupted")
  wait_line(child, "A slow")
  equal("typed meanwhile", last_line(child))
  child:ex("wincmd p")
  child:wait_hunks(1)
  -- And from another editor, later.
  pcall(child.ex, child, "qall!")
  local other = support.nvim({ columns = 140 })
  other:edit("greeting.txt")
  other:wait_hunks(1)
  other:lua([[vim.ui.select = function(items, opts, on_choice)
    _G.offered = vim.tbl_map(opts.format_item, items)
    on_choice(items[1], 1)
  end]])
  other:ex("Redline sessions")
  wait_line(other, "■ interrupted")
  wait_line(other, "A slow")
  wait_line(other, "## gpt-4o")
  assert(other:lua("return _G.offered[1]"):find("edit and talk on", 1, true))
  other:ex("wincmd p")
  other:ex("Redline accept")
  wait("accepted", function()
    return other:lines()[1] == "good day"
  end)
end)
