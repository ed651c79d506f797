---What waits for a yes or a no, of one kind: kept as the sidecar tells it, and decided once.
local M = {}

---What differs between the kinds.
---@class redline.DecisionKind
---@field list string method that lists them
---@field list_params table
---@field decide string method that decides on one
---@field items string field of lists and of notifications that holds them
---@field id string field of a decision that names one
---@field waits string state of one that waits
---@field took fun(root: string, item: table) called for each that is new or changed
---@field tell fun(root: string, item: table) called for each new one that waits
---@field said fun(item: table): string what a decision did, for people

---@class redline.Decisions
---@field kind redline.DecisionKind
---@field known table<string, table<string, table>> by root and id
local Decisions = {}
Decisions.__index = Decisions

---All kinds; what waits of each counts.
---@type redline.Decisions[]
local all = {}

---@param kind redline.DecisionKind
---@return redline.Decisions
function M.new(kind)
  local decisions = setmetatable({ kind = kind, known = {} }, Decisions)
  all[#all + 1] = decisions
  return decisions
end

---@param root string
---@param id string
---@return table?
function Decisions:get(root, id)
  return (self.known[root] or {})[id]
end

---@param a table
---@param b table
---@return boolean
local function older(a, b)
  if a.createdAt ~= b.createdAt then
    return a.createdAt < b.createdAt
  end
  return a.id < b.id
end

---All that are known, oldest first.
---@param root string
---@return table[]
function Decisions:items(root)
  local items = vim.tbl_values(self.known[root] or {})
  table.sort(items, older)
  return items
end

---Those that wait, oldest first.
---@param root string
---@return table[]
function Decisions:waiting(root)
  return vim.tbl_filter(function(item)
    return item.state == self.kind.waits
  end, self:items(root))
end

---Takes over what the sidecar says of some.
---@param root string
---@param items table[]
function Decisions:take(root, items)
  self.known[root] = self.known[root] or {}
  for _, item in ipairs(items) do
    self.known[root][item.id] = item
    self.kind.took(root, item)
  end
  local waiting = 0
  for _, decisions in ipairs(all) do
    waiting = waiting + #decisions:waiting(root)
  end
  require("redline.status").update_waiting(root, waiting)
end

---Takes over a notification, and tells of those that are new.
---@param root string
---@param params table
function Decisions:changed(root, params)
  local items = params[self.kind.items]
  local new = vim.tbl_filter(function(item)
    return item.state == self.kind.waits and not self:get(root, item.id)
  end, items)
  self:take(root, items)
  for _, item in ipairs(new) do
    self.kind.tell(root, item)
  end
end

---Asks the sidecar for all that matter.
---@param root string
---@param on_done? fun()
function Decisions:refresh(root, on_done)
  local lsp = require("redline.lsp")
  local client = lsp.client_of(root)
  if not client then
    return
  end
  lsp.request(client, self.kind.list, self.kind.list_params, function(err, result)
    if err then
      -- Where nobody waits for it, what asked for the refresh has told already.
      return on_done and lsp.report(err)
    end
    self:take(root, result[self.kind.items])
    if on_done then
      on_done()
    end
  end)
end

---Sends a decision; the answer of the sidecar is what is shown.
---@param root string
---@param id string
---@param decision string
---@param reason? string
function Decisions:decide(root, id, decision, reason)
  local lsp = require("redline.lsp")
  local client = lsp.client_of(root)
  if not client then
    return lsp.report(lsp.GONE)
  end
  local params = { [self.kind.id] = id, decision = decision, reason = reason ~= "" and reason or nil }
  lsp.request(client, self.kind.decide, params, function(err, item)
    if err then
      lsp.report(err)
      if err.code == "ALREADY_SETTLED" then
        self:refresh(root)
      end
      return
    end
    self:take(root, { item })
    require("redline.review").say(self.kind.said(item))
  end)
end

---Says no, and asks why: the model is told.
---@param root string
---@param id string
---@param decision string
function Decisions:refuse_with_reason(root, id, decision)
  vim.ui.input({ prompt = ("Redline, %s because: "):format(decision) }, function(reason)
    if reason then
      self:decide(root, id, decision, vim.trim(reason))
    end
  end)
end

---Forgets all of a project: the sidecar was replaced.
---@param root string
function Decisions:forget(root)
  self.known[root] = nil
end

return M
