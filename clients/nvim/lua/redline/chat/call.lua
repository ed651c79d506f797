---What a tool call looks like: how far it is, what it waits for, what it proposed.
local M = {}

local build = require("redline.chat.lines")
local quote = require("redline.chat.quote")
local words = require("redline.chat.words")

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

---@param shown redline.ShownEntry
---@param approval redline.Approval
local function put_approval(shown, approval)
  local link = { kind = "approval", approval = approval.id }
  build.facts(shown, words.approval_facts(approval), link)
  local soon = approval.expiresAt - os.time() < 12 * 3600
  build.fact(shown, "until", vim.fn.strftime(soon and "%H:%M" or "%a %d %b, %H:%M", approval.expiresAt), link)
  build.line(shown, "    ga approve · gx deny · gX deny and say why", "RedlineInfo", link)
end

---@param transaction redline.Transaction
---@param only? table<string, true> ids of hunks; absent means all
---@return { hunk: redline.Hunk, path: string }[]
function M.hunks_of(transaction, only)
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
function M.counted(hunks)
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
    build.line(
      shown,
      ("    %s:%d +%d −%d · %s%s"):format(each.path, hunk.startLine, #hunk.added, #hunk.removed, hunk.state, why),
      "RedlineLink",
      { kind = "hunk", transaction = transaction_id, hunk = hunk.id }
    )
  end
end

---The arguments of a call, but for edits, whose hunks say it better.
---@param shown redline.ShownEntry
---@param tool redline.ToolCallUpdate
local function put_arguments(shown, tool)
  for name, value in vim.spairs(tool.rawInput) do
    local text = type(value) == "string" and value or vim.json.encode(value)
    if tool.kind ~= "edit" or type(value) ~= "table" then
      local long = #text > MAX_ARGUMENT
      build.fact(
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
function M.build(entry, context)
  local shown, tool = build.empty(), entry.call
  local approval = tool._approvalId and context.approval(tool._approvalId) or nil
  local waits = approval and approval.state == "pending"
  -- An approval says what exactly would happen; before it runs, the call's own title is only the tool's name.
  local title = approval and approval.summary or tool.title or tool._tool or "tool"
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
        hunks = M.hunks_of(transaction, #content.hunkIds > 0 and only or nil)
        if #hunks > 0 then
          state = M.counted(hunks)
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
    build.title(shown, title, words.approval_state(approval), "RedlineWaits", {
      kind = "approval",
      approval = approval.id,
    })
    put_approval(shown, approval)
    return shown
  elseif approval and (status == "pending" or approval.state ~= "spent") then
    state = words.approval_state(approval)
  end
  build.title(shown, title, state, group, link)
  put_hunks(shown, hunks.id, hunks)
  if approval then
    build.facts(shown, words.approval_facts(approval))
  elseif #hunks == 0 and type(tool.rawInput) == "table" then
    put_arguments(shown, tool)
  end
  for _, detail in ipairs(details) do
    if detail[3] then
      build.line(shown, "    " .. detail[1], detail[2], detail[3])
    else
      build.block(shown, detail[1], "RedlineMuted", MAX_DETAIL)
    end
  end
  shown.fold = #shown.lines > 1 and 1 or nil
  return shown
end

return M
