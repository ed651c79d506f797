local support = require("support")
local equal, wait = support.equal, support.wait

---Opens a conversation whose session the test speaks for: the real server has the project, the updates are ours.
---@param opts? table
---@return Child
local function open(opts)
  support.write("a.txt", support.numbered(1, 30))
  local child = support.nvim(
    vim.tbl_extend(
      "force",
      { columns = 140, config = "_G.notices = {}; vim.notify = function(text) table.insert(_G.notices, text) end" },
      opts or {}
    )
  )
  child:edit("a.txt")
  child:lua([[
    local lsp = require("redline.lsp")
    local client = vim.lsp.get_clients()[1]
    _G.root = lsp.root_of(client)
    function _G.say(method, params)
      local now = vim.lsp.get_clients()[1]
      now.handlers[method](nil, params, { client_id = now.id })
    end
    function _G.happen(updates, turn)
      say("redline/session/update", { sessionId = "se_1", turnId = turn or "turn_1", updates = updates })
    end
    local request = lsp.request
    _G.sent = {}
    _G.answer = {}
    lsp.request = function(client, name, params, on_done, bufnr)
      table.insert(_G.sent, { name = name, params = params })
      if _G.answer[name] then
        return on_done(nil, _G.answer[name](params))
      end
      return request(client, name, params, on_done, bufnr)
    end
    happen({ { sessionUpdate = "current_model_update", currentModelId = "replay/demo" },
      { sessionUpdate = "user_message", messageId = "m1", content = { { type = "text", text = "Make it safe" } } },
      { sessionUpdate = "state_update", state = "running" } })
  ]])
  child:ex("Redline chat")
  return child
end

---@param child Child
---@return string
local function last_line(child)
  return child:lua([[return vim.fn.getline("$")]])
end

---@param child Child
---@param updates table[]
local function happen(child, updates)
  child:lua("happen(...)", updates)
end

---@param text string
---@return table
local function said(text)
  return { sessionUpdate = "agent_message_chunk", messageId = "m2", content = { type = "text", text = text } }
end

---@param child Child
---@param line string
local function wait_line(child, line)
  wait(("a line reads %q"):format(line), function()
    return vim.list_contains(child:lines(), line)
  end)
end

---@param child Child
---@param line string
---@return integer
local function number_of(child, line)
  for i, each in ipairs(child:lines()) do
    if each == line then
      return i
    end
  end
  error("no such line: " .. line)
end

local APPROVAL = {
  id = "approval_1",
  sessionId = "se_1",
  turnId = "turn_1",
  toolCallId = "c1",
  tool = "workspace_command",
  kind = "command",
  class = "workspace",
  summary = "cargo test",
  command = { "cargo", "test", "--", "it's", "a\u{202e}b" },
  program = "/usr/bin/cargo",
  cwd = "src",
  state = "pending",
  createdAt = 1,
  expiresAt = 4102444800,
}

---@param child Child
---@param change? table
local function approval(child, change)
  child:lua(
    [[say("redline/approval/changed", { approvals = { ... }, waiting = 1 })]],
    vim.tbl_extend("force", APPROVAL, change or {})
  )
end

---@param child Child
local function staged(child)
  happen(child, {
    {
      sessionUpdate = "tool_call_update",
      toolCallId = "c1",
      _tool = "workspace_command",
      title = "run cargo test",
      kind = "execute",
      status = "pending",
      _approvalId = "approval_1",
    },
    { sessionUpdate = "state_update", state = "requires_action" },
  })
  approval(child)
  wait_line(child, "▸ cargo test · waits for your approval")
end

test("an answer streams in above the prompt, and the end stays in view", function()
  local child = open()
  happen(child, { said("One\r"), said("\nTwo ") })
  wait_line(child, "Two ")
  happen(child, { said("and **half**\nThree\n") })
  wait_line(child, "Two and **half**")
  equal({
    "# Redline · ws",
    "",
    "## You",
    "",
    "Make it safe",
    "",
    "## demo · turn 1",
    "",
    "One",
    "Two and **half**",
    "Three",
    "",
    "",
    "## You",
    "",
    "",
  }, child:lines())
  for i = 1, 100 do
    happen(child, { said("more " .. i .. "\n") })
  end
  wait_line(child, "more 100")
  equal(
    { true, true },
    child:lua("return { vim.fn.line('w$') == vim.fn.line('$'), vim.fn.line('.') == vim.fn.line('$') }")
  )
end)

