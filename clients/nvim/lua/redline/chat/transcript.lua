---What was said and done in a conversation: entries, in order. Pure: knows no buffer and asks nobody.
local M = {}

---@alias redline.EntryKind "user"|"agent"|"answer"|"thought"|"call"|"list"|"plan"|"notice"|"decisions"|"end"

---@class (exact) redline.Entry
---@field kind redline.EntryKind
---@field key string unique in the transcript
---@field turn_id? string
---@field number? integer of the turn, for `agent`
---@field model? string for `agent`
---@field pieces? string[] the text, for kinds that have one
---@field level? redline.NoticeLevel
---@field call? redline.ToolCallUpdate all that is known of the call
---@field items? redline.PlanEntry[]
---@field plan_id? string
---@field ended? redline.StateUpdate
---@field usage? redline.UsageUpdate of the turn, for `end`
---@field n_calls? integer of the turn, for `end`
---@field fresh? integer pieces that are not drawn yet begin here; absent: draw it whole
---@field shown? redline.ShownEntry what the buffer holds of it

---@class (exact) redline.Transcript
---@field entries redline.Entry[]
---@field by_key table<string, redline.Entry>
---@field changed table<redline.Entry, true> drawn once, to be drawn again
---@field n_drawn integer entries that are in the buffer
---@field n_turns integer
---@field usage? redline.UsageUpdate
---@field transactions table<string, string> by turn

---@return redline.Transcript
function M.new()
  return { entries = {}, by_key = {}, changed = {}, n_drawn = 0, n_turns = 0, transactions = {} }
end

---@param transcript redline.Transcript
---@param entry redline.Entry
---@return redline.Entry
local function add(transcript, entry)
  transcript.entries[#transcript.entries + 1] = entry
  transcript.by_key[entry.key] = entry
  return entry
end

---Marks an entry as one to be drawn again.
---@param transcript redline.Transcript
---@param entry redline.Entry
function M.touch(transcript, entry)
  transcript.changed[entry] = true
end

---@param content redline.ContentBlock
---@return string
local function text_of(content)
  if content.type == "text" then
    -- No line of a buffer is given with NUL in it.
    return (content.text:gsub("%z", "␀"))
  end
  return ("[%s](%s)"):format(content.name ~= "" and content.name or content.uri, content.uri)
end

---@param transcript redline.Transcript
---@param kind "answer"|"thought"
---@param id string
---@param turn_id? string
---@param piece string
local function append(transcript, kind, id, turn_id, piece)
  local key = kind .. ":" .. id
  local entry = transcript.by_key[key]
  if entry then
    entry.pieces[#entry.pieces + 1] = piece
    M.touch(transcript, entry)
  else
    add(transcript, { kind = kind, key = key, turn_id = turn_id, pieces = { piece } })
  end
end

---@param transcript redline.Transcript
---@param turn_id? string
---@param update redline.ToolCallUpdate
local function take_call(transcript, turn_id, update)
  local key = "call:" .. update.toolCallId
  local entry = transcript.by_key[key]
  if not entry then
    entry = add(transcript, {
      kind = "call",
      key = key,
      turn_id = turn_id,
      call = { toolCallId = update.toolCallId },
    })
  end
  for name, value in pairs(update) do
    if name ~= "sessionUpdate" then
      entry.call[name] = value
    end
  end
  M.touch(transcript, entry)
end

---@param transcript redline.Transcript
---@param turn_id? string
---@param update redline.StateUpdate
local function take_end(transcript, turn_id, update)
  local n_calls = 0
  for i = #transcript.entries, 1, -1 do
    local entry = transcript.entries[i]
    if entry.turn_id ~= turn_id then
      break
    end
    n_calls = n_calls + (entry.kind == "call" and 1 or 0)
  end
  local key = "end:" .. (turn_id or #transcript.entries)
  if not transcript.by_key[key] then
    add(transcript, {
      kind = "end",
      key = key,
      turn_id = turn_id,
      ended = update,
      usage = transcript.usage,
      n_calls = n_calls,
    })
  end
end

---Says something that is no part of the model's or the user's words.
---@param transcript redline.Transcript
---@param level redline.NoticeLevel
---@param text string
---@param turn_id? string
function M.notice(transcript, level, text, turn_id)
  local key = "notice:" .. #transcript.entries
  add(transcript, { kind = "notice", key = key, turn_id = turn_id, level = level, pieces = { text } })
end

---Shows a plan where the conversation stands now, once.
---@param transcript redline.Transcript
---@param plan_id string
---@param turn_id? string
function M.plan(transcript, plan_id, turn_id)
  local key = "plan:" .. plan_id
  local entry = transcript.by_key[key]
  if entry then
    M.touch(transcript, entry)
  else
    add(transcript, { kind = "plan", key = key, turn_id = turn_id, plan_id = plan_id })
  end
end

---Takes over one update.
---@param transcript redline.Transcript
---@param turn_id? string
---@param update redline.SessionUpdate
---@param model? string `PROVIDER/MODEL` that answers
function M.apply(transcript, turn_id, update, model)
  local kind = update.sessionUpdate
  if kind == "user_message" then
    local key = "user:" .. update.messageId
    if not transcript.by_key[key] then
      local pieces = vim.tbl_map(text_of, update.content)
      transcript.n_turns = transcript.n_turns + 1
      transcript.usage = nil
      add(transcript, { kind = "user", key = key, turn_id = turn_id, pieces = { table.concat(pieces, "\n") } })
      add(transcript, {
        kind = "agent",
        key = "agent:" .. update.messageId,
        turn_id = turn_id,
        number = transcript.n_turns,
        model = model,
      })
    end
  elseif kind == "agent_message_chunk" then
    append(transcript, "answer", update.messageId, turn_id, text_of(update.content))
  elseif kind == "agent_thought_chunk" then
    append(transcript, "thought", update.messageId, turn_id, text_of(update.content))
  elseif kind == "tool_call_update" then
    take_call(transcript, turn_id, update)
  elseif kind == "plan_update" then
    local key = "list:" .. update.plan.planId
    local entry = transcript.by_key[key]
    if entry then
      entry.items = update.plan.entries
      M.touch(transcript, entry)
    else
      add(transcript, { kind = "list", key = key, turn_id = turn_id, items = update.plan.entries })
    end
  elseif kind == "usage_update" then
    transcript.usage = update
  elseif kind == "state_update" and update.state == "idle" and update.stopReason then
    take_end(transcript, turn_id, update)
  elseif kind == "_decisions" then
    local key = "decisions:" .. #transcript.entries
    add(transcript, { kind = "decisions", key = key, turn_id = turn_id, pieces = { update.text } })
  elseif kind == "_notice" then
    M.notice(transcript, update.level, update.text, turn_id)
  elseif kind == "_transaction" and turn_id then
    transcript.transactions[turn_id] = update.transactionId
  end
end

---The text of the last answer of the latest turn.
---@param transcript redline.Transcript
---@return string
function M.answer(transcript)
  for i = #transcript.entries, 1, -1 do
    local entry = transcript.entries[i]
    if entry.kind == "answer" then
      return vim.trim(table.concat(entry.pieces))
    elseif entry.kind == "user" then
      return ""
    end
  end
  return ""
end

---Calls of the latest turn, in order.
---@param transcript redline.Transcript
---@return redline.ToolCallUpdate[]
function M.calls(transcript)
  local calls = {}
  for i = #transcript.entries, 1, -1 do
    local entry = transcript.entries[i]
    if entry.kind == "user" then
      break
    elseif entry.kind == "call" then
      table.insert(calls, 1, entry.call)
    end
  end
  return calls
end

return M
