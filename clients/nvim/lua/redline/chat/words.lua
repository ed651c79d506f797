---What approvals, times and amounts are called: in the conversation, in questions and in messages alike. Pure.
local M = {}

local quote = require("redline.chat.quote")

local KIND_WORDS = {
  transaction = "commits edits",
  command = "runs a program",
  vcs = "changes version control",
  browser = "acts in a browser",
  web = "fetches from the network",
  agent = "starts another agent",
}
local CLASS_WORDS = {
  reversible = "undo brings it back",
  workspace = "stays inside the workspace, may lose what is not tracked",
  outside = "reaches the network or other folders",
}
---@param seconds integer
---@return string
function M.span(seconds)
  if seconds < 90 then
    return ("%d s"):format(math.max(0, seconds))
  elseif seconds < 5400 then
    return ("%d min"):format(math.floor(seconds / 60 + 0.5))
  elseif seconds < 172800 then
    return ("%d h"):format(math.floor(seconds / 3600 + 0.5))
  end
  return ("%d days"):format(math.floor(seconds / 86400 + 0.5))
end

---@param n integer
---@return string `950`, `12.3k`, `1.2M`
function M.tokens(n)
  if n < 1000 then
    return tostring(n)
  elseif n < 999950 then
    return (("%.1fk"):format(n / 1000):gsub("%.0k", "k"))
  end
  return (("%.1fM"):format(n / 1000000):gsub("%.0M", "M"))
end

---@param cost redline.Cost
---@return string
function M.money(cost)
  local unit = cost.currency == "USD" and "$" or (cost.currency .. " ")
  return ("%s%.2f"):format(unit, cost.amount)
end

---What an approval is about, exactly: for the conversation and for a question alike.
---@param approval redline.Approval
---@return { [1]: string, [2]: string }[] names and values
function M.approval_facts(approval)
  local facts = {}
  if approval.command then
    facts[#facts + 1] = { "runs", quote.argv(approval.command) }
    if approval.program and approval.program ~= approval.command[1] then
      facts[#facts + 1] = { "program", quote.line(approval.program) }
    end
    facts[#facts + 1] = { "in", quote.line(approval.cwd and approval.cwd ~= "" and approval.cwd or ".") }
  else
    facts[#facts + 1] = { "would", quote.line(approval.summary) }
  end
  for _, path in ipairs(approval.paths or {}) do
    facts[#facts + 1] = { "path", quote.line(path) }
  end
  for _, host in ipairs(approval.hosts or {}) do
    facts[#facts + 1] = { "host", quote.line(host) }
  end
  facts[#facts + 1] = {
    "effect",
    ("%s; %s"):format(KIND_WORDS[approval.kind] or approval.kind, CLASS_WORDS[approval.class] or approval.class),
  }
  if approval.why and approval.why ~= "" then
    facts[#facts + 1] = { "asked", quote.line(approval.why) }
  end
  return facts
end

---@param approval redline.Approval
---@return string
function M.approval_state(approval)
  local by = approval.decidedBy and (" by " .. approval.decidedBy) or ""
  local because = approval.reason and approval.reason ~= "" and (": " .. quote.line(approval.reason)) or ""
  local words = {
    pending = "waits for your approval",
    approved = "approved" .. by,
    denied = "denied" .. by .. because,
    spent = "approved" .. by,
    expired = "nobody decided in time",
    void = "void: what it was about has changed",
    withdrawn = "withdrawn: its turn has ended",
  }
  return words[approval.state] or approval.state
end

return M
