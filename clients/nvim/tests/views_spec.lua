local support = require("support")
local equal, wait = support.equal, support.wait

local before = support.numbered(1, 30)
local after = (before:gsub("line 5\n", "line five\n"):gsub("line 12\n", "line 12\nmore\n"):gsub("line 20\n", ""))

---Two files with a proposal for both, the first one open.
---@param opts? table
---@return Child
local function open(opts)
  support.write("a.txt", before)
  support.write("b.txt", before)
  local child = support.nvim(opts)
  child:edit("a.txt")
  support.propose({ ["a.txt"] = after, ["b.txt"] = before:gsub("line 9\n", "line nine\n") })
  child:wait_hunks(3)
  return child
end

---@param child Child
---@param part string
---@return integer
local function row_with(child, part)
  local found
  wait(("the overview has %q"):format(part), function()
    for i, line in ipairs(child:lines()) do
      if line:find(part, 1, true) then
        found = i
        return true
      end
    end
  end)
  return found
end

test("the overview lists transactions, files and hunks with counts, and decides them", function()
  local child = open()
  child:ex("Redline overview")
  row_with(child, "2 files · 4 hunks +3 −3")
  equal(row_with(child, "▾ a.txt · 3 hunks +2 −2"), child:lua("return vim.fn.line('.')"))
  row_with(child, "┃+ L13")
  child:keys(row_with(child, "┃- L20") .. "Ga")
  row_with(child, "▾ a.txt · 2 hunks +2 −1")
  child:keys(row_with(child, "▾ a.txt") .. "G<Tab>")
  row_with(child, "▸ a.txt · 2 hunks")
  equal(4, #child:lines())
  child:keys("<Tab>")
  child:keys(row_with(child, "▾ b.txt") .. "Gr")
  row_with(child, "1 file · 2 hunks")
  child:keys(row_with(child, "┃~ L5") .. "G<CR>")
  equal({ "a.txt", 5 }, child:lua("return { vim.fn.expand('%:t'), vim.fn.line('.') }"))
  equal(1, child:lua("return #vim.api.nvim_list_wins()"))
  child:ex("Redline overview")
  child:keys(row_with(child, "2 hunks") .. "GA")
  row_with(child, "Nothing pending.")
  child:keys("q")
  equal({ "line five", "more" }, { child:lines()[5], child:lines()[13] })
  equal(before, support.read("b.txt"))
end)

test("a stale line of the overview decides nothing", function()
  local child = open({ config = "_G.notices = {}; vim.notify = function(text) table.insert(_G.notices, text) end" })
  child:ex("Redline overview")
  local row = row_with(child, "┃~ L5")
  child:lua([[
    local lsp = require("redline.lsp")
    local request = lsp.request
    lsp.request = function(client, name, params, on_done, bufnr)
      if name == "redline/transaction/accept" then params.hunks[1].revision = 99 end
      return request(client, name, params, on_done, bufnr)
    end
  ]])
  child:keys(row .. "Ga")
  wait("it is told", function()
    return child:lua("return table.concat(_G.notices)"):find("look again", 1, true)
  end)
  child:keys("q")
  equal("line 5", child:lines()[5])
end)

test("the diff shows the file beside what it would be, and follows decisions", function()
  local child = open()
  child:keys("7G")
  child:ex("Redline diff")
  equal(2, child:lua("return #vim.api.nvim_list_tabpages()"))
  equal(
    { true, true },
    child:lua([[
    return vim.tbl_map(function(win) return vim.wo[win].diff end, vim.api.nvim_tabpage_list_wins(0))
  ]])
  )
  equal(7, child:lua("return vim.fn.line('.')"), "the place is kept")
  local function right()
    return table.concat(
      child:lua([[
        local win = vim.api.nvim_tabpage_list_wins(0)[2]
        return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false)
      ]]),
      "\n"
    ) .. "\n"
  end
  equal(after, right())
  wait("no block pushes the lines apart", function()
    return #child:virtual_lines() == 0
  end)
  child:keys("5G")
  child:ex("Redline reject")
  wait("the right side follows", function()
    return right() == after:gsub("line five\n", "line 5\n")
  end)
  -- Taken over by the editor's own command: the same as accepting it.
  child:keys("20Gdo")
  child:wait_hunks(1)
  child:ex("wincmd l")
  child:keys("q")
  equal(1, child:lua("return #vim.api.nvim_list_tabpages()"))
  equal(false, child:lua("return vim.wo.diff"))
  wait("the hunk that is left is drawn whole again", function()
    return vim.deep_equal(child:virtual_lines(), { "more ◀ 2/4 +1" })
  end)
end)

test("a decision is repeated by the dot, at the hunk that the cursor is on then", function()
  local child = open()
  child:lua([[vim.keymap.set("n", "ga", "<Plug>(redline-accept)")]])
  child:keys("5Gga")
  child:wait_hunks(2)
  child:keys("12G.")
  child:wait_hunks(1)
  equal({ "line five", "more" }, { child:lines()[5], child:lines()[13] })
end)

test("an operator accepts what a motion covers", function()
  local child = open()
  child:lua([[vim.keymap.set("n", "ga", "<Plug>(redline-accept-operator)")]])
  child:keys("4Gga10j")
  child:wait_hunks(1)
  equal({ "line five", "more" }, { child:lines()[5], child:lines()[13] })
end)

test("the plugin attaches open buffers when it is loaded late, as plugin managers do", function()
  support.write("a.txt", before)
  local child = support.nvim({ plugin = false })
  child:ex("edit a.txt")
  equal(false, child:lua("return vim.g.loaded_redline ~= nil"))
  local plugin = vim.fs.dirname(vim.fs.dirname(vim.fs.normalize(debug.getinfo(1, "S").source:sub(2))))
  child:lua(
    [[
    local packages = vim.fn.getcwd() .. "/site"
    vim.fn.mkdir(packages .. "/pack/any/opt", "p")
    vim.uv.fs_symlink(..., packages .. "/pack/any/opt/redline")
    vim.opt.packpath:prepend(packages)
    vim.cmd.packadd("redline")
  ]],
    plugin
  )
  wait("the buffer is attached", function()
    return child:lua([[return require("redline.document").get(vim.api.nvim_get_current_buf()) ~= nil]])
  end)
  equal(2, child:lua([[return vim.fn.exists(":Redline")]]))
end)

test("start-up loads nothing of the plugin but its entry", function()
  support.write("a.txt", before)
  local child = support.nvim()
  local loaded = child:lua([[
    return vim.tbl_filter(function(name) return vim.startswith(name, "redline") end, vim.tbl_keys(package.loaded))
  ]])
  equal({}, loaded)
end)
