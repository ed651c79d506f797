---The turn as it runs: what it says, what it does, how it ended.
local M = {}

local method = require("redline.protocol").method

---@class (exact) redline.Session
---@field session_id? string
---@field turn_id? string
---@field running boolean
---@field activity? string the tool call that runs
---@field text string[] pieces of the answer
---@field calls { id: string, title: string, status: string, detail?: string }[]
---@field usage? { inputTokens: integer, outputTokens: integer }
---@field ended? { reason: string, message?: string }

---@type table<integer, redline.Session> by client
local sessions = {}

---@param client_id integer
---@return redline.Session?
function M.get(client_id)
  return sessions[client_id]
end

---@param client_id integer
function M.forget(client_id)
  sessions[client_id] = nil
end

---@param session redline.Session
---@return string
function M.answer(session)
  return vim.trim(table.concat(session.text))
end

---@param client_id integer
---@param session redline.Session
local function tell_end(client_id, session)
  local ended = session.ended or {}
  if ended.reason == "done" then
    local answer = vim.split(M.answer(session), "\n")
    local text = answer[1] ~= "" and answer[1] or "done"
    local counts = require("redline.status")
    local more = #answer > 1 and " (:Redline status shows all)" or ""
    if require("redline.config").get().notify then
      vim.notify("redline: " .. text .. more, vim.log.levels.INFO)
    end
    counts.publish(client_id)
    return
  end
  local level = ended.reason == "cancelled" and vim.log.levels.INFO or vim.log.levels.ERROR
  vim.notify(("redline: the turn ended: %s"):format(ended.message or ended.reason), level)
end

---@param session redline.Session
---@param update redline.ToolCallUpdate
local function take_call(session, update)
  local call
  for _, known in ipairs(session.calls) do
    call = known.id == update.toolCallId and known or call
  end
  if not call then
    call = { id = update.toolCallId, title = "", status = "pending" }
    session.calls[#session.calls + 1] = call
  end
  call.title, call.status = update.title or call.title, update.status or call.status
  call.detail = nil
  for _, content in ipairs(call.status == "failed" and update.content or {}) do
    call.detail = call.detail or (content.content and content.content.text)
  end
  session.activity = call.status == "in_progress" and call.title or nil
end

---Takes over a batch of updates.
---@param client_id integer
---@param params redline.SessionUpdateNotification
function M.update(client_id, params)
  if not params.turnId then
    return
  end
  local session = sessions[client_id]
  if not session or session.turn_id ~= params.turnId then
    session = {
      session_id = params.sessionId,
      turn_id = params.turnId,
      running = true,
      text = {},
      calls = {},
    }
    sessions[client_id] = session
  end
  for _, update in ipairs(params.updates) do
    local kind = update.sessionUpdate
    if kind == "agent_message_chunk" then
      session.text[#session.text + 1] = update.content.text
    elseif kind == "tool_call_update" then
      take_call(session, update)
    elseif kind == "usage_update" then
      session.usage = { inputTokens = update._inputTokens, outputTokens = update._outputTokens }
    elseif kind == "state_update" and update.state == "idle" then
      session.running, session.activity = false, nil
      local reason = update.stopReason == "end_turn" and "done" or update.stopReason:gsub("^_", "")
      session.ended = { reason = reason, message = update._error and update._error.message }
      tell_end(client_id, session)
    end
  end
  require("redline.status").publish(client_id)
end

---@param client_id integer
---@return redline.Session
local function begin(client_id)
  sessions[client_id] = { running = true, activity = "asking", text = {}, calls = {} }
  require("redline.status").publish(client_id)
  return sessions[client_id]
end

---@param client vim.lsp.Client
---@param text string
---@param context? redline.PromptContext
local function prompt(client, text, context)
  local lsp = require("redline.lsp")
  local pending = begin(client.id)
  lsp.request(client, method.SESSION_PROMPT, { text = text, context = context }, function(err, result)
    local session = sessions[client.id]
    if err then
      if session == pending then
        session.running, session.ended = false, { reason = "error", message = err.message }
      end
      require("redline.status").publish(client.id)
      lsp.report(err)
    elseif session == pending then
      session.session_id, session.turn_id = result.sessionId, result.turnId
    end
  end)
end

---@param bufnr integer
---@param client vim.lsp.Client
---@param range? [integer, integer] 1-based lines
---@return redline.PromptContext?
local function context_of(bufnr, client, range)
  if not vim.lsp.buf_is_attached(bufnr, client.id) then
    return nil
  end
  return {
    uri = vim.uri_from_bufnr(bufnr),
    range = range and {
      start = { line = range[1] - 1, character = 0 },
      ["end"] = { line = range[2], character = 0 },
    } or nil,
  }
end

---Asks for a change. Without a text the user is asked for one.
---@param text string
---@param range? [integer, integer] 1-based lines that the prompt is about
function M.ask(text, range)
  local lsp = require("redline.lsp")
  local client, bufnr = lsp.any_client(), vim.api.nvim_get_current_buf()
  if not client then
    lsp.report({ code = "CLIENT_GONE", message = "Redline is not attached here", hint = "Open a file of the project, or see :checkhealth redline" })
    return
  end
  local context = context_of(bufnr, client, range)
  if text ~= "" then
    return prompt(client, text, context)
  end
  vim.ui.input({ prompt = range and ("Redline, lines %d-%d: "):format(range[1], range[2]) or "Redline: " }, function(input)
    if input and vim.trim(input) ~= "" then
      prompt(client, input, context)
    end
  end)
end

---Cancels the turn that runs.
function M.cancel()
  local lsp = require("redline.lsp")
  local client = lsp.any_client()
  if not client then
    return lsp.report({ code = "CLIENT_GONE", message = "Redline is not attached here", hint = ":checkhealth redline" })
  end
  local session = sessions[client.id]
  lsp.request(client, method.SESSION_CANCEL, { sessionId = session and session.session_id }, function(err)
    if err then
      lsp.report(err)
    end
  end)
end

return M
