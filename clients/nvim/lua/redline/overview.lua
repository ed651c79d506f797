---Everything that is pending, in a float: transactions, their files, their hunks, with counts and keys to decide.
local M = {}

local api = vim.api
local marks = api.nvim_create_namespace("redline.overview")

---@class (exact) redline.OverviewRow
---@field text string
---@field group? string
---@field transaction redline.Transaction
---@field file? redline.FileChange
---@field hunk? redline.Hunk

---@class (exact) redline.Overview
---@field root string
---@field bufnr integer
---@field win integer
---@field from integer window that the user came from
---@field rows redline.OverviewRow[]
---@field transactions redline.Transaction[]
---@field closed? table<string, boolean> files whose hunks are hidden; absent until the first answer
---@field here string name of the file that the user came from

---@type redline.Overview?
local open

local HELP = " a accept · r reject · A R whole transaction · <CR> go · <Tab> fold · p preview · q close "

---@param transaction redline.Transaction
---@param file redline.FileChange
---@return string
local function key(transaction, file)
  return transaction.id .. "\0" .. file.path
end

---@param file redline.FileChange
---@return integer pending, integer conflicts, integer added, integer removed
local function tally(file)
  local pending, conflicts, added, removed = 0, 0, 0, 0
  for _, hunk in ipairs(file.hunks) do
    if hunk.state == "pending" or hunk.state == "conflict" then
      pending = pending + (hunk.state == "pending" and 1 or 0)
      conflicts = conflicts + (hunk.state == "conflict" and 1 or 0)
      added, removed = added + #hunk.added, removed + #hunk.removed
    end
  end
  return pending, conflicts, added, removed
end

---Counts in words: `3 hunks +10 −4 · 1 conflict`.
---@param pending integer
---@param conflicts integer
---@param added integer
---@param removed integer
---@return string
local function counted(pending, conflicts, added, removed)
  local count = require("redline.block").count
  local text = ("%s +%d −%d"):format(count(pending + conflicts, "hunk"), added, removed)
  return conflicts > 0 and ("%s · %s"):format(text, count(conflicts, "conflict")) or text
end