test("who reads above is left there", function()
  local child = open()
  for i = 1, 100 do
    happen(child, { said("more " .. i .. "\n") })
  end
  wait_line(child, "more 100")
  child:keys("20G")
  local before = child:lua("return vim.fn.winsaveview()")
  for i = 101, 200 do
    happen(child, { said("more " .. i .. "\n") })
  end
  wait_line(child, "more 200")
  local after = child:lua("return vim.fn.winsaveview()")
  equal({ before.lnum, before.topline }, { after.lnum, after.topline })
end)

test("what is typed survives what streams in, and a window that is not current follows too", function()
  local child = open()
  child:keys("ihalf a ques")
  happen(child, { said("One\nTwo\nThree\n") })
  wait_line(child, "Three")
  child:keys("tion")
  equal("half a question", last_line(child))
  child:keys("<Esc><C-w>p")
  for i = 1, 100 do
    happen(child, { said("more " .. i .. "\n") })
  end
  child:lua("_G.chat = require('redline.chat').buffers(_G.root)[1]")
  wait("the other window shows the end", function()
    return child:lua([[
      local win = vim.fn.win_findbuf(_G.chat)[1]
      local last = vim.api.nvim_buf_line_count(_G.chat)
      vim.cmd.redraw()
      return last > 100 and vim.fn.line("w$", win) == last
    ]])
  end)
  equal("a.txt", child:lua("return vim.fn.expand('%:t')"), "the focus stays")
end)

test("nothing but the prompt can be changed", function()
  local child = open()
  happen(child, { said("An answer\n") })
  wait_line(child, "An answer")
  child:keys("ifirst<CR>second<Esc>")
  local before = child:lines()
  for _, keys in ipairs({ "gg<C-v>Gx", "8Gdd", "ggx", "7G>>" }) do
    child:keys(keys .. "<Esc>")
    wait("the conversation is as before " .. keys, function()
      return vim.deep_equal(child:lines(), before)
    end)
  end
  child:keys("8GOmore<Esc>")
  equal("secondmore", last_line(child))
  child:keys("xxxx")
  -- Over the edge from below: the heading and the history come back, what was typed stays.
  child:keys("Gkgg0VG")
  child:keys("<Esc>Gk0i<BS><Esc>")
  wait("joined, and taken back", function()
    return vim.deep_equal(child:lines(), before)
  end)
  child:keys("Gcc<Esc>kcctyped again<Esc>")
  wait_line(child, "typed again")
  child:ex("silent! %delete")
  wait_line(child, "An answer")
end)

test("tool calls are folded lines that say how far they are", function()
  local child = open()
  local function call(fields)
    happen(child, { vim.tbl_extend("force", { sessionUpdate = "tool_call_update", toolCallId = "c1" }, fields) })
  end
  call({ _tool = "workspace_read", title = "read", status = "pending" })
  wait_line(child, "▸ read · preparing")
  call({ title = "read a.txt", status = "in_progress", rawInput = { path = "a.txt" } })
  wait_line(child, "▸ read a.txt · running")
  equal("redline: 0 pending · ● read a.txt · manual", child:lua("return vim.b.redline_status"))
  call({ status = "completed" })
  wait_line(child, "▸ read a.txt · done")
  local line = number_of(child, "▸ read a.txt · done")
  equal(line, child:lua("return vim.fn.foldclosed(...)", line))
  equal(line + 1, child:lua("return vim.fn.foldclosedend(...)", line))
  child:wait_screen("▸ read a.txt · done … 1 more")
  happen(child, {
    {
      sessionUpdate = "agent_thought_chunk",
      messageId = "t1",
      content = { type = "text", text = "Let me think.\n# Not a heading" },
    },
    {
      sessionUpdate = "tool_call_update",
      toolCallId = "c2",
      title = "edit",
      status = "failed",
      content = { { type = "content", content = { type = "text", text = "NO_MATCH: nothing like it\nmore" } } },
    },
  })
  wait_line(child, "▸ edit · failed: NO_MATCH: nothing like it")
  line = number_of(child, "▸ reasoning · 7 words")
  equal(line, child:lua("return vim.fn.foldclosed(...)", line))
  -- An open fold stays open while more arrives in it.
  child:keys(line .. "G<CR>")
  happen(child, {
    {
      sessionUpdate = "agent_thought_chunk",
      messageId = "t1",
      content = { type = "text", text = "\nand more\nand more" },
    },
  })
  wait_line(child, "▸ reasoning · 11 words")
  equal(
    { -1, 1, 1 },
    child:lua("local l = ...; return { vim.fn.foldclosed(l), vim.fn.foldlevel(l), vim.fn.foldlevel(l + 4) }", line)
  )
end)

