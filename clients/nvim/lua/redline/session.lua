---Conversations: which there are, which one is current, what the user asks of them. No UI.
---
---They are kept by project and not by language client, since they outlive both clients and sidecars.
local M = {}

local transcripts = require("redline.chat.transcript")
local method = require("redline.protocol").method

---@class (exact) redline.About
---@field name string for people
---@field context redline.PromptContext

---@class (exact) redline.Conversation
---@field root string
---@field session_id? string absent until something is asked
---@field title? string
---@field model? string
---@field mode? redline.Mode
---@field state redline.SessionState
---@field activity? string what the turn does
---@field turn_id? string
---@field usage? redline.UsageUpdate
---@field ended? { reason: string, message?: string } of the last turn
---@field loading boolean its history arrives
---@field stale boolean what arrives next takes the place of what is shown
---@field transcript redline.Transcript
---@field about? redline.About what the next prompt is about

---@type table<string, { current?: redline.Conversation, all: redline.Conversation[] }> by root
local projects = {}

---@param root string
local function project(root)
  projects[root] = projects[root] or { all = {} }
  return projects[root]
end

---@param root string
---@return redline.Conversation
local function make(root)
  ---@type redline.Conversation
  local conversation = { root = root, state = "idle", loading = false, stale = false, transcript = transcripts.new() }
  table.insert(project(root).all, conversation)
  return conversation
end

---The conversation that prompts of a project go to; made when there is none.
---@param root string
---@return redline.Conversation
function M.current(root)
  local here = project(root)
  here.current = here.current or make(root)
  return here.current
end

---@param root string
---@return redline.Conversation?
function M.present(root)
  return projects[root] and projects[root].current
end

