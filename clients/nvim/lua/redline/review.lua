---Decisions. Each carries the revisions that were shown; what turns out stale is drawn anew, never applied.
local M = {}

local api = vim.api
local document = require("redline.document")
local method = require("redline.protocol").method

---@alias redline.Verb "accept"|"reject"|"withdraw"
---@alias redline.Scope "hunk"|"file"|"transaction"|"all"|"lines"

local PAST = { accept = "accepted", reject = "rejected", withdraw = "withdrawn" }

---@param text string
local function say(text)
  if require("redline.config").get().notify then
    api.nvim_echo({ { "redline: " .. text } }, false, {})
  end
end

---@param shown redline.DocumentHunk
---@return redline.HunkRef
local function ref(shown)
  return { id = shown.hunk.id, revision = shown.hunk.revision }
end

---@param a string
---@param b string
---@return boolean
local function same_file(a, b)
  return a == b or (vim.uv.fs_realpath(a) or a) == (vim.uv.fs_realpath(b) or b)
end

---@param transaction redline.Transaction
---@param bufnr integer
---@return redline.FileChange?
local function file_of(transaction, bufnr)
  local name = api.nvim_buf_get_name(bufnr)
  for _, file in ipairs(transaction.files) do
    if same_file(vim.uri_to_fname(file.uri), name) then
      return file
    end
  end
end

