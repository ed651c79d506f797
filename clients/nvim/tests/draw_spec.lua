local support = require("support")
local equal = support.equal

---Opens `n` numbered lines in a child that has the plugin, and no server.
---@param n integer
---@param opts? table
---@return Child
local function blank(n, opts)
  support.write("a.txt", support.numbered(1, n))
  opts = vim.tbl_extend("force", { config = [[vim.g.redline = { enabled = false }]] }, opts or {})
  local child = support.nvim(opts)
  child:ex("edit a.txt")
  child:lua([[
    require("redline.highlights").setup()
    require("redline.view").setup()
    require("redline.document").open(vim.api.nvim_get_current_buf(), 0)
  ]])
  return child
end

---Shows hunks: each is { first, last, added, fields? } in zero-based, half-open lines.
---@param child Child
---@param hunks table[]
local function show(child, hunks)
  child:lua(
    [[
    local bufnr = vim.api.nvim_get_current_buf()
    local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
    local given, shown = ..., {}
    for i, hunk in ipairs(given) do
      local first, last, added = unpack(hunk)
      shown[i] = {
        transactionId = "tx_1",
        total = #given,
        range = { start = { line = first, character = 0 }, ["end"] = { line = last, character = 0 } },
        hunk = vim.tbl_extend("force", {
          id = "h_" .. i,
          revision = 1,
          state = "pending",
          index = i,
          startLine = first + 1,
          removed = vim.list_slice(lines, first + 1, last),
          added = added,
          rationale = "why " .. i,
          match = "exact",
        }, hunk[4] or {}),
      }
    end
    require("redline.document").update(bufnr, 0, shown)
    require("redline.render").refresh(bufnr)
    require("redline.fold").update(bufnr, #shown > 0)
    vim.cmd.redraw()
  ]],
    hunks
  )
end

---@param child Child
---@param wanted fun(mark: table): boolean
---@return table[]
local function marks(child, wanted)
  return vim.tbl_filter(wanted, child:marks())
end

test("a change marks what goes, hangs what comes below it, and says why at the end of its first line", function()
  local child = blank(20)
  show(child, { { 4, 6, { "line five", "new" } } })
  local removed = marks(child, function(mark)
    return mark.opts.hl_group == "RedlineRemove"
  end)
  equal(1, #removed)
  equal({ 4, 6, true }, { removed[1].row, removed[1].opts.end_row, removed[1].opts.hl_eol })
  equal({ "line five", "new" }, child:virtual_lines())
  local label = marks(child, function(mark)
    return mark.opts.virt_text ~= nil
  end)
  equal({ 4, "  ◀ 1/1 +2 −2 · why 1" }, { label[1].row, label[1].opts.virt_text[1][1] })
  local hanging = marks(child, function(mark)
    return mark.opts.virt_lines ~= nil
  end)
  equal(5, hanging[1].row)
  local screen = child:screen()
  equal("┃~line 5  ◀ 1/1 +2 −2 · why 1", (screen[5]:gsub("line 5%s+◀", "line 5  ◀")))
  equal("┃~line 6", screen[6])
  equal("  line five", screen[7])
  equal("  new", screen[8])
  equal("  line 7", screen[9])
end)

test("words that differ are marked on both sides", function()
  local child = blank(3)
  show(child, { { 1, 2, { "line two" } } })
  local words = marks(child, function(mark)
    return mark.opts.hl_group == "RedlineRemoveWord"
  end)
  equal({ 1, 5, 6 }, { words[1].row, words[1].col, words[1].opts.end_col })
  local hanging = marks(child, function(mark)
    return mark.opts.virt_lines ~= nil
  end)
  equal({ "two", { "RedlineAdd", "RedlineAddWord" } }, hanging[1].opts.virt_lines[1][2])
end)

test("an insertion hangs below the line before it", function()
  local child = blank(20)
  show(child, { { 7, 7, { "between" } } })
  local screen = child:screen()
  equal({ "┃+line 7", "  between ◀ 1/1 +1 · why 1", "  line 8" }, vim.list_slice(screen, 7, 9))
end)

test("an insertion above line 1 is seen without moving the view", function()
  local child = blank(100)
  show(child, { { 0, 0, { "first", "second" } } })
  local screen = child:screen()
  equal({ "  first ◀ 1/1 +2 · why 1", "  second", "┃+line 1" }, vim.list_slice(screen, 1, 3))
  -- Scrolled away by hand it stays away, and comes back with the top of the file.
  child:keys("<C-e><C-e>")
  equal("┃+line 1", child:screen()[1])
  child:keys("G")
  child:keys("gg")
  child:wait_screen("first")
end)

test("an insertion at the end of the file is seen after a jump there", function()
  local child = blank(100)
  show(child, { { 100, 100, { "tail one", "tail two" } } })
  child:keys("G")
  child:wait_screen("tail two")
  child:keys("gg")
  child:ex("Redline next")
  child:wait_screen("tail two")
  equal(100, child:lua("return vim.fn.line('.')"))
end)

test("a hunk of all lines of the file is shown", function()
  local child = blank(3)
  show(child, { { 0, 3, { "all", "new" } } })
  equal({ "┃~line 3", "  all", "  new" }, vim.list_slice(child:screen(), 3, 5))
end)

test("an empty file shows what comes", function()
  local child = blank(1)
  child:keys("dd")
  show(child, { { 0, 0, { "first line" } } })
  child:wait_screen("first line ◀ 1/1 +1")
end)

test("typing moves the marks, and nothing is drawn anew", function()
  local child = blank(200)
  show(child, { { 10, 12, { "x" } }, { 15, 15, { "y" } } })
  -- The sign column has made the text narrower: the first change draws once more for it.
  child:keys("ggIx<Esc>")
  child:screen()
  child:screen()
  child:lua([[
    _G.drawn = 0
    local render = require("redline.render")
    local refresh = render.refresh
    render.refresh = function(...)
      _G.drawn = _G.drawn + 1
      return refresh(...)
    end
  ]])
  local before = child:marks()
  child:keys("ggOabove<CR>more<Esc>")
  local after = child:marks()
  equal(#before, #after)
  for i, mark in ipairs(after) do
    equal(before[i].row + 2, mark.row)
  end
  local hunks = child:hunks()
  equal({ 12, 14, 17, 17 }, { hunks[1].first, hunks[1].last, hunks[2].first, hunks[2].last })
  equal(0, child:lua("return _G.drawn"))
end)

test("a list for an older text is moved by what was typed since", function()
  local child = blank(20)
  child:keys("ggOone<CR>two<Esc>")
  show(child, { { 4, 5, { "x" } } })
  equal({ 6, 7 }, { child:hunks()[1].first, child:hunks()[1].last })
end)

test("a conflict says what changed and shows its three sides on demand", function()
  local child = blank(20)
  show(child, {
    {
      4,
      5,
      { "theirs" },
      {
        state = "conflict",
        conflict = { reason = "line 5 was changed", base = { "old" }, current = { "line 5" }, proposed = { "theirs" } },
      },
    },
  })
  equal({}, child:virtual_lines())
  child:wait_screen("◀ conflict 1/1 · line 5 was changed")
  equal("┃!line 5", (child:screen()[5]:gsub("%s+◀.*", "")))
  child:ex("5")
  child:ex("Redline preview")
  for _, text in ipairs({ "@@ Written against @@", "@@ Now @@", "-line 5", "@@ Proposed @@", "+theirs" }) do
    child:wait_screen(text)
  end
  equal(1, child:lua("return vim.fn.winnr()"), "the focus stays")
  child:keys("j")
  support.wait("the float closes with the next move", function()
    return child:lua("return #vim.api.nvim_list_wins()") == 1
  end)
end)

test("amended, arriving and unsaved hunks say so", function()
  local child = blank(20)
  show(child, {
    { 1, 2, { "x" }, { amended = true } },
    { 4, 5, { "x" }, { incomplete = true } },
    { 7, 8, { "x" }, { state = "accepted", unsaved = true } },
  })
  child:wait_screen("1/3 +1 −1 · amended")
  child:wait_screen("2/3 +1 −1 · still arriving")
  child:wait_screen("accepted 3/3 · not saved yet")
  equal(2, #child:virtual_lines())
  equal(2, #child:hunks())
end)

test("a closed fold says how many hunks it hides", function()
  local child = blank(40)
  show(child, { { 10, 11, { "x" } }, { 12, 12, { "y" } }, { 30, 31, { "z" } } })
  child:ex("set foldmethod=manual")
  child:ex("9,20fold")
  child:wait_screen("┃~ 2 hunks")
  child:ex("Redline next")
  equal(-1, child:lua("return vim.fn.foldclosed('.')"), "going to a hunk opens its fold")
  show(child, {})
  equal("foldtext()", child:lua("return vim.wo.foldtext"))
  child:lua([[vim.wo.foldtext = "'mine'"]])
  show(child, { { 10, 11, { "x" } } })
  equal("'mine'", child:lua("return vim.wo.foldtext"))
end)

test("next and previous go round, counts and both ends work", function()
  local child = blank(100)
  show(child, { { 10, 11, { "x" } }, { 50, 50, { "y" } }, { 90, 91, { "z" } } })
  local function goes(keys, line)
    child:keys(keys)
    equal(line, child:lua("return vim.fn.line('.')"), keys)
  end
  child:lua([[for _, map in ipairs(require("redline.keys").maps()) do
    vim.keymap.set(map[1], map[2], "<Plug>(redline-" .. map[3] .. ")", { remap = true })
  end]])
  goes("]r", 11)
  goes("]r", 50)
  goes("]r", 91)
  goes("]r", 11)
  goes("[r", 91)
  goes("[R", 11)
  goes("]R", 91)
  goes("gg2]r", 50)
  child:lua("vim.o.wrapscan = false")
  goes("]R]r", 91)
  goes("gg[r", 1)
  -- The text object is the lines that the hunk replaces.
  child:keys("[Rdir")
  equal("line 10", child:lines()[10])
  equal("line 12", child:lines()[11])
end)

test("keys exist while hunks are pending, and give back what was there", function()
  local child = blank(20)
  child:lua([[
    vim.g.redline_keymaps = true
    vim.keymap.set("n", "]r", "<Cmd>let g:mine = 1<CR>", { buffer = true })
  ]])
  local function update(pending)
    child:lua([[require("redline.keys").update(vim.api.nvim_get_current_buf(), ...)]], pending)
  end
  local function rhs()
    return child:lua([[return vim.fn.maparg("]r", "n")]])
  end
  update(true)
  equal("<Plug>(redline-next)", rhs())
  update(false)
  equal("<Cmd>let g:mine = 1<CR>", rhs())
  child:lua([[vim.g.redline_keymaps = false]])
  update(true)
  equal("<Cmd>let g:mine = 1<CR>", rhs())
end)

test("only what is near the view has marks, also with ten thousand hunks", function()
  local child = blank(30000)
  local hunks = {}
  for i = 1, 10000 do
    hunks[i] = { i * 3 - 3, i * 3 - 2, { "new " .. i } }
  end
  show(child, hunks)
  local function count()
    return child:lua([[return #vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace("redline"), 0, -1, {})]])
  end
  equal(10000, #child:hunks())
  assert(count() < 400, count())
  child:keys("15000Gzt")
  child:wait_screen("new 5001")
  assert(count() < 400, count())
end)

test("two windows of one buffer are both drawn", function()
  local child = blank(500)
  show(child, { { 4, 5, { "near the top" } }, { 490, 491, { "near the end" } } })
  child:ex("split")
  child:keys("G")
  child:wait_screen("near the end")
  child:wait_screen("near the top")
end)

test("a window made narrower wraps what is added anew", function()
  local child = blank(10)
  show(child, { { 4, 5, { ("word "):rep(16) } } })
  equal(1, #child:virtual_lines())
  child:ex("vsplit")
  support.wait("the block is wrapped", function()
    return #child:virtual_lines() == 2
  end)
end)

test("a view without wrap keeps one line for each", function()
  local child = blank(10)
  child:ex("set nowrap")
  show(child, { { 4, 5, { ("word "):rep(40) } } })
  equal(1, #child:virtual_lines())
end)