test("a window that opens later has the folds, and a split one too", function()
  local child = open()
  happen(child, {
    {
      sessionUpdate = "tool_call_update",
      toolCallId = "c1",
      title = "read a.txt",
      status = "completed",
      rawInput = { path = "a.txt" },
    },
    said("Text"),
  })
  wait_line(child, "▸ read a.txt · done")
  local line = number_of(child, "▸ read a.txt · done")
  child:ex("close")
  happen(child, {
    {
      sessionUpdate = "tool_call_update",
      toolCallId = "c2",
      title = "read b.txt",
      status = "completed",
      rawInput = { path = "b.txt" },
    },
  })
  child:ex("Redline chat")
  wait_line(child, "▸ read b.txt · done")
  equal(line, child:lua("return vim.fn.foldclosed(...)", line))
  child:ex("split")
  equal(line, child:lua("return vim.fn.foldclosed(...)", line))
end)

test("an approval shows exactly what would run, and is decided by a key", function()
  local child = open()
  staged(child)
  local lines = table.concat(child:lines(), "\n")
  assert(lines:find([[runs     cargo test -- $'it\'s' $'a\u{202e}b']], 1, true), lines)
  assert(lines:find("program  /usr/bin/cargo", 1, true), lines)
  assert(lines:find("in       src", 1, true), lines)
  assert(lines:find("effect   runs a program; stays inside the workspace", 1, true), lines)
  equal("redline: 0 pending · ◆ 1 to approve · manual", child:lua("return vim.b.redline_status"))
  child:wait_screen("◆ waits for you")
  child:lua([[
    _G.answer["redline/approval/list"] = function() return { approvals = {} } end
    _G.answer["redline/approval/decide"] = function(params)
      _G.decided = params
      return vim.tbl_extend("force", require("redline.approval").get(_G.root, "approval_1"), { state = "approved", decidedBy = "neovim" })
    end
  ]])
  child:keys("ga")
  wait_line(child, "▸ cargo test · approved by neovim")
  equal({ approvalId = "approval_1", decision = "approve" }, child:lua("return _G.decided"))
  equal("redline: 0 pending · ◆ waits for you · manual", child:lua("return vim.b.redline_status"))
end)

test("an approval that no window shows is told, and shown before it is given", function()
  local child = open()
  child:ex("close")
  approval(child)
  wait("it is told", function()
    return child:lua("return table.concat(_G.notices)"):find("runs     cargo test", 1, true)
  end)
  child:lua([[
    _G.answer["redline/approval/list"] = function() return { approvals = {} } end
    vim.ui.select = function(items, opts, on_choice)
      _G.asked = opts.prompt
      on_choice(items[2], 2)
    end
    _G.answer["redline/approval/decide"] = function(params)
      _G.decided = params
      return vim.tbl_extend("force", require("redline.approval").get(_G.root, "approval_1"), { state = "denied" })
    end
  ]])
  child:ex("Redline approve")
  wait("it was asked", function()
    return child:lua("return _G.decided")
  end)
  assert(child:lua("return _G.asked"):find("cargo test", 1, true))
  equal({ approvalId = "approval_1", decision = "deny" }, child:lua("return _G.decided"))
end)

test("a denial tells the model why", function()
  local child = open()
  staged(child)
  child:lua([[
    _G.answer["redline/approval/list"] = function() return { approvals = {} } end
    _G.answer["redline/approval/decide"] = function(params)
      _G.decided = params
      return vim.tbl_extend("force", require("redline.approval").get(_G.root, "approval_1"), { state = "denied", reason = params.reason })
    end
  ]])
  child:ex("Redline deny not that one")
  wait_line(child, "▸ cargo test · denied: not that one")
  equal({ approvalId = "approval_1", decision = "deny", reason = "not that one" }, child:lua("return _G.decided"))
end)

