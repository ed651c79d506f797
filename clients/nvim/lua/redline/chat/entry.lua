---What an entry of a conversation looks like: its lines, what is marked in them, where they lead. Draws nothing.
local M = {}

local quote = require("redline.chat.quote")

---@alias redline.Link
---| { kind: "hunk", transaction: string, hunk: string }
---| { kind: "transaction", transaction: string }
---| { kind: "place", path: string, line?: integer }
---| { kind: "job", job: string }
---| { kind: "approval", approval: string }
---| { kind: "plan", plan: string }

---@class (exact) redline.ShownEntry
---@field lines? string[] absent once drawn: only the count is kept
---@field n integer lines
---@field lead integer blank lines before them, set where they are drawn
---@field marks? { [1]: integer, [2]: integer, [3]: integer, [4]: string }[] line of the entry, from, to, group
---@field links table<integer, redline.Link> by line of the entry
---@field fold? integer first line of the entry that is folded, with all after it

---@class (exact) redline.EntryContext
---@field approval fun(id: string): redline.Approval?
---@field transaction fun(id: string): redline.Transaction?
---@field plan fun(id: string): redline.Plan?
---@field job fun(id: string): redline.Job?
---@field job_of fun(tool_call_id: string): redline.Job? that a call started
---@field turn_transaction fun(turn_id?: string): string?

---Lines of a tool's output that are kept in the conversation.
local MAX_DETAIL = 200

---Bytes of an argument that are shown.
local MAX_ARGUMENT = 500

local STATE_WORDS = {
  pending = "preparing",
  in_progress = "running",
  completed = "done",
  failed = "failed",
  cancelled = "stopped",
}
local STATE_GROUPS = {
  pending = "RedlineMuted",
  in_progress = "RedlineInfo",
  completed = "RedlineMuted",
  failed = "RedlineSignRemove",
  cancelled = "RedlineMuted",
}
local KIND_WORDS = {
  transaction = "commits edits",
  command = "runs a program",
  vcs = "changes version control",
  browser = "acts in a browser",
  web = "fetches from the network",
  agent = "starts another agent",
}
local CLASS_WORDS = {
  reversible = "undo brings it back",
  workspace = "stays inside the workspace, may lose what is not tracked",
  outside = "reaches the network or other folders",
}
local END_WORDS = {
  end_turn = "done",
  max_tokens = "stopped: the limit of tokens is reached",
  max_turn_requests = "stopped: the turn's steps are used up",
  refusal = "the model declined",
  cancelled = "stopped by you",
  _timeout = "stopped: it took too long",
  _max_cost = "stopped: the turn's budget is used up",
  _error = "failed",
  _interrupted = "interrupted: the sidecar ended; the session can go on",
}

---@return redline.ShownEntry
local function empty()
  return { lines = {}, n = 0, lead = 0, marks = {}, links = {} }
end