---Takes a buffer's hunks from the transactions that hold them: after a decision turned out stale.
---@param client vim.lsp.Client
---@param bufnr integer
function M.reload(client, bufnr)
  local lsp = require("redline.lsp")
  lsp.request(client, method.TRANSACTION_LIST, {}, function(err, result)
    if err or not result or not api.nvim_buf_is_loaded(bufnr) then
      return
    end
    local hunks = {}
    for _, transaction in ipairs(result.transactions) do
      local total = 0
      for _, file in ipairs(transaction.files) do
        total = total + #file.hunks
      end
      local file = file_of(transaction, bufnr)
      for _, hunk in ipairs(file and file.hunks or {}) do
        local first = hunk.startLine - 1
        local shown = {
          transactionId = transaction.id,
          total = total,
          hunk = hunk,
          range = {
            start = { line = first, character = 0 },
            ["end"] = { line = first + #(hunk.conflict and hunk.conflict.current or hunk.removed), character = 0 },
          },
        }
        if document.is_open(shown) then
          hunks[#hunks + 1] = shown
        end
      end
    end
    document.update(bufnr, vim.lsp.util.buf_versions[bufnr] or 0, hunks)
    require("redline.render").redraw(bufnr)
  end, bufnr)
end

---@param client vim.lsp.Client
---@param bufnr? integer absent where it was shown in no buffer
---@param err redline.Error
local function failed(client, bufnr, err)
  if err.code == "STALE_HUNK" or err.code == "ALREADY_SETTLED" or err.code == "UNKNOWN_HUNK" then
    if bufnr then
      M.reload(client, bufnr)
    end
    vim.notify("redline: " .. err.message .. "\nIt is drawn anew: look again, then decide.", vim.log.levels.WARN)
  else
    require("redline.lsp").report(err)
  end
end

---@param verb redline.Verb
---@param result redline.DecideResult
local function told(verb, result)
  local hunks = result.receipt and #result.receipt.hunks or 0
  local left = result.left == 0 and "none" or result.left
  say(("%s %s · %s left"):format(require("redline.block").count(hunks, "hunk"), PAST[verb], left))
end

---@param client vim.lsp.Client
---@param bufnr? integer
---@param verb redline.Verb
---@param params redline.DecideParams
---@param on_done? fun(err?: redline.Error)
local function send(client, bufnr, verb, params, on_done)
  local name = verb == "accept" and method.TRANSACTION_ACCEPT or method.TRANSACTION_REJECT
  params.withdraw = verb == "withdraw" or nil
  require("redline.lsp").request(client, name, params, function(err, result)
    if err then
      failed(client, bufnr, err)
    else
      told(verb, result)
    end
    if on_done then
      on_done(err)
    end
  end, bufnr)
end

---Sends a decision on what was shown elsewhere than in a buffer.
---@param root string
---@param verb redline.Verb
---@param params redline.DecideParams
---@param on_done fun(err?: redline.Error)
function M.send_params(root, verb, params, on_done)
  local lsp = require("redline.lsp")
  local client = lsp.client_of(root)
  if client then
    send(client, nil, verb, params, on_done)
  else
    lsp.report(lsp.GONE)
  end
end

---Sends a decision for hunks shown in `bufnr`; a stale view is redrawn, not applied.
---@param bufnr integer
---@param hunks redline.DocumentHunk[]
---@param verb redline.Verb
---@param on_done? fun(err?: redline.Error) called for each transaction concerned
function M.send(bufnr, hunks, verb, on_done)
  local client = assert(require("redline.lsp").client(bufnr))
  local by_transaction, order = {}, {}
  for _, shown in ipairs(hunks) do
    local id = shown.transactionId
    if not by_transaction[id] then
      by_transaction[id] = {}
      order[#order + 1] = id
    end
    table.insert(by_transaction[id], ref(shown))
  end
  for _, id in ipairs(order) do
    send(client, bufnr, verb, { transactionId = id, hunks = by_transaction[id] }, on_done)
  end
end

---Whether what a transaction says of a buffer is what the buffer shows.
---@param transaction redline.Transaction
---@param bufnr integer
---@return boolean
local function is_shown(transaction, bufnr)
  local revisions, n_shown = {}, 0
  for _, shown in ipairs(document.pending(bufnr)) do
    if shown.transactionId == transaction.id then
      revisions[shown.hunk.id] = shown.hunk.revision
      n_shown = n_shown + 1
    end
  end
  local file = file_of(transaction, bufnr)
  for _, hunk in ipairs(file and file.hunks or {}) do
    if hunk.state == "pending" or hunk.state == "conflict" then
      if revisions[hunk.id] ~= hunk.revision then
        return false
      end
      n_shown = n_shown - 1
    end
  end
  return n_shown == 0
end

---Asks for a transaction, and goes on only when the buffer shows it as it is.
---@param client vim.lsp.Client
---@param bufnr integer
---@param id string
---@param on_done fun(transaction: redline.Transaction)
local function with_transaction(client, bufnr, id, on_done)
  require("redline.lsp").request(client, method.TRANSACTION_GET, { transactionId = id }, function(err, transaction)
    if err then
      failed(client, bufnr, err)
    elseif not is_shown(transaction, bufnr) then
      failed(client, bufnr, { code = "STALE_HUNK", message = "the proposal changed since it was shown" })
    else
      on_done(transaction)
    end
  end, bufnr)
end

---@param hunks redline.DocumentHunk[]
---@return string[] ids of their transactions, in order
local function transactions_of(hunks)
  local ids = {}
  for _, shown in ipairs(hunks) do
    if not vim.list_contains(ids, shown.transactionId) then
      ids[#ids + 1] = shown.transactionId
    end
  end
  return ids
end

---Decides by lines: hunks that lie inside wholly, and of others the part that does.
---@param client vim.lsp.Client
---@param bufnr integer
---@param verb redline.Verb
---@param range [integer, integer] 1-based, inclusive
local function decide_lines(client, bufnr, verb, range)
  local whole, parts = {}, {}
  for _, placed in ipairs(document.within(bufnr, range[1] - 1, range[2])) do
    if document.is_open(placed.shown) then
      if placed.first == placed.last then
        local home = document.home(placed)
        if home >= range[1] - 1 and home < range[2] then
          whole[#whole + 1] = placed.shown
        end
      elseif placed.first >= range[1] - 1 and placed.last <= range[2] then
        whole[#whole + 1] = placed.shown
      else
        parts[#parts + 1] = placed
      end
    end
  end
  if #whole == 0 and #parts == 0 then
    return say("no hunk in these lines")
  end
  M.send(bufnr, whole, verb)
  for _, placed in ipairs(parts) do
    with_transaction(client, bufnr, placed.shown.transactionId, function(transaction)
      local file = file_of(transaction, bufnr)
      if file then
        send(client, bufnr, verb, {
          transactionId = transaction.id,
          revision = transaction.revision,
          lines = {
            {
              path = file.path,
              start = math.max(range[1], placed.first + 1),
              ["end"] = math.min(range[2], placed.last),
            },
          },
        })
      end
    end)
  end
end

---@param client vim.lsp.Client
---@param bufnr integer
---@param verb redline.Verb
local function decide_all(client, bufnr, verb)
  local lsp = require("redline.lsp")
  lsp.request(client, method.TRANSACTION_LIST, {}, function(err, result)
    if err then
      return lsp.report(err)
    end
    if #result.transactions == 0 then
      return say("nothing pending")
    end
    for _, transaction in ipairs(result.transactions) do
      if not is_shown(transaction, bufnr) and document.get(bufnr) then
        return failed(client, bufnr, { code = "STALE_HUNK", message = "a proposal changed since it was shown" })
      end
    end
    for _, transaction in ipairs(result.transactions) do
      send(client, bufnr, verb, { transactionId = transaction.id, revision = transaction.revision })
    end
  end, bufnr)
end

---The client of the current buffer; says so when there is none.
---@return vim.lsp.Client?
local function client_here()
  local lsp = require("redline.lsp")
  local client = lsp.any_client()
  if not client then
    lsp.report({
      code = "CLIENT_GONE",
      message = "Redline is not attached here",
      hint = "Open a file of the project, or see :checkhealth redline",
    })
  end
  return client
end

---The hunk under the cursor; says so when there is none.
---@return redline.Placed?
function M.under_cursor()
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local placed = document.at(api.nvim_get_current_buf(), row)
  if not placed then
    say("no hunk at the cursor (:Redline next)")
  end
  return placed
end

---Decides part of what is pending.
---@param verb redline.Verb
---@param scope redline.Scope
---@param range? [integer, integer] 1-based lines, for the scope `lines`
function M.decide(verb, scope, range)
  local client, bufnr = client_here(), api.nvim_get_current_buf()
  if not client then
    return
  end
  if scope == "hunk" then
    local placed = M.under_cursor()
    if placed then
      M.send(bufnr, { placed.shown }, verb)
    end
  elseif scope == "lines" then
    decide_lines(client, bufnr, verb, assert(range))
  elseif scope == "all" then
    decide_all(client, bufnr, verb)
  else
    local ids = transactions_of(document.pending(bufnr))
    local placed = document.at(bufnr, api.nvim_win_get_cursor(0)[1] - 1)
    if scope == "transaction" and placed then
      ids = { placed.shown.transactionId }
    end
    if #ids == 0 then
      return say("no hunk in this file")
    elseif scope == "transaction" and #ids > 1 then
      return say("several transactions touch this file: put the cursor on a hunk of the one you mean")
    end
    for _, id in ipairs(ids) do
      with_transaction(client, bufnr, id, function(transaction)
        local file = file_of(transaction, bufnr)
        local params = { transactionId = id, revision = transaction.revision }
        if scope == "file" then
          params.files = { { path = file and file.path, revision = transaction.revision } }
          params.revision = nil
        end
        send(client, bufnr, verb, params)
      end)
    end
  end
end

---Sends a request about the hunk under the cursor and says what it did.
---@param name string
---@param done string
local function on_hunk(name, done)
  local client, bufnr = client_here(), api.nvim_get_current_buf()
  local placed = client and M.under_cursor()
  if not client or not placed then
    return
  end
  local params = { transactionId = placed.shown.transactionId, hunk = ref(placed.shown) }
  require("redline.lsp").request(client, name, params, function(err)
    if err then
      failed(client, bufnr, err)
    else
      say(done)
    end
  end, bufnr)
end

---Splits the hunk under the cursor.
function M.split()
  on_hunk(method.TRANSACTION_SPLIT, "hunk split")
end

---Proposes the conflict under the cursor again, for the lines that stand there now.
function M.repropose()
  on_hunk(method.TRANSACTION_REPROPOSE, "proposed again")
end

---Takes back what was accepted last, or puts it back.
---@param direction redline.RestoreDirection
---@param id? string turn or transaction
function M.restore(direction, id)
  local client = client_here()
  if not client then
    return
  end
  local lsp = require("redline.lsp")
  lsp.request(client, method.CHECKPOINT_RESTORE, { direction = direction, id = id }, function(err, result)
    if err then
      return lsp.report(err)
    end
    say(("%s of %s: %s"):format(direction, result.id, table.concat(result.paths, ", ")))
  end)
end

M.failed, M.say, M.client_here, M.ref = failed, say, client_here, ref

return M
