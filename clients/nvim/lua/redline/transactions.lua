---Transactions that a conversation speaks of, kept as the sidecar last told them.
local M = {}

local method = require("redline.protocol").method

---@type table<string, table<string, redline.Transaction|false>> by root and id; false while it is asked for
local known = {}

---@type table<string, table<string, true>> what changed while it was asked for
local again = {}

---@param root string
---@param id string
local function fetch(root, id)
  local lsp = require("redline.lsp")
  local client = lsp.client_of(root)
  if not client then
    return
  end
  known[root][id] = known[root][id] or false
  again[root] = again[root] or {}
  again[root][id] = nil
  lsp.request(client, method.TRANSACTION_GET, { transactionId = id }, function(err, transaction)
    if err then
      -- Settled long ago, or of another project: the conversation says what it can without it.
      return
    end
    known[root][id] = transaction
    if again[root][id] then
      fetch(root, id)
    end
    require("redline.chat").changed(root, { transaction = id })
  end)
end

---@param root string
---@param id string
---@return redline.Transaction? absent until the sidecar has answered
function M.get(root, id)
  known[root] = known[root] or {}
  if known[root][id] == nil then
    fetch(root, id)
  end
  return known[root][id] or nil
end

---Asks again for what changed, where anybody asked before.
---@param root string
---@param ids string[]
function M.changed(root, ids)
  for _, id in ipairs(ids) do
    local present = known[root] and known[root][id]
    if present then
      fetch(root, id)
    elseif present == false then
      again[root][id] = true
    end
  end
end

---Forgets all of a project: the sidecar was replaced.
---@param root string
function M.forget(root)
  known[root], again[root] = nil, nil
end

return M
