local support = require("support")
local equal, wait = support.equal, support.wait

---@param text string
---@param n integer
---@param replacement string
---@return string
local function with_line(text, n, replacement)
  local lines = vim.split(text, "\n")
  lines[n] = replacement
  return table.concat(lines, "\n")
end

local before = support.numbered(1, 30)
---Line 5 changes, two lines come after line 12, line 20 goes.
local after = (function()
  local lines = vim.split(before, "\n")
  lines[5] = "line five"
  table.remove(lines, 20)
  table.insert(lines, 13, "twelve and a half")
  table.insert(lines, 14, "almost thirteen")
  return table.concat(lines, "\n")
end)()

---A project with a proposal of three hunks, open in a child.
---@param opts? table
---@return Child
---@return table transaction
local function open(opts)
  support.write("a.txt", before)
  local child = support.nvim(opts)
  child:edit("a.txt")
  local transaction = support.propose({ ["a.txt"] = after })
  child:wait_hunks(3)
  -- What was decided, as the server answered it.
  child:lua([[
    _G.answers = {}
    local lsp = require("redline.lsp")
    local request = lsp.request
    lsp.request = function(client, name, params, on_done, bufnr)
      return request(client, name, params, function(err, result)
        table.insert(_G.answers, { method = name, params = params, err = err, result = result })
        on_done(err, result)
      end, bufnr)
    end
  ]])
  return child, transaction
end

---@param child Child
---@param method string
---@return { method: string, params: table, err?: table, result?: table }
local function answer(child, method)
  local found
  wait("an answer to " .. method, function()
    for _, each in ipairs(child:lua("return _G.answers")) do
      found = each.method == method and each or found
    end
    return found
  end)
  return found
end

---@return table<string, string> state of each hunk by id
local function states()
  local result = {}
  for _, transaction in ipairs(support.json({ "status" }).transactions) do
    for _, file in ipairs(transaction.files) do
      for _, hunk in ipairs(file.hunks) do
        result[hunk.id] = hunk.state
      end
    end
  end
  return result
end

---@param child Child
---@return string
local function text(child)
  return table.concat(child:lines(), "\n") .. "\n"
end

test("a proposal is drawn where it would apply", function()
  local child = open()
  local hunks = child:hunks()
  equal(
    { { 4, 5 }, { 12, 12 }, { 19, 20 } },
    vim.tbl_map(function(hunk)
      return { hunk.first, hunk.last }
    end, hunks)
  )
  equal({ "line five", "twelve and a half ◀ 2/3 +2", "almost thirteen" }, child:virtual_lines())
  local removed = vim.tbl_filter(function(mark)
    return mark.opts.hl_group == "RedlineRemove"
  end, child:marks())
  equal({ 4, 19 }, { removed[1].row, removed[2].row })
  equal(before, text(child), "what is pending is not in the text")
  equal("redline: 3 pending · manual", child:lua("return vim.b.redline_status"))
  equal(3, child:lua("return vim.b.redline_status_dict.here"))
end)

test("a proposal made before the file is opened is shown when it opens", function()
  support.write("a.txt", before)
  support.propose({ ["a.txt"] = after })
  local child = support.nvim()
  child:edit("a.txt")
  child:wait_hunks(3)
end)