test("a plan waits in the conversation and opens as a document", function()
  local child = open()
  child:lua([[
    _G.plan = { id = "plan_1", sessionId = "se_1", title = "Count refusals", text = "# Why\n\nBecause.", uri = "redline:plan_1",
      kinds = { "command" }, paths = { "src/**" }, commands = { { "cargo", "test" } }, state = "proposed", createdAt = 1 }
    _G.answer["redline/plan/list"] = function() return { plans = { _G.plan } } end
    _G.answer["redline/plan/decide"] = function(params)
      _G.decided = params
      _G.plan = vim.tbl_extend("force", _G.plan, { state = "approved", decidedBy = "neovim" })
      return _G.plan
    end
    say("redline/plan/changed", { plans = { _G.plan } })
  ]])
  wait_line(child, "▸ plan: Count refusals · waits for your decision")
  wait_line(child, "    runs     cargo test")
  child:keys(number_of(child, "▸ plan: Count refusals · waits for your decision") .. "G<CR>")
  wait("the document is open", function()
    return child:lua("return vim.api.nvim_buf_get_name(0)") == "redline://plan/plan_1"
  end)
  assert(vim.list_contains(child:lines(), "Because."))
  child:keys("ga")
  wait_line(child, "*accepted by neovim* · `plan_1`")
  equal({ planId = "plan_1", decision = "accept" }, child:lua("return _G.decided"))
  child:keys("q")
  wait_line(child, "▸ plan: Count refusals · accepted by neovim")
end)

test("the end of a turn says why, what it cost, and what to do about a failure", function()
  local child = open()
  happen(child, {
    {
      sessionUpdate = "usage_update",
      used = 12300,
      size = 200000,
      cost = { amount = 0.034, currency = "USD" },
      _inputTokens = 11000,
      _cachedTokens = 0,
      _outputTokens = 950,
      _reasoningTokens = 0,
    },
    {
      sessionUpdate = "state_update",
      state = "idle",
      stopReason = "_error",
      _error = { code = "PROVIDER", message = "no answer", hint = "Ask again later.", retryable = true },
    },
  })
  wait_line(child, "■ failed: PROVIDER: no answer · 11k in, 950 out")
  wait_line(child, "  Ask again later.")
  child:wait_screen("12.3k of 200k · $0.03")
  equal({}, child:lua("return _G.notices"), "it is told once")
end)

test("a prompt is sent by a key, with what it is about", function()
  local child = open()
  child:lua([[
    _G.answer["redline/session/prompt"] = function() return { sessionId = "se_1", turnId = "turn_2" } end
  ]])
  happen(child, { { sessionUpdate = "state_update", state = "idle", stopReason = "end_turn" } })
  child:ex("wincmd p")
  child:ex("2,3Redline chat")
  child:wait_screen("ask about a.txt:2-3")
  child:keys("ido it<CR>well<C-s>")
  wait("it was sent", function()
    local sent = child:lua("return _G.sent[#_G.sent]")
    return sent.name == "redline/session/prompt"
      and sent.params.text == "do it\nwell"
      and sent.params.context.range.start.line == 1
  end)
  equal("", last_line(child))
  equal("n", child:lua("return vim.api.nvim_get_mode().mode"))
end)

test("a prompt that is refused comes back", function()
  local child = open()
  child:keys("ihello<Esc><CR>")
  -- The session is one that the server does not know.
  wait("the failure is told", function()
    return #child:lua("return _G.notices") > 0
  end)
  wait_line(child, "hello")
end)

test("a code block that an answer leaves open does not swallow what follows", function()
  local child = open()
  happen(child, { said("```lua\nlocal x = 1") })
  wait_line(child, "local x = 1")
  happen(child, { { sessionUpdate = "_notice", level = "warning", text = "cut off" } })
  wait_line(child, "Warning: cut off")
  equal({ "local x = 1", "```", "", "Warning: cut off" }, vim.list_slice(child:lines(), 10, 13))
end)

test("a link leads to the hunk, in another window", function()
  local child = open()
  local text = support.read("a.txt"):gsub("line 20\n", "line twenty\n")
  local transaction = support.propose({ ["a.txt"] = text })
  happen(child, {
    {
      sessionUpdate = "tool_call_update",
      toolCallId = "c1",
      title = "edit a.txt",
      kind = "edit",
      status = "completed",
      content = { { type = "_transaction", transactionId = transaction.transaction, hunkIds = {} } },
    },
  })
  wait_line(child, "▸ edit a.txt · 1 pending")
  wait_line(child, "    a.txt:20 +1 −1 · pending")
  child:keys(number_of(child, "▸ edit a.txt · 1 pending") .. "Gzoj<CR>")
  wait("the cursor is on the hunk", function()
    return child:lua("return { vim.fn.expand('%:t'), vim.fn.line('.') }")[2] == 20
  end)
  equal("a.txt", child:lua("return vim.fn.expand('%:t')"))
  child:wait_hunks(1)
  child:ex("Redline accept")
  child:ex("wincmd p")
  wait_line(child, "▸ edit a.txt · 1 accepted")
end)

