local block = require("redline.block")
local document = require("redline.document")
local highlights = require("redline.highlights")
local support = require("support")
local words = require("redline.words")
local equal = support.equal

---@param over? table
local function hunk(over)
  return vim.tbl_extend("force", {
    id = "h_1",
    revision = 1,
    state = "pending",
    index = 3,
    startLine = 1,
    removed = { "a", "b" },
    added = { "c" },
    match = "exact",
    rationale = "why",
  }, over or {})
end

local function label(over)
  return block.label({ transactionId = "tx_1", total = 4, hunk = hunk(over) })
end

test("a label says place, size, state and reason in words", function()
  equal("3/4 +1 −2 · why", label())
  equal("3/4 −2 · why", label({ added = {} }))
  equal("3/4 +1 · why", label({ removed = {} }))
  equal("3/4 +1 −2 · amended · why", label({ amended = true }))
  equal("3/4 +1 −2 · still arriving · why", label({ incomplete = true }))
  equal("3/4 +1 −2 · ≈ whitespace · why", label({ match = "whitespace" }))
  equal("3/4 +1 −2", label({ rationale = "" }))
  equal("3/4 +1 −2 · two lines", label({ rationale = "two\nlines" }))
  equal(
    "conflict 3/4 · line 9 was changed · why",
    label({ state = "conflict", conflict = { reason = "line 9 was changed" } })
  )
  equal("accepted 3/4 · not saved yet", label({ state = "accepted", unsaved = true }))
end)

test("every state has a sign of its own", function()
  local seen = {}
  for _, over in ipairs({
    {},
    { added = {} },
    { removed = {} },
    { state = "conflict" },
    { state = "accepted" },
    { incomplete = true },
  }) do
    local sign = block.sign(hunk(over))
    equal(2, vim.api.nvim_strwidth(sign), sign)
    assert(not seen[sign], sign)
    seen[sign] = true
  end
end)

test("words that differ are found on both sides", function()
  local removed, added = words.compare({ "return take(cost or 1)" }, { "return take(cost or 1.5)" })
  equal({ {} }, removed)
  equal({ { { 21, 23 } } }, added)
  removed, added = words.compare({ "local α = old" }, { "local α = new" })
  equal({ { { 11, 14 } } }, removed)
  equal({ { { 11, 14 } } }, added)
end)

test("a line that differs as a whole is left unmarked", function()
  local removed, added = words.compare({ "one two three" }, { "four five six" })
  equal({ {} }, removed)
  equal({ {} }, added)
end)

---@param text string
---@param layout? table
local function lay(text, layout)
  local lines, used = block.lay(
    { { text, "G" } },
    "G",
    vim.tbl_extend("force", { width = 20, pad = 20, wrap = true, tabstop = 8, max_lines = 40 }, layout or {})
  )
  return vim.tbl_map(function(line)
    return table.concat(vim.tbl_map(function(chunk)
      return chunk[1]
    end, line))
  end, lines),
    used
end

test("tabs become blanks up to the next stop, counted in cells", function()
  equal({ "a       b" }, lay("a\tb"))
  equal({ "a   b" }, lay("a\tb", { tabstop = 4 }))
  equal({ "日      b" }, lay("日\tb"))
end)

test("control characters are shown and not sent to the terminal", function()
  equal({ "a^Mb^[" }, lay("a\rb\27"))
end)

test("long lines wrap at the width, wide characters are not cut in two", function()
  local lines = lay(("x"):rep(30))
  equal({ ("x"):rep(20), "↳ " .. ("x"):rep(10) }, lines)
  lines = lay(("日"):rep(11), { width = 21 })
  equal({ ("日"):rep(10), "↳ 日" }, lines)
  lines = lay(("🚨"):rep(3) .. ("x"):rep(20))
  equal({ ("🚨"):rep(3) .. ("x"):rep(14), "↳ " .. ("x"):rep(6) }, lines)
end)

