---What a status line shows: counts of the workspace, of the buffer, and the state of the turn.
local M = {}

local api = vim.api

---@class (exact) redline.WorkspaceStatus
---@field counts redline.Counts
---@field mode? string
---@field model? string
---@field told boolean recovery and notices were shown

---@type table<integer, redline.WorkspaceStatus> by client
local workspaces = {}

---@param client_id integer
---@return redline.WorkspaceStatus
local function workspace(client_id)
  workspaces[client_id] = workspaces[client_id]
    or { counts = { pending = 0, conflicts = 0, files = 0, transactions = 0 }, told = false }
  return workspaces[client_id]
end

---@param bufnr integer
---@return redline.Counts?
function M.counts(bufnr)
  local document = require("redline.document").get(bufnr)
  return document and workspace(document.client_id).counts
end

---@class (exact) redline.StatusDict
---@field state "idle"|"running"
---@field activity? string what the turn is doing
---@field pending integer hunks pending in the workspace
---@field conflicts integer conflicts in the workspace
---@field files integer files with either
---@field here integer hunks of this buffer that wait, conflicts included
---@field mode? string permission mode
---@field model? string `PROVIDER/MODEL`

---@param dict redline.StatusDict
---@return string
function M.text(dict)
  local parts = {}
  if dict.pending > 0 then
    local here = dict.here > 0 and dict.here < dict.pending + dict.conflicts and (" (%d here)"):format(dict.here) or ""
    parts[#parts + 1] = ("%d pending%s"):format(dict.pending, here)
  end
  if dict.conflicts > 0 then
    parts[#parts + 1] = require("redline.block").count(dict.conflicts, "conflict")
  end
  if #parts == 0 then
    parts[#parts + 1] = "0 pending"
  end
  if dict.state == "running" then
    parts[#parts + 1] = "● " .. (dict.activity or "working")
  end
  parts[#parts + 1] = dict.mode
  return "redline: " .. table.concat(parts, " · ")
end

---Writes the variables of every buffer of a client, and fires `User RedlineUpdate`.
---@param client_id integer
function M.publish(client_id)
  local session = require("redline.session").get(client_id)
  local status = workspace(client_id)
  local document = require("redline.document")
  for _, shown in ipairs(document.all()) do
    if shown.client_id == client_id and api.nvim_buf_is_valid(shown.bufnr) then
      ---@type redline.StatusDict
      local dict = vim.tbl_extend("error", {
        state = session and session.running and "running" or "idle",
        activity = session and session.running and session.activity or nil,
        here = #document.pending(shown.bufnr),
        mode = status.mode,
        model = status.model,
      }, {
        pending = status.counts.pending,
        conflicts = status.counts.conflicts,
        files = status.counts.files,
      })
      vim.b[shown.bufnr].redline_status_dict = dict
      vim.b[shown.bufnr].redline_status = M.text(dict)
    end
  end
  api.nvim_exec_autocmds("User", { pattern = "RedlineUpdate", modeline = false, data = { client_id = client_id } })
  vim.cmd.redrawstatus({ bang = true })
end

---@param client_id integer
---@param counts redline.Counts
function M.update(client_id, counts)
  workspace(client_id).counts = counts
  M.publish(client_id)
end

---Asks once for what no notification carries, and tells what the user should hear once.
---@param client vim.lsp.Client
---@param bufnr integer
function M.attach(client, bufnr)
  local known = workspaces[client.id] ~= nil
  local status = workspace(client.id)
  M.publish(client.id)
  if known then
    return
  end
  local lsp = require("redline.lsp")
  lsp.request(client, require("redline.protocol").method.STATUS, {}, function(err, result)
    ---@cast result redline.StatusResult
    if err or not result then
      return
    end
    status.mode, status.model = result.mode, result.model
    if not status.told then
      status.told = true
      for _, recovery in ipairs(result.recovery) do
        vim.notify("redline: " .. recovery.message, vim.log.levels.WARN)
      end
      for _, notice in ipairs(result.notices or {}) do
        vim.notify("redline: " .. notice, vim.log.levels.WARN)
      end
    end
    M.publish(client.id)
  end, bufnr)
end

---@param client_id integer
function M.forget(client_id)
  workspaces[client_id] = nil
end

return M