test("sessions, models and modes are picked, and said once", function()
  local child = open()
  child:lua([[
    vim.ui.select = function(items, opts, on_choice)
      _G.picked = vim.tbl_map(opts.format_item, items)
      on_choice(items[2], 2)
    end
    _G.answer["redline/session/set_mode"] = function(params) return { modeId = params.modeId } end
    _G.answer["redline/session/set_model"] = function(params) return { sessionId = "se_1", modelId = params.modelId } end
    _G.answer["redline/model/list"] = function()
      return { models = {
        { id = "a/one", name = "One", configured = true, credentials = "ready" },
        { id = "b/two", name = "Two", configured = false, credentials = "missing B_KEY", contextWindow = 200000, tools = false },
      } }
    end
  ]])
  child:keys("gm")
  child:wait_screen("plan · replay/demo")
  child:ex("Redline model")
  equal(
    { "○ a/one", "○ b/two · 200k tokens · key missing B_KEY · calls no tools" },
    child:lua("return _G.picked")
  )
  child:wait_screen("plan · b/two")
  child:ex("Redline mode auto")
  child:wait_screen("auto · b/two")
  child:lua([[
    _G.answer["redline/session/list"] = function()
      local now = os.time()
      local function info(id, title, state)
        return { sessionId = id, cwd = _G.root, title = title, model = "a/one", mode = "manual", state = state, createdAt = now, updatedAt = now - 120, turns = 3 }
      end
      return { sessions = { info("se_1", "First", "running"), info("se_2", "Second\27[31m", "idle") } }
    end
    _G.answer["redline/session/load"] = function(params)
      say("redline/session/update", { sessionId = "se_2", updates = {
        { sessionUpdate = "user_message", messageId = "m1", content = { { type = "text", text = "Long ago" } } },
        { sessionUpdate = "replay_complete" } } })
      return { session = { sessionId = "se_2", title = "Second", model = "a/one", mode = "manual", state = "idle" }, repaired = "a torn line was left out" }
    end
    _G.answer["redline/plan/list"] = function() return { plans = {} } end
  ]])
  child:ex("Redline sessions")
  wait_line(child, "Long ago")
  wait_line(child, "Warning: a torn line was left out")
  equal({
    "● running First · 3 turns · 2 min ago · a/one · manual",
    "○ Second\\e[31m · 3 turns · 2 min ago · a/one · manual",
  }, child:lua("return _G.picked"))
  child:wait_screen("○ ready · manual · a/one")
end)

test("after a restart the conversation is taken up again, and what was typed is kept", function()
  local child = open()
  happen(child, { said("Half an ans") })
  wait_line(child, "Half an ans")
  child:keys("inext question<Esc>")
  child:lua([[
    _G.answer["redline/session/load"] = function(params)
      say("redline/session/update", { sessionId = "se_1", turnId = "turn_1", updates = {
        { sessionUpdate = "user_message", messageId = "m1", content = { { type = "text", text = "Make it safe" } } },
        { sessionUpdate = "agent_message_chunk", messageId = "m2", content = { type = "text", text = "Half an answer" } },
        { sessionUpdate = "state_update", state = "idle", stopReason = "_interrupted" },
        { sessionUpdate = "replay_complete" } } })
      return { session = { sessionId = "se_1", model = "a/one", mode = "manual", state = "idle" } }
    end
    _G.answer["redline/plan/list"] = function() return { plans = {} } end
    _G.first = vim.lsp.get_clients()[1].id
    vim.lsp.stop_client(_G.first)
  ]])
  child:wait_screen("✗ not connected")
  child:ex("wincmd p")
  child:ex("edit")
  child:ex("wincmd p")
  wait_line(child, "■ interrupted: the sidecar ended; the session can go on")
  wait_line(child, "Half an answer")
  equal("next question", last_line(child))
end)

test("many entries come without a pause in which nobody can type", function()
  local child = open()
  child:lua([[
    local updates = {}
    for i = 1, 10000 do
      updates[i] = { sessionUpdate = "tool_call_update", toolCallId = "x" .. i, title = "read " .. i, status = "completed", rawInput = { n = i } }
    end
    happen(updates)
  ]])
  child:keys("istill here")
  equal("still here", last_line(child))
  wait("all of them are there", function()
    return child:lua("return vim.fn.getline(vim.fn.line('$') - 5)") == "▸ read 10000 · done"
  end)
  equal(
    { 3, 3 },
    child:lua([[
      local last = vim.fn.line("$")
      return { last - vim.fn.foldclosed(last - 4) - 2, last - vim.fn.foldclosedend(last - 4) - 1 }
    ]])
  )
end)
