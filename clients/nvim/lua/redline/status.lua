---What a status line shows: counts of the workspace and of the buffer, the mode, what the turn does, what waits.
local M = {}

local api = vim.api

---@class (exact) redline.WorkspaceStatus
---@field counts redline.Counts
---@field waiting integer approvals and plans that wait for a decision
---@field mode? redline.Mode
---@field model? string
---@field asked boolean the sidecar was asked where things stand
---@field told boolean recovery and notices were shown

---@type table<string, redline.WorkspaceStatus> by root
local workspaces = {}

---@param root string
---@return redline.WorkspaceStatus
local function workspace(root)
  workspaces[root] = workspaces[root]
    or {
      counts = { pending = 0, conflicts = 0, files = 0, transactions = 0 },
      waiting = 0,
      asked = false,
      told = false,
    }
  return workspaces[root]
end

---@param document redline.Document
---@return string?
local function root_of(document)
  local client = vim.lsp.get_client_by_id(document.client_id)
  return client and require("redline.lsp").root_of(client)
end

---@param bufnr integer
---@return redline.Counts?
function M.counts(bufnr)
  local document = require("redline.document").get(bufnr)
  local root = document and root_of(document)
  return root and workspace(root).counts
end

---@param root string
---@return redline.Counts
function M.counts_of(root)
  return workspace(root).counts
end

---Approvals and plans that wait.
---@param root string
---@return integer
function M.waiting(root)
  return workspace(root).waiting
end

---The mode that new sessions begin with.
---@param root string
---@return redline.Mode?
function M.mode(root)
  return workspace(root).mode
end

---@param root string
---@return string?
function M.model(root)
  return workspace(root).model
end

---@class (exact) redline.StatusDict
---@field state redline.SessionState
---@field activity? string what the turn is doing
---@field pending integer hunks pending in the workspace
---@field conflicts integer conflicts in the workspace
---@field files integer files with either
---@field here integer hunks of this buffer that wait, conflicts included
---@field waiting integer approvals and plans that wait
---@field mode? redline.Mode permission mode
---@field model? string `PROVIDER/MODEL`

---@param dict redline.StatusDict
---@return string
function M.text(dict)
  local count = require("redline.block").count
  local here = dict.here > 0 and dict.here < dict.pending + dict.conflicts and (" (%d here)"):format(dict.here) or ""
  local parts = { ("%d pending%s"):format(dict.pending, here) }
  if dict.conflicts > 0 then
    parts[#parts + 1] = count(dict.conflicts, "conflict")
  end
  if dict.waiting > 0 then
    parts[#parts + 1] = ("◆ %d to approve"):format(dict.waiting)
  end
  if dict.state == "running" then
    parts[#parts + 1] = "● " .. (dict.activity or "working")
  elseif dict.state == "requires_action" and dict.waiting == 0 then
    parts[#parts + 1] = "◆ waits for you"
  end
  parts[#parts + 1] = dict.mode
  return "redline: " .. table.concat(parts, " · ")
end

---@param root string
---@return redline.StatusDict of no buffer
local function common(root)
  local status, conversation = workspace(root), require("redline.session").present(root)
  return {
    state = conversation and conversation.state or "idle",
    activity = conversation and conversation.activity or nil,
    here = 0,
    waiting = status.waiting,
    mode = conversation and conversation.mode or status.mode,
    model = conversation and conversation.model or status.model,
    pending = status.counts.pending,
    conflicts = status.counts.conflicts,
    files = status.counts.files,
  }
end

---@param bufnr integer
---@param dict redline.StatusDict
local function write(bufnr, dict)
  local text = M.text(dict)
  if vim.b[bufnr].redline_status ~= text or vim.b[bufnr].redline_status_dict == nil then
    vim.b[bufnr].redline_status = text
  end
  vim.b[bufnr].redline_status_dict = dict
end

---Writes the variables of every buffer of a workspace, and fires `User RedlineUpdate`.
---@param root string
function M.publish(root)
  local dict = common(root)
  local document = require("redline.document")
  for _, shown in ipairs(document.all()) do
    if api.nvim_buf_is_valid(shown.bufnr) and root_of(shown) == root then
      write(shown.bufnr, vim.tbl_extend("force", dict, { here = #document.pending(shown.bufnr) }))
    end
  end
  for _, bufnr in ipairs(require("redline.chat").buffers(root)) do
    write(bufnr, dict)
  end
  local client = require("redline.lsp").client_of(root)
  api.nvim_exec_autocmds("User", {
    pattern = "RedlineUpdate",
    modeline = false,
    data = { client_id = client and client.id, root = root },
  })
  vim.cmd.redrawstatus({ bang = true })
end

---@param root string
---@param counts redline.Counts
function M.update(root, counts)
  workspace(root).counts = counts
  M.publish(root)
end

---@param root string
---@param waiting integer
function M.update_waiting(root, waiting)
  if workspace(root).waiting ~= waiting then
    workspace(root).waiting = waiting
    M.publish(root)
  end
end

---@param root string
---@param mode redline.Mode
function M.update_mode(root, mode)
  workspace(root).mode = mode
  M.publish(root)
end

---Asks for what no notification carries, and tells what the user should hear once.
---@param client vim.lsp.Client
---@param bufnr? integer
function M.ask(client, bufnr)
  local lsp = require("redline.lsp")
  local root = lsp.root_of(client)
  local status = workspace(root)
  status.asked = true
  lsp.request(client, require("redline.protocol").method.STATUS, {}, function(err, result)
    ---@cast result redline.StatusResult
    if err or not result then
      status.asked = false
      return
    end
    status.mode, status.model = result.mode, result.model
    for _, recovery in ipairs(status.told and {} or result.recovery) do
      vim.notify("redline: " .. recovery.message, vim.log.levels.WARN)
    end
    for _, notice in ipairs(status.told and {} or result.notices or {}) do
      vim.notify("redline: " .. notice, vim.log.levels.WARN)
    end
    status.told = true
    if #result.approvals > 0 then
      require("redline.approval").refresh(root)
    end
    M.publish(root)
  end, bufnr)
end

---A buffer of the workspace was attached.
---@param client vim.lsp.Client
---@param bufnr integer
function M.attach(client, bufnr)
  local root = require("redline.lsp").root_of(client)
  M.publish(root)
  if not workspace(root).asked then
    M.ask(client, bufnr)
  end
end

---The client of a workspace is gone: the next one is asked anew.
---@param root string
function M.forget(root)
  workspaces[root] = nil
end

return M
