---Choices of the user: sessions, models, modes. All through `vim.ui.select`.
local M = {}

local method = require("redline.protocol").method

---Sends a request about the workspace that the user works on.
---@param name string
---@param params table
---@param on_done fun(root: string, result: any)
local function request(name, params, on_done)
  local root = require("redline.session").root_here()
  if not root then
    return
  end
  local lsp = require("redline.lsp")
  local client = lsp.client_of(root)
  if not client then
    return lsp.report(lsp.GONE)
  end
  lsp.request(client, name, params, function(err, result)
    if err then
      lsp.report(err)
    else
      on_done(root, result)
    end
  end)
end

local STATES = { running = "● running", requires_action = "◆ waits for you", idle = "○" }

---@param info redline.SessionInfo
---@return string
function M.session_line(info)
  local words, quote = require("redline.chat.words"), require("redline.chat.quote")
  local parts = {
    ("%s %s"):format(STATES[info.state] or info.state, quote.line(info.title or "(nothing asked yet)")),
    require("redline.block").count(info.turns, "turn"),
    words.span(os.time() - info.updatedAt) .. " ago",
    info.model,
    info.mode,
  }
  return table.concat(parts, " · ")
end

---Goes on with a session: `:Redline sessions`.
---@param archived? boolean
function M.sessions(archived)
  request(method.SESSION_LIST, { archived = archived or false }, function(root, result)
    ---@cast result redline.ListSessionsResult
    if #result.sessions == 0 then
      return require("redline.review").say(
        archived and "nothing is put away" or "no session yet (:Redline ask, :Redline chat)"
      )
    end
    vim.ui.select(result.sessions, {
      prompt = archived and "Redline, sessions put away:" or "Redline, sessions:",
      kind = "redline.session",
      format_item = M.session_line,
    }, function(info)
      if not info then
        return
      elseif info.archived then
        M.archive(root, info.sessionId, false)
      end
      local session = require("redline.session")
      local conversation = session.load(root, info.sessionId)
      session.choose(conversation)
      require("redline.chat").open(conversation)
    end)
  end)
end

---Puts a session away, or brings it back.
---@param root string
---@param session_id string
---@param archived boolean
function M.archive(root, session_id, archived)
  local lsp = require("redline.lsp")
  local client = lsp.client_of(root)
  if not client then
    return lsp.report(lsp.GONE)
  end
  lsp.request(client, method.SESSION_ARCHIVE, { sessionId = session_id, archived = archived }, function(err)
    if err then
      lsp.report(err)
    else
      require("redline.review").say(
        archived and "session put away (:Redline sessions archived)" or "session brought back"
      )
    end
  end)
end

---The session that the user means; says so when it has none yet.
---@return redline.Conversation?
local function begun()
  local conversation = require("redline.session").here()
  if conversation and not conversation.session_id then
    require("redline.review").say("nothing was asked in this conversation yet")
    return nil
  end
  return conversation
end

---Puts the conversation shown here away: `:Redline archive`.
function M.archive_here()
  local conversation = begun()
  if conversation then
    M.archive(conversation.root, conversation.session_id, true)
  end
end

---Goes on from the conversation shown here in a new one with the same past: `:Redline fork`.
function M.fork()
  local conversation = begun()
  if not conversation then
    return
  end
  request(method.SESSION_FORK, { sessionId = conversation.session_id }, function(root, result)
    local session = require("redline.session")
    local fork = session.load(root, result.sessionId)
    session.choose(fork)
    require("redline.chat").open(fork)
  end)
end

local MODES = {
  { id = "manual", what = "everything but proposing edits waits for your approval" },
  { id = "plan", what = "nothing changes until you accept a plan; what it lists may then run" },
  { id = "auto", what = "what can be undone runs by itself" },
}

---@param mode redline.Mode
local function set_mode(mode)
  local conversation = require("redline.session").here()
  if not conversation then
    return
  end
  local params = { sessionId = conversation.session_id, modeId = mode }
  request(method.SESSION_SET_MODE, params, function(root, result)
    conversation.mode = result.modeId
    if not conversation.session_id then
      require("redline.status").update_mode(root, result.modeId)
    end
    require("redline.chat").update(conversation)
    require("redline.status").publish(root)
    require("redline.review").say("the mode is now " .. result.modeId)
  end)
end

---Sets the permission mode, or lets the user pick it: `:Redline mode`.
---@param mode? string
function M.mode(mode)
  if mode then
    return set_mode(mode)
  end
  local conversation = require("redline.session").here()
  if not conversation then
    return
  end
  local present = conversation.mode or require("redline.status").mode(conversation.root)
  vim.ui.select(MODES, {
    prompt = "Redline, how much it may do alone:",
    kind = "redline.mode",
    format_item = function(choice)
      return ("%s %-6s  %s"):format(choice.id == present and "●" or "○", choice.id, choice.what)
    end,
  }, function(choice)
    if choice then
      set_mode(choice.id)
    end
  end)
end

---@param model redline.Model
---@return string
function M.model_line(model)
  local parts = { model.id }
  if model.contextWindow then
    parts[#parts + 1] = require("redline.chat.words").tokens(model.contextWindow) .. " tokens"
  end
  if model.credentials ~= "ready" then
    parts[#parts + 1] = "key " .. model.credentials
  end
  if model.reachable == false then
    parts[#parts + 1] = "does not answer"
  end
  if model.tools == false then
    parts[#parts + 1] = "calls no tools"
  end
  return table.concat(parts, " · ")
end

---@param id string
local function set_model(id)
  local conversation = require("redline.session").here()
  if not conversation then
    return
  elseif not conversation.session_id then
    conversation.model = id
    require("redline.chat").update(conversation)
    return require("redline.review").say("the model will be " .. id)
  end
  request(method.SESSION_SET_MODEL, { sessionId = conversation.session_id, modelId = id }, function(root, result)
    conversation.model = result.modelId
    require("redline.chat").update(conversation)
    require("redline.status").publish(root)
    require("redline.review").say("the model is now " .. result.modelId)
  end)
end

---Sets the model, or lets the user pick it: `:Redline model`.
---@param id? string
function M.model(id)
  if id then
    return set_model(id)
  end
  request(method.MODEL_LIST, {}, function(root, result)
    ---@cast result redline.ListModelsResult
    for _, notice in ipairs(result.notices or {}) do
      vim.notify("redline: " .. notice, vim.log.levels.WARN)
    end
    if #result.models == 0 then
      return require("redline.review").say("no model is known: name one in the configuration (redline doctor)")
    end
    local conversation = require("redline.session").present(root)
    local present = conversation and conversation.model or require("redline.status").model(root)
    vim.ui.select(result.models, {
      prompt = "Redline, model:",
      kind = "redline.model",
      format_item = function(model)
        return (model.id == present and "● " or "○ ") .. M.model_line(model)
      end,
    }, function(model)
      if model then
        set_model(model.id)
      end
    end)
  end)
end

return M