test("without wrap a line of any length costs no more than a wide window", function()
  local lines = lay(("x"):rep(100000), { wrap = false })
  equal(1, #lines)
  assert(#lines[1] < 3000)
end)

test("a block is as wide as its window and cut after its limit", function()
  local added = {}
  for i = 1, 50 do
    added[i] = "line " .. i
  end
  local layout = { width = 40, pad = 40, wrap = true, tabstop = 8, max_lines = 40 }
  local lines = block.added(hunk({ added = added, removed = {} }), {}, {}, layout, "1/1 +50 · why")
  equal(40, #lines)
  for _, line in ipairs(lines) do
    local cells = 0
    for _, chunk in ipairs(line) do
      cells = cells + vim.api.nvim_strwidth(chunk[1])
    end
    equal(40, cells)
  end
  equal("line 1", lines[1][1][1])
  equal(" ◀ 1/1 +50 · why", lines[1][2][1])
  equal("… 11 more (:Redline preview)", lines[40][1][1])
end)

test("a label that does not fit gets a line of its own", function()
  local layout = { width = 20, pad = 20, wrap = true, tabstop = 8, max_lines = 40 }
  local lines = block.added(hunk({ added = { "0123456789abcdef" } }), {}, {}, layout, "1/1 +1 · because")
  equal(2, #lines)
  equal("▼ 1/1 +1 · because", lines[1][1][1])
end)

test("a missing last newline is said", function()
  local layout = { width = 60, pad = 60, wrap = true, tabstop = 8, max_lines = 40 }
  local lines = block.added(hunk({ noNewlineAtEnd = true }), {}, {}, layout)
  equal(" (no newline at the end)", lines[1][2][1])
end)

test("syntax and words lie over the background of the line", function()
  equal({
    { "local", { "Base", "@keyword" } },
    { " ", { "Base" } },
    { "x", { "Base", "@variable", "Word" } },
  }, block.segments("local x", "Base", { { 0, 5, "@keyword" }, { 6, 7, "@variable" } }, { { 6, 7 } }, "Word"))
end)

test("a range moves over changes as the sidecar moves it", function()
  local function move(first, last, change)
    return { document.move(first, last, { tick = 1, first = change[1], last = change[2], new_last = change[3] }) }
  end
  equal({ 12, 14 }, move(10, 12, { 3, 3, 5 }), "inserted above")
  equal({ 9, 11 }, move(10, 12, { 3, 4, 3 }), "deleted above")
  equal({ 10, 12 }, move(10, 12, { 12, 12, 13 }), "inserted right below")
  equal({ 11, 13 }, move(10, 12, { 10, 10, 11 }), "inserted right above")
  equal({ 10, 13 }, move(10, 12, { 11, 11, 12 }), "inserted inside")
  equal({ 10, 12 }, move(10, 12, { 10, 11, 11 }), "a line inside replaced")
end)

test("colours are mixed between background and hue, and pale hues are made to tint", function()
  equal(0x000000, highlights.blend(0x000000, 0xffffff, 0))
  equal(0x808080, highlights.blend(0x000000, 0xffffff, 0.5))
  equal(nil, highlights.strengthen(0x808080))
  local pale = highlights.strengthen(0xb3f6c0)
  assert(pale and bit.band(bit.rshift(pale, 8), 0xff) == 220, ("%x"):format(pale))
end)

test("groups are readable on dark and on light, and a user's own are kept", function()
  vim.api.nvim_set_hl(0, "RedlineAdd", { bg = 0x123456 })
  for _, background in ipairs({ "dark", "light" }) do
    vim.o.background = background
    highlights.refresh()
    local normal = vim.api.nvim_get_hl(0, { name = "Normal", link = false })
    local function luminance(color)
      local r, g, b = bit.rshift(color, 16), bit.band(bit.rshift(color, 8), 0xff), bit.band(color, 0xff)
      local function linear(c)
        c = c / 255
        return c <= 0.03928 and c / 12.92 or ((c + 0.055) / 1.055) ^ 2.4
      end
      return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    end
    local function contrast(a, b)
      local high, low = math.max(luminance(a), luminance(b)), math.min(luminance(a), luminance(b))
      return (high + 0.05) / (low + 0.05)
    end
    local fg = normal.fg or (background == "dark" and 0xe0e2ea or 0x14161b)
    for _, name in ipairs({ "RedlineRemove", "RedlineConflict", "RedlineAddWord", "RedlineRemoveWord" }) do
      local group = vim.api.nvim_get_hl(0, { name = name })
      assert(contrast(fg, group.bg) >= 4.5, ("%s on %s: %.1f"):format(name, background, contrast(fg, group.bg)))
    end
    local info = vim.api.nvim_get_hl(0, { name = "RedlineInfo" })
    for _, name in ipairs({ "RedlineRemove", "RedlineConflict" }) do
      local ratio = contrast(info.fg, vim.api.nvim_get_hl(0, { name = name }).bg)
      assert(ratio >= 4.5, ("RedlineInfo in %s on %s: %.1f"):format(name, background, ratio))
    end
  end
  equal(0x123456, vim.api.nvim_get_hl(0, { name = "RedlineAdd" }).bg)
end)

test("unknown settings are named with the nearest known one", function()
  local config = require("redline.config")
  equal({ "unknown setting `keymap`, did you mean `keymaps`?" }, config.problems({ keymap = true }))
  equal({ "setting `enabled` is a string, expected a boolean" }, config.problems({ enabled = "no" }))
  equal({}, config.problems({ enabled = false, cmd = { "x" } }))
  config.options = { enabled = false }
  equal(false, config.get().enabled)
  config.options = {}
  equal(true, config.get().enabled)
end)

test("subcommands and their scopes complete", function()
  local command = require("redline.command")
  equal({ "accept", "amend", "approve", "archive", "ask", "attach" }, command.complete("a", "Redline a"))
  equal({ "hunk", "file", "transaction", "all" }, command.complete("", "Redline accept "))
  equal({ "file" }, command.complete("f", "Redline accept f"))
  equal({}, command.complete("", "Redline next "))
end)

test("added lines are coloured by treesitter with the lines around them", function()
  vim.cmd("enew")
  local bufnr = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, { "local text = [[", "inside", "]]" })
  vim.bo[bufnr].filetype = "lua"
  vim.treesitter.start(bufnr, "lua")
  local captures = require("redline.syntax").captures(bufnr, 1, 2, { "local x = 1" })
  for _, capture in ipairs(captures[1]) do
    assert(capture[3]:find("^@string"), "in a string, but " .. vim.inspect(capture))
  end
  assert(#captures[1] > 0)
  captures = require("redline.syntax").captures(bufnr, 3, 3, { "local x = 1" })
  equal({ 0, 5, "@keyword.lua" }, captures[1][1])
end)

test("added lines are coloured by the syntax file where there is no parser", function()
  vim.cmd("syntax on")
  vim.cmd("enew")
  local bufnr = vim.api.nvim_get_current_buf()
  vim.bo[bufnr].filetype = "python"
  vim.bo[bufnr].syntax = "python"
  local captures = require("redline.syntax").captures(bufnr, 0, 0, { "def f(): return 1", 'x = "s"' })
  equal({ 0, 3, "Statement" }, captures[1][1])
  equal("String", captures[2][#captures[2]][3])
end)

test("null is the same as absent", function()
  equal(
    { a = 1, list = { { b = "x" } } },
    require("redline.lsp").without_null({ a = 1, gone = vim.NIL, list = { { b = "x", gone = vim.NIL } } })
  )
end)