test("one hunk accepted, one rejected: buffer, disk, receipt and undo are right", function()
  local child = open()
  local ids = vim.tbl_map(function(hunk)
    return hunk.id
  end, child:hunks())
  child:ex("5")
  child:ex("Redline accept")
  child:wait_hunks(2)
  equal(with_line(before, 5, "line five"), text(child))
  equal(before, support.read("a.txt"), "not saved by us")
  local accepted = answer(child, "redline/transaction/accept")
  equal(ids[1], accepted.params.hunks[1].id)
  equal(1, #accepted.result.receipt.hunks)
  equal("accept", accepted.result.receipt.action)
  equal({ "a.txt" }, accepted.result.receipt.unsaved)

  child:ex("20")
  child:ex("Redline reject")
  child:wait_hunks(1)
  equal(with_line(before, 5, "line five"), text(child))
  equal("reject", answer(child, "redline/transaction/reject").result.receipt.action)

  -- The editor's own undo takes the acceptance back, and nothing else: the hunk waits again.
  child:keys("u")
  child:wait_hunks(2)
  equal(before, text(child))
  equal("pending", states()[ids[1]])
  child:keys("<C-r>")
  child:wait_hunks(1)
  child:ex("write")
  equal(with_line(before, 5, "line five"), support.read("a.txt"))
end)

test("an accepted hunk says so until its document is saved", function()
  local child = open()
  child:ex("5")
  child:ex("Redline accept")
  child:wait_hunks(2)
  child:wait_screen("accepted 1/3 · not saved yet")
  local function marked()
    local signs = vim.tbl_map(function(mark)
      return mark.opts.sign_text
    end, child:marks())
    return vim.tbl_contains(signs, "┃✓")
  end
  equal(true, marked())
  equal(2, child:lua("return vim.b.redline_status_dict.here"), "it waits for nobody's decision")
  child:ex("write")
  support.wait("the mark goes with the save", function()
    return not marked() and not table.concat(child:screen(), "\n"):find("not saved yet", 1, true)
  end)
  equal(2, #child:hunks())
end)

test("each acceptance is one step of undo", function()
  local child = open()
  child:ex("5")
  child:ex("Redline accept")
  child:wait_hunks(2)
  child:ex("12")
  child:ex("Redline accept")
  child:wait_hunks(1)
  child:keys("u")
  child:wait_hunks(2)
  equal(with_line(before, 5, "line five"), text(child))
  child:keys("u")
  child:wait_hunks(3)
  equal(before, text(child))
end)

test("a file, a transaction and everything are accepted at once", function()
  for _, scope in ipairs({ "file", "transaction", "all" }) do
    local child = open()
    child:ex("5")
    child:ex("Redline accept " .. scope)
    child:wait_hunks(0)
    equal(after, text(child), scope)
    child:keys("u")
    child:wait_hunks(3)
    equal(before, text(child), scope)
    child:ex("Redline reject all")
    child:wait_hunks(0)
    equal(before, text(child), scope)
    pcall(child.ex, child, "quitall!")
  end
end)

test("lines selected in visual mode decide which part is accepted", function()
  support.write("a.txt", before)
  local lines = vim.split(before, "\n")
  lines[8], lines[9], lines[10] = "eight", "nine", "ten"
  local child = support.nvim({ config = "vim.g.redline_keymaps = true vim.g.mapleader = ' '" })
  child:edit("a.txt")
  support.propose({ ["a.txt"] = table.concat(lines, "\n") })
  child:wait_hunks(1)
  child:keys("9GVj<Space>ra")
  wait("lines 9 and 10 are accepted", function()
    return vim.deep_equal({ "line 8", "nine", "ten", "line 11" }, vim.list_slice(child:lines(), 8, 11))
  end)
  child:wait_hunks(1)
  equal({ "line 8" }, child:hunks()[1].removed)
  equal("n", child:lua("return vim.api.nvim_get_mode().mode"))
end)

test("a range of the command decides hunks that lie inside wholly", function()
  local child = open()
  child:ex("1,15Redline accept")
  child:wait_hunks(1)
  equal("line five", child:lines()[5])
  equal("twelve and a half", child:lines()[13])
end)

test("typing above, below and beside a hunk moves it and loses nothing", function()
  local child = open()
  child:keys("ggOabove<Esc>")
  child:keys("Gobelow<Esc>")
  -- Right above and right below line 5, which is line 6 now.
  child:keys("6GOjust above<Esc>")
  child:keys("7Gojust below<Esc>")
  equal(3, #child:hunks())
  equal({ 6, 7 }, { child:hunks()[1].first, child:hunks()[1].last })
  child:ex("7")
  child:ex("Redline accept")
  child:wait_hunks(2)
  equal(
    { "above", "line 1", "line 2", "line 3", "line 4", "just above", "line five", "just below", "line 6" },
    vim.list_slice(child:lines(), 1, 9)
  )
end)

test("typing inside a hunk makes a conflict, undoing it lifts the conflict", function()
  local child = open()
  child:keys("5GAmine<Esc>")
  wait("the conflict is shown", function()
    return child:hunks()[1].state == "conflict"
  end)
  child:wait_screen("conflict 1/3")
  child:ex("5")
  child:ex("Redline accept")
  local refused = answer(child, "redline/transaction/accept")
  assert(refused.err, "an accept of a conflict is refused")
  equal("line 5mine", child:lines()[5])
  child:keys("u")
  wait("the conflict is lifted", function()
    return child:hunks()[1].state == "pending"
  end)
end)

test("a conflict is proposed again, or the user's lines are kept", function()
  local child = open()
  child:keys("5GAmine<Esc>")
  wait("the conflict is shown", function()
    return child:hunks()[1].state == "conflict"
  end)
  child:ex("5")
  child:ex("Redline repropose")
  wait("it waits again", function()
    return child:hunks()[1].state == "pending"
  end)
  equal({ "line 5mine" }, child:hunks()[1].removed)
  child:keys("A again<Esc>")
  wait("the conflict is shown again", function()
    return child:hunks()[1].state == "conflict"
  end)
  child:ex("Redline keep")
  child:wait_hunks(2)
  equal("line 5mine again", child:lines()[5])
end)

test("doing by hand what was proposed accepts it", function()
  local child = open()
  child:keys("5Gccline five<Esc>")
  child:wait_hunks(2)
end)

test("typing during an accept loses neither", function()
  local child = open({ config = "vim.g.redline_keymaps = true vim.g.mapleader = ' '" })
  child:keys("5G<Space>raggOtyped while it ran<Esc>Gotyped below<Esc>")
  child:wait_hunks(2)
  local expected = "typed while it ran\n" .. with_line(before, 5, "line five") .. "typed below\n"
  equal(expected, text(child))
end)

test("a stale edit is not applied by the plugin, and the decision arrives all the same", function()
  local child = open()
  child:lua([[
    _G.replies = {}
    local client = require("redline.lsp").client(0)
    local apply = client.handlers["workspace/applyEdit"]
    client.handlers["workspace/applyEdit"] = function(...)
      if #_G.replies == 0 then
        vim.api.nvim_buf_set_lines(0, 0, 0, false, { "typed meanwhile" })
      end
      local reply = apply(...)
      table.insert(_G.replies, reply.applied)
      return reply
    end
  ]])
  child:ex("5")
  child:ex("Redline accept")
  child:wait_hunks(2)
  equal("typed meanwhile\n" .. with_line(before, 5, "line five"), text(child))
  equal(false, child:lua("return _G.replies[1]"))
end)

test("a stale edit that the editor says it applied is noticed", function()
  local child = open()
  child:lua([[
    _G.replies = {}
    local client = require("redline.lsp").client(0)
    -- The editor's own handler, without the plugin's.
    client.handlers["workspace/applyEdit"] = function(...)
      if #_G.replies == 0 then
        vim.api.nvim_buf_set_lines(0, 0, 0, false, { "typed meanwhile" })
      end
      local reply = vim.lsp.handlers["workspace/applyEdit"](...)
      table.insert(_G.replies, reply.applied)
      return reply
    end
  ]])
  child:keys("Gox<Esc>u")
  child:ex("5")
  child:ex("Redline accept")
  child:wait_hunks(2)
  equal("typed meanwhile\n" .. with_line(before, 5, "line five"), text(child))
  equal(true, child:lua("return _G.replies[1]"), "Neovim pretends")
end)

test("an edit that never arrives leaves the hunk pending and says so", function()
  local child = open()
  child:lua([[
    local client = require("redline.lsp").client(0)
    client.handlers["workspace/applyEdit"] = function()
      return { applied = true }
    end
  ]])
  child:ex("5")
  child:ex("Redline accept")
  local refused = answer(child, "redline/transaction/accept")
  assert(refused.err and refused.err.code ~= "INTERNAL", vim.inspect(refused))
  child:wait_hunks(3)
  equal(before, text(child))
  equal(before, support.read("a.txt"))
end)

test("reloading drops an acceptance that was not saved: the hunk waits again", function()
  local child = open()
  child:ex("5")
  child:ex("Redline accept")
  child:wait_hunks(2)
  child:ex("edit!")
  child:wait_hunks(3)
  equal(before, text(child))
end)

test("quitting without saving reopens what the disk lacks", function()
  local child, transaction = open()
  local id = child:hunks()[1].id
  child:ex("5")
  child:ex("Redline accept")
  child:wait_hunks(2)
  pcall(child.ex, child, "quit!")
  wait("the hunk waits again", function()
    return states()[id] == "pending"
  end)
  equal(before, support.read("a.txt"))
  assert(transaction.transaction)
  local again = support.nvim()
  again:edit("a.txt")
  again:wait_hunks(3)
end)

test("a change on disk moves the hunks of a clean buffer", function()
  local child = open()
  support.write("a.txt", "new first line\n" .. before)
  child:ex("checktime")
  wait("the buffer is read again", function()
    return child:lines()[1] == "new first line"
  end)
  wait("the hunks have moved", function()
    local hunks = child:hunks()
    return #hunks == 3 and hunks[1].first == 5
  end)
end)

test("a base that changed on disk is a conflict, and nothing is written", function()
  support.write("a.txt", before)
  support.propose({ ["a.txt"] = after })
  local changed = with_line(before, 5, "somebody else's")
  support.write("a.txt", changed)
  local child = support.nvim()
  child:edit("a.txt")
  wait("the conflict is shown", function()
    local hunks = child:hunks()
    return #hunks == 3 and hunks[1].state == "conflict"
  end)
  child:wait_screen("conflict 1/3")
  child:ex("5")
  child:ex("Redline accept")
  child:ex("Redline accept all")
  equal(changed, support.read("a.txt"))
  equal("somebody else's", child:lines()[5])
end)

test("a decision on a view that is stale is not applied, and the view is drawn anew", function()
  local child = open()
  -- The child believes in a revision that was never shown.
  child:lua([[
    local document = require("redline.document").get(vim.api.nvim_get_current_buf())
    document.hunks[1].hunk.revision = 99
  ]])
  child:ex("5")
  child:ex("Redline accept")
  equal("STALE_HUNK", answer(child, "redline/transaction/accept").err.code)
  equal(before, text(child))
  wait("the view is right again", function()
    return child:hunks()[1].revision ~= 99
  end)
  child:ex("Redline accept")
  child:wait_hunks(2)
end)

test("two Neovims on one project see one state", function()
  local one = open()
  local two = support.nvim()
  two:edit("a.txt")
  two:wait_hunks(3)
  one:ex("5")
  one:ex("Redline reject")
  two:wait_hunks(2)
  two:ex("12")
  two:ex("Redline accept")
  one:wait_hunks(1)
  two:wait_hunks(1)
  wait("both texts are the same", function()
    return text(one) == text(two)
  end)
  equal("twelve and a half", one:lines()[13])
  equal(31 + 1, #one:lines(), "applied once")
end)

test("unsaved typing in a second Neovim survives an accept in the first", function()
  local one = open()
  local two = support.nvim()
  two:edit("a.txt")
  two:wait_hunks(3)
  two:keys("Gomine alone<Esc>")
  one:ex("5")
  one:ex("Redline accept")
  one:wait_hunks(2)
  equal("mine alone", two:lines()[31])
end)

test("a hunk is split, and its parts are decided apart", function()
  support.write("a.txt", before)
  local lines = vim.split(before, "\n")
  lines[8], lines[9] = "eight", "nine"
  local child = support.nvim()
  child:edit("a.txt")
  support.propose({ ["a.txt"] = table.concat(lines, "\n") })
  child:wait_hunks(1)
  child:ex("8")
  child:ex("Redline split")
  child:wait_hunks(2)
  child:ex("Redline accept")
  child:wait_hunks(1)
  equal({ "eight", "line 9" }, vim.list_slice(child:lines(), 8, 9))
end)

test("amending sends the user's own version, and the hunk says so", function()
  local child = open()
  child:ex("5")
  child:ex("Redline amend")
  equal({ "line five" }, child:lines())
  child:keys("Aand more<Esc>")
  child:ex("write")
  equal(false, child:lua("return vim.bo.modified"))
  child:ex("quit")
  wait("the amended text is shown", function()
    return child:hunks()[1].added[1] == "line fiveand more"
  end)
  child:wait_screen("amended")
  child:ex("5")
  child:ex("Redline accept")
  child:wait_hunks(2)
  equal("line fiveand more", child:lines()[5])
end)

test("undo takes back what was accepted, redo puts it back", function()
  local child = open()
  child:ex("Redline accept all")
  child:wait_hunks(0)
  child:ex("write")
  equal(after, support.read("a.txt"))
  child:ex("Redline undo")
  wait("the text is as before", function()
    return text(child) == before
  end)
  child:ex("Redline redo")
  wait("the text is as accepted", function()
    return text(child) == after
  end)
end)

test("code actions of the editor decide without the plugin", function()
  support.write("a.txt", before)
  local child = support.nvim({ plugin = false })
  child:ex("edit a.txt")
  child:lua(
    [[
    vim.lsp.start({ name = "redline", cmd = { ..., "lsp" }, root_dir = vim.fn.getcwd() })
    vim.ui.select = function(items, _, on_choice) on_choice(items[1], 1) end
  ]],
    vim.env.REDLINE_BIN
  )
  wait("the client is attached", function()
    return child:lua("return vim.lsp.get_clients({ bufnr = 0 })[1] ~= nil")
  end)
  support.propose({ ["a.txt"] = after })
  local function diagnostics()
    return child:lua(
      [[return vim.tbl_map(function(each) return { each.lnum, each.message } end, vim.diagnostic.get(0))]]
    )
  end
  wait("three diagnostics", function()
    return #diagnostics() == 3
  end)
  local function act(line, title)
    child:ex(tostring(line))
    child:lua(
      [[
      local title = ...
      vim.lsp.buf.code_action({ apply = true, filter = function(action)
        return vim.startswith(action.title, title)
      end })
    ]],
      title
    )
  end
  act(5, "Accept hunk")
  wait("line 5 is accepted", function()
    return child:lines()[5] == "line five"
  end)
  wait("two diagnostics", function()
    return #diagnostics() == 2
  end)
  act(20, "Reject hunk")
  wait("one diagnostic", function()
    return #diagnostics() == 1
  end)
  equal(with_line(before, 5, "line five"), text(child))
  child:keys("u")
  wait("undo reopens the hunk", function()
    return #diagnostics() == 2
  end)
end)

test("a stale edit is never applied to other lines, in an editor without the plugin", function()
  support.write("a.txt", before)
  local child = support.nvim({ plugin = false })
  child:ex("edit a.txt")
  child:lua(
    [[
    vim.lsp.start({ name = "redline", cmd = { ..., "lsp" }, root_dir = vim.fn.getcwd(), handlers = {
      ["workspace/applyEdit"] = function(...)
        if not _G.typed then
          _G.typed = true
          vim.api.nvim_buf_set_lines(0, 0, 0, false, { "typed meanwhile" })
        end
        return vim.lsp.handlers["workspace/applyEdit"](...)
      end,
    } })
  ]],
    vim.env.REDLINE_BIN
  )
  wait("the client is attached", function()
    return child:lua("return vim.lsp.get_clients({ bufnr = 0 })[1] ~= nil")
  end)
  -- Neovim checks no version that is 0: the first change makes it another, and a request sends it on its way.
  child:keys("Gox<Esc>u")
  child:lua([[vim.lsp.buf_request_sync(0, "redline/status", vim.empty_dict(), 10000)]])
  support.propose({ ["a.txt"] = after })
  wait("three diagnostics", function()
    return #child:lua("return vim.diagnostic.get(0)") == 3
  end)
  support.json({ "accept", "--lines", "a.txt:5-5" })
  wait("line 5 is accepted, one line lower", function()
    return child:lines()[6] == "line five"
  end)
  equal("typed meanwhile\n" .. with_line(before, 5, "line five"), text(child))
end)

test("code actions work beside the plugin, which shows no diagnostics", function()
  local child = open()
  equal(0, child:lua("return #vim.diagnostic.get(0)"))
  child:ex("5")
  child:lua([[vim.lsp.buf.code_action({ apply = true, filter = function(action)
    return vim.startswith(action.title, "Accept hunk")
  end })]])
  child:wait_hunks(2)
  equal("line five", child:lines()[5])
end)

test("what an agent wrote in a buffer is proposed from there", function()
  support.write("a.txt", before)
  local child = support.nvim()
  child:edit("a.txt")
  child:ex("new")
  child:lua(
    [[vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(..., "\n"))]],
    "a.txt\n<<<<<<< SEARCH\nline 5\nline 6\n=======\nline five\nline 6\n>>>>>>> REPLACE"
  )
  child:ex("Redline propose")
  child:ex("bdelete!")
  child:wait_hunks(1)
  child:ex("5")
  child:ex("Redline accept")
  child:wait_hunks(0)
  equal("line five", child:lines()[5])
end)

test("everything pending is listed", function()
  local child = open()
  child:ex("Redline review")
  wait("the list is open", function()
    return #child:lua("return vim.fn.getqflist()") == 3
  end)
  local items = child:lua("return vim.fn.getqflist()")
  equal(
    { 5, 12, 20 },
    vim.tbl_map(function(item)
      return item.lnum
    end, items)
  )
end)

test("a file of another encoding of its ends keeps them", function()
  support.write("a.txt", (before:gsub("\n", "\r\n")))
  local child = support.nvim()
  child:edit("a.txt")
  support.json({ "propose" }, "--- a/a.txt\n+++ b/a.txt\n@@ -5,1 +5,1 @@\n-line 5\n+line five\n")
  child:wait_hunks(1)
  child:ex("5")
  child:ex("Redline accept")
  child:wait_hunks(0)
  child:ex("write")
  equal((with_line(before, 5, "line five"):gsub("\n", "\r\n")), support.read("a.txt"))
end)

test("the health check finds nothing wrong, and names what is", function()
  local child = open()
  child:ex("checkhealth redline")
  local report = table.concat(child:lines(), "\n")
  assert(not report:find("ERROR"), report)
  assert(report:find("mode manual"), report)
  assert(report:find("runtime folder: ", 1, true), report)
  assert(report:find("model: none is configured", 1, true), report)
  local broken = support.nvim({ config = [[vim.g.redline = { cmd = { "no-such-redline", "lsp" }, keymap = 1 }]] })
  broken:ex("checkhealth redline")
  report = table.concat(broken:lines(), "\n")
  assert(report:find("`no-such-redline` is not an executable", 1, true), report)
  assert(report:find("did you mean `keymaps`?", 1, true), report)
end)

test("each hunk says why it is proposed, also one that only removes lines", function()
  support.write("a.txt", before)
  local child = support.nvim()
  child:edit("a.txt")
  support.json(
    { "propose" },
    vim.json.encode({
      edits = {
        { path = "a.txt", old_string = "line 5\n", new_string = "line five\n", rationale = "in words" },
        { path = "a.txt", old_string = "line 20\n", new_string = "", rationale = "nobody needs it" },
      },
    })
  )
  child:wait_hunks(2)
  child:wait_screen("1/2 +1 −1 · in words")
  child:wait_screen("2/2 −1 · nobody needs it")
end)

test("a file without a file type is attached, once", function()
  support.write("LICENSE", "text\n")
  support.write("a.lua", "return 1\n")
  local child = support.nvim()
  child:edit("LICENSE")
  child:edit("a.lua")
  equal(1, child:lua("return #vim.lsp.get_clients()"))
  child:ex("edit /etc/hostname")
  equal(true, child:lua("return vim.b.redline_status == nil"))
end)
