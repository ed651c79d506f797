---What waits for a yes: kept as the sidecar tells it, shown exactly, decided once.
local M = {}

local method = require("redline.protocol").method

---@type table<string, table<string, redline.Approval>> by root and id
local known = {}

---@param root string
---@return table<string, redline.Approval>
local function of(root)
  known[root] = known[root] or {}
  return known[root]
end

---@param root string
---@param id string
---@return redline.Approval?
function M.get(root, id)
  return of(root)[id]
end

---Those that wait, oldest first.
---@param root string
---@return redline.Approval[]
function M.waiting(root)
  local waiting = vim.tbl_filter(function(approval)
    return approval.state == "pending"
  end, vim.tbl_values(of(root)))
  table.sort(waiting, function(a, b)
    if a.createdAt ~= b.createdAt then
      return a.createdAt < b.createdAt
    end
    return a.id < b.id
  end)
  return waiting
end

---@param root string
---@param approvals redline.Approval[]
local function take(root, approvals)
  for _, approval in ipairs(approvals) do
    of(root)[approval.id] = approval
    require("redline.chat").changed(root, { approval = approval.id })
  end
  require("redline.status").update_waiting(root, #M.waiting(root) + #require("redline.plan").waiting(root))
end

M.take = take

---Tells of an approval that waits where no conversation shows it.
---@param root string
---@param approval redline.Approval
local function tell(root, approval)
  if require("redline.chat").shows_session(root, approval.sessionId) then
    return
  end
  local words = require("redline.chat.words")
  local facts = vim.tbl_map(function(fact)
    return ("  %-8s %s"):format(fact[1], fact[2])
  end, words.approval_facts(approval))
  vim.notify(
    ("redline: waits for your approval\n%s\n:Redline approve, :Redline deny, or :Redline chat"):format(
      table.concat(facts, "\n")
    ),
    vim.log.levels.WARN
  )
end

---Takes over what changed.
---@param root string
---@param params redline.ApprovalChangedNotification
function M.changed(root, params)
  local new = vim.tbl_filter(function(approval)
    return approval.state == "pending" and not of(root)[approval.id]
  end, params.approvals)
  take(root, params.approvals)
  for _, approval in ipairs(new) do
    tell(root, approval)
  end
end

---Asks for all that wait.
---@param root string
---@param on_done? fun()
function M.refresh(root, on_done)
  local lsp = require("redline.lsp")
  local client = lsp.client_of(root)
  if not client then
    return
  end
  lsp.request(client, method.APPROVAL_LIST, { settled = true }, function(err, result)
    if err then
      -- Where nobody waits for it, what asked for the refresh has told already.
      return on_done and lsp.report(err)
    end
    take(root, result.approvals)
    if on_done then
      on_done()
    end
  end)
end

---Sends a decision; the answer of the sidecar is what is shown.
---@param root string
---@param id string
---@param decision redline.ApprovalDecision
---@param reason? string
function M.decide(root, id, decision, reason)
  local lsp = require("redline.lsp")
  local client = lsp.client_of(root)
  if not client then
    return lsp.report(lsp.GONE)
  end
  local params = { approvalId = id, decision = decision, reason = reason ~= "" and reason or nil }
  lsp.request(client, method.APPROVAL_DECIDE, params, function(err, approval)
    if err then
      lsp.report(err)
      if err.code == "ALREADY_SETTLED" then
        M.refresh(root)
      end
      return
    end
    take(root, { approval })
    require("redline.review").say(
      ("%s: %s"):format(require("redline.chat.words").approval_state(approval), approval.summary)
    )
  end)
end

---Denies, and asks why: the model is told.
---@param root string
---@param id string
function M.deny_with_reason(root, id)
  vim.ui.input({ prompt = "Redline, deny because: " }, function(reason)
    if reason then
      M.decide(root, id, "deny", vim.trim(reason))
    end
  end)
end

---Asks what to do with one approval, which is shown exactly.
---@param root string
---@param id string
function M.ask(root, id)
  local approval = M.get(root, id)
  if not approval or approval.state ~= "pending" then
    return require("redline.review").say("it does not wait any more")
  end
  local words = require("redline.chat.words")
  local prompt = { "Redline asks:" }
  for _, fact in ipairs(words.approval_facts(approval)) do
    prompt[#prompt + 1] = ("  %-8s %s"):format(fact[1], fact[2])
  end
  local choices = {
    {
      "Approve this once",
      function()
        M.decide(root, id, "approve")
      end,
    },
    {
      "Deny",
      function()
        M.decide(root, id, "deny")
      end,
    },
    {
      "Deny, and say why",
      function()
        M.deny_with_reason(root, id)
      end,
    },
  }
  vim.ui.select(choices, {
    prompt = table.concat(prompt, "\n"),
    kind = "redline.approval",
    format_item = function(choice)
      return choice[1]
    end,
  }, function(choice)
    if choice then
      choice[2]()
    end
  end)
end

---Lets the user pick one of those that wait; the only one needs no picking.
---@param root string
---@param on_choice fun(id: string)
local function pick(root, on_choice)
  local waiting = M.waiting(root)
  if #waiting == 0 then
    return require("redline.review").say("no approval waits")
  elseif #waiting == 1 then
    return on_choice(waiting[1].id)
  end
  vim.ui.select(waiting, {
    prompt = "Redline, waits for your approval:",
    kind = "redline.approval",
    format_item = function(approval)
      local facts = require("redline.chat.words").approval_facts(approval)
      return ("%s %s"):format(facts[1][1], facts[1][2])
    end,
  }, function(approval)
    if approval then
      on_choice(approval.id)
    end
  end)
end

---`:Redline approve` and `:Redline deny`: of what the cursor is on, else of what waits.
---
---What was not on the screen is shown before it is decided.
---@param decision? redline.ApprovalDecision absent: asks
---@param reason? string
function M.command(decision, reason)
  local root = require("redline.session").root_here()
  if not root then
    return
  end
  local under = require("redline.chat").link_here()
  if under and under.kind == "plan" and decision then
    return require("redline.plan").decide(root, under.plan, decision == "approve" and "accept" or "reject", reason)
  end
  M.refresh(root, function()
    if under and under.kind == "approval" and decision then
      return M.decide(root, under.approval, decision, reason)
    end
    pick(root, function(id)
      local approval = M.get(root, id)
      local seen = approval and require("redline.chat").shows_session(root, approval.sessionId)
      if decision == "deny" or (decision == "approve" and seen) then
        M.decide(root, id, decision, reason)
      else
        M.ask(root, id)
      end
    end)
  end)
end

---Forgets all of a project: the sidecar was replaced.
---@param root string
function M.forget(root)
  known[root] = nil
end

return M