---The current conversation of a language client, if there is one.
---@param client_id integer
---@return redline.Conversation?
function M.get(client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  return client and M.present(require("redline.lsp").root_of(client))
end

---@param root string
---@param session_id string
---@return redline.Conversation?
local function find(root, session_id)
  for _, conversation in ipairs(project(root).all) do
    if conversation.session_id == session_id then
      return conversation
    end
  end
end

---@param conversation redline.Conversation
---@return vim.lsp.Client?
function M.client(conversation)
  return require("redline.lsp").client_of(conversation.root)
end

---What status lines show of each conversation: most updates are text, and change nothing there.
---@type table<redline.Conversation, string>
local published = setmetatable({}, { __mode = "k" })

---@param conversation redline.Conversation
local function changed(conversation)
  require("redline.chat").update(conversation)
  local shown = table.concat({
    conversation.state,
    conversation.activity or "",
    conversation.mode or "",
    conversation.model or "",
    tostring(conversation.loading),
  }, "\0")
  if published[conversation] ~= shown then
    published[conversation] = shown
    require("redline.status").publish(conversation.root)
  end
end

---Tells the end of a turn, where the conversation does not show it.
---@param conversation redline.Conversation
local function tell_end(conversation)
  local ended = conversation.ended or {}
  if require("redline.chat").visible(conversation) then
    return
  end
  if ended.reason == "end_turn" then
    local answer = vim.split(transcripts.answer(conversation.transcript), "\n")
    if require("redline.config").get().notify then
      local more = #answer > 1 and " (:Redline chat shows all)" or ""
      vim.notify("redline: " .. (answer[1] ~= "" and answer[1] or "done") .. more, vim.log.levels.INFO)
    end
    return
  end
  local level = ended.reason == "cancelled" and vim.log.levels.INFO or vim.log.levels.ERROR
  local reason = (ended.reason or "_error"):gsub("^_", ""):gsub("_", " ")
  vim.notify(("redline: the turn ended: %s"):format(ended.message or reason), level)
end

---@param conversation redline.Conversation
---@param update redline.StateUpdate
local function take_state(conversation, update)
  conversation.state = update.state
  if update.state == "idle" then
    conversation.activity = nil
    if update.stopReason then
      local failure = update._error
      local message = failure and (failure.message .. (failure.hint ~= "" and ("\n" .. failure.hint) or ""))
      conversation.ended = { reason = update.stopReason, message = message }
    end
  elseif update.state == "running" then
    conversation.ended = nil
  end
end

---@param conversation redline.Conversation
---@param turn_id? string
---@param update redline.SessionUpdate
---@return boolean ended a turn ended, now
local function take(conversation, turn_id, update)
  local kind = update.sessionUpdate
  if kind == "state_update" then
    take_state(conversation, update)
  elseif kind == "usage_update" then
    conversation.usage = vim.tbl_extend("force", conversation.usage or {}, update)
  elseif kind == "current_mode_update" then
    local before = conversation.mode
    conversation.mode = update.currentModeId
    if before and before ~= conversation.mode then
      transcripts.notice(conversation.transcript, "info", "the mode is now " .. conversation.mode, turn_id)
    end
  elseif kind == "current_model_update" then
    local before = conversation.model
    conversation.model = update.currentModelId
    -- Read again, each turn says who answered it.
    if before and before ~= conversation.model and not conversation.loading then
      transcripts.notice(conversation.transcript, "info", "the model is now " .. conversation.model, turn_id)
    end
  elseif kind == "session_info_update" then
    conversation.title = update.title or conversation.title
  elseif kind == "tool_call_update" then
    if update.status == "in_progress" then
      conversation.activity = update.title or update._tool
    elseif update.status then
      conversation.activity = nil
    end
  elseif kind == "replay_complete" then
    conversation.loading = false
  end
  local model = conversation.model or require("redline.status").model(conversation.root)
  transcripts.apply(conversation.transcript, turn_id, update, model)
  return kind == "state_update" and update.state == "idle" and update.stopReason ~= nil and not conversation.loading
end

---Takes over a batch of updates.
---@param root string
---@param params redline.SessionUpdateNotification
function M.update(root, params)
  local conversation = find(root, params.sessionId)
  if not conversation then
    -- Begun elsewhere for this editor, by a code action or another command.
    local present = project(root).current
    conversation = present and not present.session_id and present or make(root)
    conversation.session_id = params.sessionId
    project(root).current = project(root).current or conversation
  end
  if conversation.stale then
    conversation.stale = false
    conversation.transcript, conversation.usage, conversation.activity = transcripts.new(), nil, nil
    require("redline.chat").reset(conversation)
  end
  local ended = false
  for _, update in ipairs(params.updates) do
    if params.turnId and params.turnId ~= conversation.turn_id then
      conversation.turn_id = params.turnId
    end
    ended = take(conversation, params.turnId, update) or ended
  end
  changed(conversation)
  if ended then
    tell_end(conversation)
  end
end

---Variables that are this editor's own and mean nothing to a program of the session.
local OWN =
  { NVIM = true, NVIM_LISTEN_ADDRESS = true, NVIM_LOG_FILE = true, VIM = true, VIMRUNTIME = true, MYVIMRC = true }

---@return table<string, string>
local function environment()
  local env = {}
  for name, value in pairs(vim.fn.environ()) do
    if not OWN[name] then
      env[name] = value
    end
  end
  return env
end

---Does something with the session of a conversation, which is made when there is none.
---@param conversation redline.Conversation
---@param on_done fun(err?: redline.Error)
local function with_session(conversation, on_done)
  local lsp = require("redline.lsp")
  local client = M.client(conversation)
  if not client then
    return on_done(lsp.GONE)
  elseif conversation.session_id then
    return on_done()
  end
  local params = { model = conversation.model, mode = conversation.mode, env = environment() }
  lsp.request(client, method.SESSION_NEW, params, function(err, result)
    if result then
      conversation.session_id = conversation.session_id or result.sessionId
    end
    on_done(err)
  end)
end

---Sends a prompt.
---@param conversation redline.Conversation
---@param text string
---@param context? redline.PromptContext
---@param on_done? fun(err?: redline.Error) the prompt was accepted, or not
function M.send(conversation, text, context, on_done)
  local lsp = require("redline.lsp")
  local function done(err)
    if err then
      conversation.state, conversation.activity = "idle", nil
      conversation.ended = { reason = "_error", message = err.message }
      changed(conversation)
      lsp.report(err)
    end
    if on_done then
      on_done(err)
    end
  end
  local was_idle = conversation.state == "idle"
  if was_idle then
    conversation.state, conversation.activity, conversation.ended = "running", "asking", nil
    changed(conversation)
  end
  with_session(conversation, function(failure)
    if failure then
      return done(failure)
    end
    local client = M.client(conversation)
    if not client then
      return done(lsp.GONE)
    end
    local params = { sessionId = conversation.session_id, text = text, context = context }
    lsp.request(client, method.SESSION_PROMPT, params, function(err, result)
      if result then
        if result.turnId ~= "" then
          conversation.turn_id = result.turnId
        elseif was_idle then
          conversation.state, conversation.activity = "idle", nil
        end
        if result.message and result.message ~= "" then
          transcripts.notice(conversation.transcript, "info", result.message)
        end
        changed(conversation)
      end
      done(err)
    end)
  end)
end

---The root of what the user works on; says so when Redline is not attached.
---@return string?
function M.root_here()
  local board = require("redline.chat").board(vim.api.nvim_get_current_buf())
  if board then
    return board.conversation.root
  end
  local client = require("redline.review").client_here()
  return client and require("redline.lsp").root_of(client)
end

---The conversation that the user means: the one shown here, else the current one of the project.
---@return redline.Conversation?
function M.here()
  local board = require("redline.chat").board(vim.api.nvim_get_current_buf())
  local root = board and board.conversation.root or M.root_here()
  return board and board.conversation or (root and M.current(root)) or nil
end

---Stops the turn that runs.
function M.cancel()
  local conversation = M.here()
  local client = conversation and M.client(conversation)
  if not conversation or not client then
    return
  end
  local lsp = require("redline.lsp")
  lsp.request(client, method.SESSION_CANCEL, { sessionId = conversation.session_id }, function(err)
    if err then
      lsp.report(err)
    end
  end)
end

---Begins another conversation, which takes the prompts of the project from now on.
---@param root string
---@return redline.Conversation
function M.begin(root)
  local conversation = make(root)
  project(root).current = conversation
  return conversation
end

---Takes part in a session: its history is sent, and what happens from now on.
---@param root string
---@param session_id string
---@param on_done? fun(err?: redline.Error)
---@return redline.Conversation
function M.load(root, session_id, on_done)
  local lsp = require("redline.lsp")
  local conversation = find(root, session_id) or make(root)
  -- What is shown stays until its history arrives, or for good when it does not.
  conversation.session_id, conversation.loading, conversation.stale = session_id, true, true
  local function done(err)
    conversation.loading, conversation.stale = false, false
    if err then
      -- What was running is not known to run any more.
      conversation.state, conversation.activity = "idle", nil
      transcripts.notice(conversation.transcript, "warning", "this conversation could not be loaded: " .. err.message)
      lsp.report(err)
    end
    changed(conversation)
    if on_done then
      on_done(err)
    end
  end
  local client = M.client(conversation)
  if not client then
    done(lsp.GONE)
    return conversation
  end
  lsp.request(client, method.SESSION_LOAD, { sessionId = session_id }, function(err, result)
    ---@cast result redline.LoadSessionResult
    if result then
      local info = result.session
      conversation.title, conversation.model, conversation.mode = info.title, info.model, info.mode
      conversation.state = info.state
      if result.repaired then
        transcripts.notice(conversation.transcript, "warning", result.repaired)
      end
      for _, name in ipairs({ "approval", "plan", "job" }) do
        require("redline." .. name).refresh(root)
      end
    end
    done(err)
  end)
  return conversation
end

---Makes a conversation the one that prompts go to.
---@param conversation redline.Conversation
function M.choose(conversation)
  project(conversation.root).current = conversation
  require("redline.status").publish(conversation.root)
end

---Takes part again in what this editor showed, after the sidecar or the client was replaced.
---@param root string
function M.reattach(root)
  for _, conversation in ipairs(projects[root] and projects[root].all or {}) do
    if conversation.session_id then
      M.load(root, conversation.session_id)
    elseif conversation.state ~= "idle" then
      conversation.state, conversation.activity = "idle", nil
      changed(conversation)
    end
  end
end

return M