---@param transactions redline.Transaction[]
---@param closed table<string, boolean>
---@return redline.OverviewRow[]
function M.rows(transactions, closed)
  local block, quote = require("redline.block"), require("redline.chat.quote")
  local rows = {}
  for _, transaction in ipairs(transactions) do
    local sum, files, hunks, total = { 0, 0, 0, 0 }, 0, {}, 0
    for _, file in ipairs(transaction.files) do
      local counts = { tally(file) }
      total = total + #file.hunks
      local whole = file.operation ~= "edit" and file.state == "pending"
      if counts[1] + counts[2] > 0 or whole then
        files = files + 1
        for i, n in ipairs(counts) do
          sum[i] = sum[i] + n
        end
        local what = file.operation ~= "edit" and (file.operation .. " ") or ""
        local target = file.newPath and (" => " .. file.newPath) or ""
        local hidden = closed[key(transaction, file)]
        hunks[#hunks + 1] = {
          text = ("%s %s%s%s · %s"):format(
            #file.hunks == 0 and " " or (hidden and "▸" or "▾"),
            what,
            quote.line(file.path),
            quote.line(target),
            counted(unpack(counts))
          ),
          group = "Directory",
          transaction = transaction,
          file = file,
        }
        for _, hunk in ipairs(hidden and {} or file.hunks) do
          local shown = { transactionId = transaction.id, total = 0, hunk = hunk }
          if require("redline.document").is_open(shown) then
            hunks[#hunks + 1] = {
              text = ("    %s L%-4d"):format(block.sign(hunk), hunk.startLine),
              group = select(2, block.sign(hunk)),
              transaction = transaction,
              file = file,
              hunk = hunk,
            }
          end
        end
      end
    end
    rows[#rows + 1] = {
      text = ("%s · %s · %s · %s"):format(
        quote.line(transaction.title),
        block.count(files, "file"),
        counted(unpack(sum)),
        quote.line(transaction.proposedBy)
      ),
      group = "Title",
      transaction = transaction,
    }
    for _, row in ipairs(hunks) do
      if row.hunk then
        row.text = row.text .. "  " .. block.label({ transactionId = transaction.id, total = total, hunk = row.hunk })
      end
      rows[#rows + 1] = row
    end
  end
  return rows
end

---@param view redline.Overview
local function resize(view)
  local width = api.nvim_strwidth(HELP)
  for _, row in ipairs(view.rows) do
    width = math.max(width, api.nvim_strwidth(row.text) + 1)
  end
  width = math.min(width, vim.o.columns - 4)
  api.nvim_win_set_config(view.win, {
    relative = "editor",
    row = 1,
    col = vim.o.columns - width - 3,
    width = width,
    height = math.max(1, math.min(#view.rows, vim.o.lines - vim.o.cmdheight - 5)),
    footer = require("redline.block").cut(HELP, width),
  })
end

---@param view redline.Overview
local function draw(view)
  local lines = vim.tbl_map(function(row)
    return row.text
  end, view.rows)
  if #lines == 0 then
    lines = { "Nothing pending." }
  end
  vim.bo[view.bufnr].modifiable = true
  api.nvim_buf_set_lines(view.bufnr, 0, -1, false, lines)
  vim.bo[view.bufnr].modifiable = false
  api.nvim_buf_clear_namespace(view.bufnr, marks, 0, -1)
  local function mark(row, from, to, group)
    api.nvim_buf_set_extmark(view.bufnr, marks, row, from, { end_col = to, hl_group = group })
  end
  for i, row in ipairs(view.rows) do
    if row.hunk then
      mark(i - 1, 4, 4 + #"┃+", row.group)
    elseif row.group then
      mark(i - 1, 0, #row.text, row.group)
    end
  end
  resize(view)
end

---Shows what is known, as folded as the user has it.
---@param view redline.Overview
local function show(view)
  local first = not view.closed
  view.closed = view.closed or {}
  view.rows = M.rows(view.transactions, view.closed)
  if first and #view.rows > vim.o.lines - 8 then
    -- More than a screen of hunks: begin with the files.
    for _, row in ipairs(view.rows) do
      if row.file and not row.hunk and vim.uri_to_fname(row.file.uri) ~= view.here then
        view.closed[key(row.transaction, row.file)] = true
      end
    end
    view.rows = M.rows(view.transactions, view.closed)
  end
  draw(view)
  for i, row in ipairs(first and view.rows or {}) do
    if row.file and vim.uri_to_fname(row.file.uri) == view.here then
      return api.nvim_win_set_cursor(view.win, { i, 0 })
    end
  end
end

---@param view redline.Overview
local function refresh(view)
  local lsp = require("redline.lsp")
  local client = lsp.client_of(view.root)
  if not client then
    return
  end
  lsp.request(client, require("redline.protocol").method.TRANSACTION_LIST, {}, function(err, result)
    if err then
      return lsp.report(err)
    elseif not api.nvim_win_is_valid(view.win) then
      return
    end
    view.transactions = result.transactions
    show(view)
  end)
end

---@param view redline.Overview
---@return redline.OverviewRow?
local function row_here(view)
  return view.rows[api.nvim_win_get_cursor(view.win)[1]]
end

---@param view redline.Overview
---@param verb redline.Verb
---@param whole boolean the transaction, whatever the line is
local function decide(view, verb, whole)
  local row = row_here(view)
  if not row then
    return
  end
  local transaction = row.transaction
  ---@type redline.DecideParams
  local params = { transactionId = transaction.id }
  if row.hunk and not whole then
    params.hunks = { { id = row.hunk.id, revision = row.hunk.revision } }
  elseif row.file and not whole then
    params.files = { { path = row.file.path, revision = transaction.revision } }
  else
    params.revision = transaction.revision
  end
  require("redline.review").send_params(view.root, verb, params, function()
    refresh(view)
  end)
end

---@param view redline.Overview
local function close(view)
  if api.nvim_win_is_valid(view.win) then
    api.nvim_win_close(view.win, true)
  end
  if api.nvim_win_is_valid(view.from) then
    api.nvim_set_current_win(view.from)
  end
end

---@param view redline.Overview
local function go(view)
  local row = row_here(view)
  if row then
    close(view)
    local link = require("redline.chat.link")
    if row.file then
      link.show(row.file, row.hunk)
    else
      link.to_hunk(row.transaction)
    end
  end
end

---@param view redline.Overview
local function fold(view)
  local row = row_here(view)
  if not row or not row.file then
    return
  end
  local name = key(row.transaction, row.file)
  view.closed[name] = not view.closed[name]
  show(view)
  for i, each in ipairs(view.rows) do
    if each.file == row.file and not each.hunk then
      return api.nvim_win_set_cursor(view.win, { i, 0 })
    end
  end
end

---@param view redline.Overview
local function preview(view)
  local row = row_here(view)
  if row and row.hunk then
    local shown = { transactionId = row.transaction.id, total = 0, hunk = row.hunk }
    local lines, filetype = require("redline.preview").hunk_lines(shown)
    require("redline.preview").float(lines, filetype, row.file.path)
  end
end

---Opens the overview; closes it when it is open.
function M.toggle()
  if open and api.nvim_win_is_valid(open.win) then
    return close(open)
  end
  local root = require("redline.session").root_here()
  if not root then
    return
  end
  require("redline.highlights").setup()
  local bufnr = api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].filetype = "redline-overview"
  local from = api.nvim_get_current_win()
  local here = vim.uv.fs_realpath(api.nvim_buf_get_name(0)) or api.nvim_buf_get_name(0)
  local win = api.nvim_open_win(bufnr, true, {
    relative = "editor",
    row = 1,
    col = 1,
    width = 40,
    height = 3,
    style = "minimal",
    border = "rounded",
    title = " Redline · pending ",
  })
  vim.wo[win].cursorline = true
  vim.wo[win].wrap = false
  ---@type redline.Overview
  local view = { root = root, bufnr = bufnr, win = win, from = from, rows = {}, transactions = {}, here = here }
  open = view
  local function map(keys, desc, run)
    vim.keymap.set("n", keys, function()
      run(view)
    end, { buffer = bufnr, nowait = true, desc = "Redline: " .. desc })
  end
  for _, verb in ipairs({ "accept", "reject" }) do
    local letter = verb:sub(1, 1)
    map(letter, verb .. " what the line shows", function()
      decide(view, verb, false)
    end)
    map(letter:upper(), verb .. " the transaction", function()
      decide(view, verb, true)
    end)
  end
  map("<CR>", "go there", go)
  map("<Tab>", "hide or show the hunks of a file", fold)
  map("p", "preview the hunk", preview)
  map("q", "close", close)
  map("<Esc>", "close", close)
  local group = api.nvim_create_augroup("redline.overview", {})
  api.nvim_create_autocmd("User", {
    group = group,
    pattern = "RedlineUpdate",
    callback = function(args)
      if not api.nvim_win_is_valid(win) then
        return true
      elseif args.data.root == root then
        refresh(view)
      end
    end,
  })
  api.nvim_create_autocmd("VimResized", {
    group = group,
    callback = function()
      if not api.nvim_win_is_valid(win) then
        return true
      end
      resize(view)
    end,
  })
  refresh(view)
end

return M
