---What waits for a yes: kept as the sidecar tells it, shown exactly, decided once.
local M = {}

local method = require("redline.protocol").method

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

local decisions = require("redline.decision").new({
  list = method.APPROVAL_LIST,
  list_params = { settled = true },
  decide = method.APPROVAL_DECIDE,
  items = "approvals",
  id = "approvalId",
  waits = "pending",
  took = function(root, approval)
    require("redline.chat").changed(root, { approval = approval.id })
  end,
  tell = tell,
  said = function(approval)
    return ("%s: %s"):format(require("redline.chat.words").approval_state(approval), approval.summary)
  end,
})

---@param root string
---@param id string
---@return redline.Approval?
function M.get(root, id)
  return decisions:get(root, id)
end

---Those that wait, oldest first.
---@param root string
---@return redline.Approval[]
function M.waiting(root)
  return decisions:waiting(root)
end

---@param root string
---@param params redline.ApprovalChangedNotification
function M.changed(root, params)
  decisions:changed(root, params)
end

---@param root string
---@param on_done? fun()
function M.refresh(root, on_done)
  decisions:refresh(root, on_done)
end

---@param root string
---@param id string
---@param decision redline.ApprovalDecision
---@param reason? string
function M.decide(root, id, decision, reason)
  decisions:decide(root, id, decision, reason)
end

---@param root string
---@param id string
function M.deny_with_reason(root, id)
  decisions:refuse_with_reason(root, id, "deny")
end

---@param root string
function M.forget(root)
  decisions:forget(root)
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

return M