---@param shown redline.ShownEntry
---@param text string
---@param group? string
---@param link? redline.Link
local function put(shown, text, group, link)
  local lines = shown.lines
  lines[#lines + 1] = (text:gsub("\n", " "))
  if group then
    local from = #lines[#lines]:match("^ *")
    shown.marks[#shown.marks + 1] = { #lines, from, #lines[#lines], group }
  end
  shown.links[#lines] = link
end

---@param shown redline.ShownEntry
---@param text string
---@param group? string
---@param limit? integer
local function put_block(shown, text, group, limit)
  local lines = vim.split((text:gsub("\r\n", "\n")), "\n", { plain = true })
  while #lines > 0 and lines[#lines] == "" do
    table.remove(lines)
  end
  for i, line in ipairs(lines) do
    if limit and i > limit then
      put(shown, ("    … %d more lines"):format(#lines - limit), "RedlineMuted")
      break
    end
    put(shown, "    " .. line, group)
  end
end

---@param shown redline.ShownEntry
---@param name string
---@param value string
---@param link? redline.Link
local function put_fact(shown, name, value, link)
  put(shown, ("    %-8s %s"):format(name, value), nil, link)
  local row = #shown.lines
  shown.marks[#shown.marks + 1] = { row, 4, 4 + math.max(8, #name), "RedlineMuted" }
end

---Facts that have to be read exactly. Behind a blank line markdown takes them for code, and hides none of it.
---@param shown redline.ShownEntry
---@param facts { [1]: string, [2]: string }[]
---@param link? redline.Link
local function put_facts(shown, facts, link)
  put(shown, "")
  for _, fact in ipairs(facts) do
    put_fact(shown, fact[1], fact[2], link)
  end
end

---@param seconds integer
---@return string
function M.span(seconds)
  if seconds < 90 then
    return ("%d s"):format(math.max(0, seconds))
  elseif seconds < 5400 then
    return ("%d min"):format(math.floor(seconds / 60 + 0.5))
  elseif seconds < 172800 then
    return ("%d h"):format(math.floor(seconds / 3600 + 0.5))
  end
  return ("%d days"):format(math.floor(seconds / 86400 + 0.5))
end

---What an approval is about, exactly: for the conversation and for a question alike.
---@param approval redline.Approval
---@return { [1]: string, [2]: string }[] names and values
function M.approval_facts(approval)
  local facts = {}
  if approval.command then
    facts[#facts + 1] = { "runs", quote.argv(approval.command) }
    if approval.program and approval.program ~= approval.command[1] then
      facts[#facts + 1] = { "program", quote.line(approval.program) }
    end
    facts[#facts + 1] = { "in", quote.line(approval.cwd and approval.cwd ~= "" and approval.cwd or ".") }
  else
    facts[#facts + 1] = { "would", quote.line(approval.summary) }
  end
  for _, path in ipairs(approval.paths or {}) do
    facts[#facts + 1] = { "path", quote.line(path) }
  end
  for _, host in ipairs(approval.hosts or {}) do
    facts[#facts + 1] = { "host", quote.line(host) }
  end
  facts[#facts + 1] = {
    "effect",
    ("%s; %s"):format(KIND_WORDS[approval.kind] or approval.kind, CLASS_WORDS[approval.class] or approval.class),
  }
  if approval.why and approval.why ~= "" then
    facts[#facts + 1] = { "asked", quote.line(approval.why) }
  end
  return facts
end

---@param approval redline.Approval
---@return string
function M.approval_state(approval)
  local by = approval.decidedBy and (" by " .. approval.decidedBy) or ""
  local because = approval.reason and approval.reason ~= "" and (": " .. quote.line(approval.reason)) or ""
  local words = {
    pending = "waits for your approval",
    approved = "approved" .. by,
    denied = "denied" .. by .. because,
    spent = "approved" .. by,
    expired = "nobody decided in time",
    void = "void: what it was about has changed",
    withdrawn = "withdrawn: its turn has ended",
  }
  return words[approval.state] or approval.state
end

---@param shown redline.ShownEntry
---@param approval redline.Approval
local function put_approval(shown, approval)
  local link = { kind = "approval", approval = approval.id }
  put_facts(shown, M.approval_facts(approval), link)
  put_fact(shown, "until", vim.fn.strftime("%H:%M", approval.expiresAt), link)
  put(shown, "    ga approve · gx deny · gX deny and say why", "RedlineInfo", link)
end

---@param transaction redline.Transaction
---@param only? table<string, true> ids of hunks; absent means all
---@return { hunk: redline.Hunk, path: string }[]
local function hunks_of(transaction, only)
  local found = {}
  for _, file in ipairs(transaction.files) do
    for _, hunk in ipairs(file.hunks) do
      if not only or only[hunk.id] then
        found[#found + 1] = { hunk = hunk, path = file.path }
      end
    end
  end
  return found
end

---Counts of hunks in words: `2 pending, 1 accepted`.
---@param hunks { hunk: redline.Hunk }[]
---@return string
local function counted(hunks)
  local counts, order = {}, { "pending", "conflict", "accepted", "rejected", "withdrawn" }
  for _, each in ipairs(hunks) do
    counts[each.hunk.state] = (counts[each.hunk.state] or 0) + 1
  end
  local parts = {}
  for _, state in ipairs(order) do
    if counts[state] then
      parts[#parts + 1] = ("%d %s"):format(counts[state], state)
    end
  end
  return table.concat(parts, ", ")
end

---@param shown redline.ShownEntry
---@param transaction_id string
---@param hunks { hunk: redline.Hunk, path: string }[]
local function put_hunks(shown, transaction_id, hunks)
  for _, each in ipairs(hunks) do
    local hunk = each.hunk
    local why = hunk.rationale and hunk.rationale ~= "" and (" · " .. hunk.rationale:gsub("%s+", " ")) or ""
    put(
      shown,
      ("    %s:%d +%d −%d · %s%s"):format(each.path, hunk.startLine, #hunk.added, #hunk.removed, hunk.state, why),
      "RedlineLink",
      { kind = "hunk", transaction = transaction_id, hunk = hunk.id }
    )
  end
end

---@param shown redline.ShownEntry
---@param title string
---@param state string
---@param group string
---@param link? redline.Link
local function put_title(shown, title, state, group, link)
  local text = ("▸ %s · %s"):format(quote.line(title), state)
  put(shown, text, "RedlineTool", link)
  local row = #shown.lines
  shown.marks[#shown.marks + 1] = { row, #text - #state, #text, group }
end

---The arguments of a call, but for edits, whose hunks say it better.
---@param shown redline.ShownEntry
---@param tool redline.ToolCallUpdate
local function put_arguments(shown, tool)
  for name, value in vim.spairs(tool.rawInput) do
    local text = type(value) == "string" and value or vim.json.encode(value)
    if tool.kind ~= "edit" or type(value) ~= "table" then
      local long = #text > MAX_ARGUMENT
      put_fact(
        shown,
        quote.line(tostring(name)),
        quote.line(long and text:sub(1, MAX_ARGUMENT) or text) .. (long and " …" or "")
      )
    end
  end
end

---@param entry redline.Entry
---@param context redline.EntryContext
---@return redline.ShownEntry
local function call(entry, context)
  local shown, tool = empty(), entry.call
  local approval = tool._approvalId and context.approval(tool._approvalId) or nil
  local waits = approval and approval.state == "pending"
  local status = tool.status or "pending"
  local state, group = STATE_WORDS[status] or status, STATE_GROUPS[status] or "RedlineMuted"
  local details, link, hunks = {}, nil, {}
  local job = context.job_of(tool.toolCallId)
  for _, content in ipairs(tool.content or {}) do
    if content.type == "_transaction" then
      local transaction = context.transaction(content.transactionId)
      if transaction then
        local only = {}
        for _, id in ipairs(content.hunkIds) do
          only[id] = true
        end
        hunks = hunks_of(transaction, #content.hunkIds > 0 and only or nil)
        if #hunks > 0 then
          state = counted(hunks)
          group = state:find("pending", 1, true) and "RedlineInfo" or "RedlineMuted"
        end
        hunks.id = content.transactionId
        link = { kind = "transaction", transaction = content.transactionId }
      end
    elseif content.type == "terminal" then
      job = context.job(content.terminalId) or job
      link = { kind = "job", job = content.terminalId }
    elseif content.content and content.content.type == "text" then
      if status == "failed" then
        local first = vim.split(content.content.text, "\n")[1]
        state = state ~= STATE_WORDS.failed and state or ("failed: " .. quote.line(first))
      end
      details[#details + 1] = { content.content.text }
    end
  end
  if job then
    link = { kind = "job", job = job.id }
    table.insert(details, 1, { "output: " .. require("redline.job").state(job), "RedlineLink", link })
    state = job.state == "running" and status ~= "pending" and require("redline.job").state(job) or state
  end
  local place = tool.locations and tool.locations[1]
  if place and not link then
    link = { kind = "place", path = place.path, line = place.line }
  end
  if waits then
    ---@cast approval redline.Approval
    put_title(shown, tool.title or tool._tool or "tool", M.approval_state(approval), "RedlineWaits", {
      kind = "approval",
      approval = approval.id,
    })
    put_approval(shown, approval)
    return shown
  elseif approval and (status == "pending" or approval.state ~= "spent") then
    state = M.approval_state(approval)
  end
  put_title(shown, tool.title or tool._tool or "tool", state, group, link)
  put_hunks(shown, hunks.id, hunks)
  if approval then
    put_facts(shown, M.approval_facts(approval))
  elseif #hunks == 0 and type(tool.rawInput) == "table" then
    put_arguments(shown, tool)
  end
  for _, detail in ipairs(details) do
    if detail[3] then
      put(shown, "    " .. detail[1], detail[2], detail[3])
    else
      put_block(shown, detail[1], "RedlineMuted", MAX_DETAIL)
    end
  end
  shown.fold = #shown.lines > 1 and 1 or nil
  return shown
end

---@param entry redline.Entry
---@return redline.ShownEntry
local function thought(entry)
  local shown = empty()
  local text = vim.trim(table.concat(entry.pieces))
  local _, n_words = text:gsub("%S+", "")
  put_title(shown, "reasoning", ("%d words"):format(n_words), "RedlineMuted")
  put_block(shown, text, "RedlineMuted")
  shown.fold = #shown.lines > 1 and 1 or nil
  return shown
end

---@param entry redline.Entry
---@return redline.ShownEntry
local function list(entry)
  local shown = empty()
  local n_done = 0
  for _, item in ipairs(entry.items) do
    n_done = n_done + (item.status == "completed" and 1 or 0)
  end
  put(shown, ("Plan · %d of %d done"):format(n_done, #entry.items), "RedlineTool")
  for _, item in ipairs(entry.items) do
    local done = item.status == "completed"
    local now = item.status == "in_progress" and " · under way" or ""
    put(shown, ("- [%s] %s%s"):format(done and "x" or " ", item.content, now), done and "RedlineMuted" or nil)
  end
  return shown
end

---@param entry redline.Entry
---@param context redline.EntryContext
---@return redline.ShownEntry
local function plan(entry, context)
  local shown, found = empty(), context.plan(entry.plan_id)
  if not found then
    put_title(shown, "plan", "not known any more", "RedlineMuted")
    return shown
  end
  local link = { kind = "plan", plan = found.id }
  local waits = found.state == "proposed"
  local state = require("redline.plan").state(found)
  put_title(shown, "plan: " .. found.title, state, waits and "RedlineWaits" or "RedlineMuted", link)
  put_facts(shown, require("redline.plan").facts(found), link)
  if waits then
    put(shown, "    <CR> read · ga accept · gx reject · gX reject and say why", "RedlineInfo", link)
  else
    shown.fold = #shown.lines > 1 and 1 or nil
  end
  return shown
end

---@param n integer
---@return string `950`, `12.3k`, `1.2M`
function M.tokens(n)
  if n < 1000 then
    return tostring(n)
  elseif n < 999950 then
    return (("%.1fk"):format(n / 1000):gsub("%.0k", "k"))
  end
  return (("%.1fM"):format(n / 1000000):gsub("%.0M", "M"))
end

---@param cost redline.Cost
---@return string
function M.money(cost)
  local unit = cost.currency == "USD" and "$" or (cost.currency .. " ")
  return ("%s%.2f"):format(unit, cost.amount)
end

---@param entry redline.Entry
---@param context redline.EntryContext
---@return redline.ShownEntry
local function ended(entry, context)
  local shown, update = empty(), entry.ended
  local reason = update.stopReason or "end_turn"
  local failed = update._error ~= nil
  local parts = { END_WORDS[reason] or (reason:gsub("^_", "")) }
  if failed then
    parts[1] = ("%s: %s: %s"):format(parts[1], update._error.code, quote.line(update._error.message))
  end
  if entry.n_calls > 0 then
    parts[#parts + 1] = require("redline.block").count(entry.n_calls, "tool call")
  end
  if entry.usage then
    local about = entry.usage._estimated and "about " or ""
    parts[#parts + 1] = ("%s%s in, %s out"):format(
      about,
      M.tokens(entry.usage._inputTokens),
      M.tokens(entry.usage._outputTokens)
    )
  end
  local transaction_id = context.turn_transaction(entry.turn_id)
  local transaction = transaction_id and context.transaction(transaction_id)
  put(shown, "■ " .. table.concat(parts, " · "), failed and "RedlineSignRemove" or "RedlineMuted")
  if failed and update._error.hint ~= "" then
    put(shown, "  " .. quote.line(update._error.hint))
  end
  if transaction then
    local hunks = hunks_of(transaction)
    local files = vim.tbl_map(function(file)
      return file.newPath or file.path
    end, transaction.files)
    local named = table.concat(vim.list_slice(files, 1, 3), ", ")
      .. (#files > 3 and (" and %d more"):format(#files - 3) or "")
    put(shown, ("  %s in %s"):format(counted(hunks), named), "RedlineLink", {
      kind = "transaction",
      transaction = transaction_id,
    })
  end
  return shown
end

---@param entry redline.Entry
---@return redline.ShownEntry
local function text(entry)
  local shown = empty()
  local joined = table.concat(entry.pieces)
  for _, line in ipairs(vim.split((joined:gsub("\r\n", "\n")), "\n", { plain = true })) do
    put(shown, line)
  end
  return shown
end

---Kinds that stand under each other without a blank line.
local COMPACT = { call = true, thought = true }

---Whether a blank line stands before an entry.
---@param entry redline.Entry
---@param before? redline.Entry
---@return boolean
function M.spaced(entry, before)
  return not (before and COMPACT[entry.kind] and COMPACT[before.kind])
end

---The line that closes a code block which the text leaves open, if it does.
---@param lines string[]
---@return string?
function M.open_fence(lines)
  local fence
  for _, line in ipairs(lines) do
    local mark = line:match("^ ? ? ?(```+)") or line:match("^ ? ? ?(~~~+)")
    if mark and not fence then
      fence = mark
    elseif mark and mark:sub(1, 1) == fence:sub(1, 1) and #mark >= #fence and line:match("^%s*[`~]+%s*$") then
      fence = nil
    end
  end
  return fence
end

---Builds what an entry shows.
---@param entry redline.Entry
---@param context redline.EntryContext
---@return redline.ShownEntry
function M.build(entry, context)
  local kind = entry.kind
  local shown
  if kind == "user" then
    shown = empty()
    put(shown, "## You")
    put(shown, "")
    for _, line in ipairs(vim.split(vim.trim(table.concat(entry.pieces)), "\n", { plain = true })) do
      put(shown, line)
    end
    local fence = M.open_fence(shown.lines)
    if fence then
      put(shown, fence)
    end
  elseif kind == "agent" then
    shown = empty()
    local model = entry.model and entry.model:match("[^/]+$") or "Redline"
    put(shown, ("## %s · turn %d"):format(quote.line(model), entry.number))
  elseif kind == "call" then
    shown = call(entry, context)
  elseif kind == "thought" then
    shown = thought(entry)
  elseif kind == "list" then
    shown = list(entry)
  elseif kind == "plan" then
    shown = plan(entry, context)
  elseif kind == "end" then
    shown = ended(entry, context)
  elseif kind == "notice" then
    shown = empty()
    local word = entry.level == "warning" and "Warning: " or "Note: "
    put(shown, word .. quote.line(entry.pieces[1]), entry.level == "warning" and "RedlineWaits" or "RedlineMuted")
  elseif kind == "decisions" then
    shown = empty()
    put_title(shown, "your decisions", "told to the model", "RedlineMuted")
    put_block(shown, entry.pieces[1], "RedlineMuted")
    shown.fold = #shown.lines > 1 and 1 or nil
  else
    shown = text(entry)
  end
  shown.n = #shown.lines
  return shown
end

return M
