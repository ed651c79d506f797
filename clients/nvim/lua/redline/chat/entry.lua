---What an entry of a conversation looks like: its lines, what is marked in them, where they lead. Draws nothing.
local M = {}

local build = require("redline.chat.lines")
local calls = require("redline.chat.call")
local quote = require("redline.chat.quote")
local words = require("redline.chat.words")

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

---@param entry redline.Entry
---@return redline.ShownEntry
local function thought(entry)
  local shown = build.empty()
  local text = vim.trim(table.concat(entry.pieces))
  local _, n_words = text:gsub("%S+", "")
  build.title(shown, "reasoning", ("%d words"):format(n_words), "RedlineMuted")
  build.block(shown, text, "RedlineMuted")
  shown.fold = #shown.lines > 1 and 1 or nil
  return shown
end

---@param entry redline.Entry
---@return redline.ShownEntry
local function list(entry)
  local shown = build.empty()
  local n_done = 0
  for _, item in ipairs(entry.items) do
    n_done = n_done + (item.status == "completed" and 1 or 0)
  end
  build.line(shown, ("Plan · %d of %d done"):format(n_done, #entry.items), "RedlineTool")
  for _, item in ipairs(entry.items) do
    local done = item.status == "completed"
    local now = item.status == "in_progress" and " · under way" or ""
    build.line(shown, ("- [%s] %s%s"):format(done and "x" or " ", item.content, now), done and "RedlineMuted" or nil)
  end
  return shown
end

---@param entry redline.Entry
---@param context redline.EntryContext
---@return redline.ShownEntry
local function plan(entry, context)
  local shown, found = build.empty(), context.plan(entry.plan_id)
  if not found then
    build.title(shown, "plan", "not known any more", "RedlineMuted")
    return shown
  end
  local link = { kind = "plan", plan = found.id }
  local waits = found.state == "proposed"
  local state = require("redline.plan").state(found)
  build.title(shown, "plan: " .. found.title, state, waits and "RedlineWaits" or "RedlineMuted", link)
  build.facts(shown, require("redline.plan").facts(found), link)
  if waits then
    build.line(shown, "    <CR> read · ga accept · gx reject · gX reject and say why", "RedlineInfo", link)
  else
    shown.fold = #shown.lines > 1 and 1 or nil
  end
  return shown
end

---@param entry redline.Entry
---@param context redline.EntryContext
---@return redline.ShownEntry
local function ended(entry, context)
  local shown, update = build.empty(), entry.ended
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
      words.tokens(entry.usage._inputTokens),
      words.tokens(entry.usage._outputTokens)
    )
  end
  local transaction_id = context.turn_transaction(entry.turn_id)
  local transaction = transaction_id and context.transaction(transaction_id)
  build.line(shown, "■ " .. table.concat(parts, " · "), failed and "RedlineSignRemove" or "RedlineMuted")
  if failed and update._error.hint ~= "" then
    build.line(shown, "  " .. quote.line(update._error.hint))
  end
  if transaction then
    local hunks = calls.hunks_of(transaction)
    local files = vim.tbl_map(function(file)
      return file.newPath or file.path
    end, transaction.files)
    local named = table.concat(vim.list_slice(files, 1, 3), ", ")
      .. (#files > 3 and (" and %d more"):format(#files - 3) or "")
    build.line(shown, ("  %s in %s"):format(calls.counted(hunks), named), "RedlineLink", {
      kind = "transaction",
      transaction = transaction_id,
    })
  end
  return shown
end

---@param entry redline.Entry
---@return redline.ShownEntry
local function text(entry)
  local shown = build.empty()
  local joined = table.concat(entry.pieces)
  for _, line in ipairs(vim.split((joined:gsub("\r\n", "\n")), "\n", { plain = true })) do
    build.line(shown, line)
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
    shown = build.empty()
    build.line(shown, "## You")
    build.line(shown, "")
    for _, line in ipairs(vim.split(vim.trim(table.concat(entry.pieces)), "\n", { plain = true })) do
      build.line(shown, line)
    end
    local fence = M.open_fence(shown.lines)
    if fence then
      build.line(shown, fence)
    end
  elseif kind == "agent" then
    shown = build.empty()
    local model = entry.model and entry.model:match("[^/]+$") or "Redline"
    build.line(shown, ("## %s · turn %d"):format(quote.line(model), entry.number))
  elseif kind == "call" then
    shown = calls.build(entry, context)
  elseif kind == "thought" then
    shown = thought(entry)
  elseif kind == "list" then
    shown = list(entry)
  elseif kind == "plan" then
    shown = plan(entry, context)
  elseif kind == "end" then
    shown = ended(entry, context)
  elseif kind == "notice" then
    shown = build.empty()
    local word = entry.level == "warning" and "Warning: " or "Note: "
    build.line(
      shown,
      word .. quote.line(entry.pieces[1]),
      entry.level == "warning" and "RedlineWaits" or "RedlineMuted"
    )
  elseif kind == "decisions" then
    shown = build.empty()
    build.title(shown, "your decisions", "told to the model", "RedlineMuted")
    build.block(shown, entry.pieces[1], "RedlineMuted")
    shown.fold = #shown.lines > 1 and 1 or nil
  else
    shown = text(entry)
  end
  shown.n = #shown.lines
  return shown
end

return M
