---Plans: what each needs, the document that shows it, and the decision on it.
local M = {}

local api = vim.api
local method = require("redline.protocol").method
local quote = require("redline.chat.quote")

---@param plan redline.Plan
---@return string
function M.state(plan)
  local by = plan.decidedBy and (" by " .. plan.decidedBy) or ""
  local because = plan.reason and plan.reason ~= "" and (": " .. quote.line(plan.reason)) or ""
  local words = {
    proposed = "waits for your decision",
    approved = "accepted" .. by,
    rejected = "rejected" .. by .. because,
    completed = "completed",
  }
  return words[plan.state] or plan.state
end

---What a plan would let through.
---@param plan redline.Plan
---@return { [1]: string, [2]: string }[] names and values
function M.facts(plan)
  local facts = {}
  for _, path in ipairs(plan.paths) do
    facts[#facts + 1] = { "changes", quote.line(path) }
  end
  for _, command in ipairs(plan.commands) do
    facts[#facts + 1] = { "runs", quote.argv(command) }
  end
  if #facts == 0 then
    facts[1] = { "needs", #plan.kinds > 0 and table.concat(plan.kinds, ", ") or "nothing that changes anything" }
  end
  return facts
end

---@param plan redline.Plan
---@return string[]
local function lines_of(plan)
  local lines = { "# " .. quote.line(plan.title), "", ("*%s* · `%s`"):format(M.state(plan), plan.id), "" }
  vim.list_extend(lines, vim.split((plan.text:gsub("\r\n", "\n")), "\n", { plain = true }))
  vim.list_extend(lines, { "", "## What it lets through", "" })
  for _, fact in ipairs(M.facts(plan)) do
    lines[#lines + 1] = ("- %s `%s`"):format(fact[1], fact[2])
  end
  lines[#lines + 1] = ""
  lines[#lines + 1] = plan.state == "proposed" and "`ga` accept · `gx` reject · `gX` reject and say why · `q` close"
    or "`q` close"
  return lines
end

---@type table<string, integer> buffers of plans by id
local buffers = {}

---@param plan redline.Plan
local function draw(plan)
  local bufnr = buffers[plan.id]
  if bufnr and api.nvim_buf_is_valid(bufnr) then
    vim.bo[bufnr].modifiable = true
    api.nvim_buf_set_lines(bufnr, 0, -1, false, lines_of(plan))
    vim.bo[bufnr].modifiable = false
  end
end

---@param root string
---@param plan redline.Plan
local function tell(root, plan)
  if not require("redline.chat").shows_session(root, plan.sessionId) then
    vim.notify(
      ("redline: a plan waits for your decision: %s\n:Redline plan opens it"):format(plan.title),
      vim.log.levels.WARN
    )
  end
end

local decisions = require("redline.decision").new({
  list = method.PLAN_LIST,
  list_params = {},
  decide = method.PLAN_DECIDE,
  items = "plans",
  id = "planId",
  waits = "proposed",
  took = function(root, plan)
    draw(plan)
    require("redline.chat").plan(root, plan)
  end,
  tell = tell,
  said = function(plan)
    return ("plan %s: %s"):format(M.state(plan), plan.title)
  end,
})

---@param root string
---@param id string
---@return redline.Plan?
function M.get(root, id)
  return decisions:get(root, id)
end

---Those that wait, oldest first.
---@param root string
---@return redline.Plan[]
function M.waiting(root)
  return decisions:waiting(root)
end

---@param root string
---@param params redline.PlanChangedNotification
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
---@param decision redline.PlanDecision
---@param reason? string
function M.decide(root, id, decision, reason)
  decisions:decide(root, id, decision, reason)
end

---@param root string
---@param id string
function M.reject_with_reason(root, id)
  decisions:refuse_with_reason(root, id, "reject")
end

---@param root string
function M.forget(root)
  decisions:forget(root)
end

---@param root string
---@param plan redline.Plan
---@return integer bufnr
local function document(root, plan)
  local bufnr = buffers[plan.id]
  if bufnr and api.nvim_buf_is_valid(bufnr) then
    return bufnr
  end
  bufnr = api.nvim_create_buf(false, true)
  buffers[plan.id] = bufnr
  api.nvim_buf_set_name(bufnr, "redline://plan/" .. plan.id)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].filetype = "markdown"
  local function map(keys, desc, run)
    vim.keymap.set("n", keys, run, { buffer = bufnr, nowait = true, desc = "Redline: " .. desc })
  end
  map("ga", "accept the plan", function()
    M.decide(root, plan.id, "accept")
  end)
  map("gx", "reject the plan", function()
    M.decide(root, plan.id, "reject")
  end)
  map("gX", "reject the plan and say why", function()
    M.reject_with_reason(root, plan.id)
  end)
  map("q", "close", "<Cmd>close<CR>")
  return bufnr
end

---Opens a plan as a document: the one named, else the one that waits, else the latest.
---@param root string
---@param id? string
function M.open(root, id)
  M.refresh(root, function()
    local known = decisions:items(root)
    local plan = id and M.get(root, id) or M.waiting(root)[1] or known[#known]
    if not plan then
      return require("redline.review").say("there is no plan")
    end
    local bufnr = document(root, plan)
    local win = vim.fn.win_findbuf(bufnr)[1]
    if win then
      api.nvim_set_current_win(win)
    else
      vim.cmd("belowright split")
      api.nvim_win_set_buf(0, bufnr)
    end
    draw(plan)
  end)
end

---`:Redline plan`: opens it, or decides on the one that waits, which is shown first.
---@param root string
---@param verb? string "accept" or "reject"
---@param reason? string
function M.command(root, verb, reason)
  if not verb then
    return M.open(root)
  elseif verb ~= "accept" and verb ~= "reject" then
    return vim.notify(("redline: `%s` is none of accept, reject"):format(verb), vim.log.levels.ERROR)
  end
  M.refresh(root, function()
    local plan = M.waiting(root)[1]
    if not plan then
      require("redline.review").say("no plan waits")
    elseif verb == "accept" and not M.seen(plan) then
      M.open(root, plan.id)
    else
      M.decide(root, plan.id, verb, reason)
    end
  end)
end

---Whether a window shows a plan, or the conversation that proposed it.
---@param plan redline.Plan
---@return boolean
function M.seen(plan)
  local bufnr = buffers[plan.id]
  return bufnr ~= nil and api.nvim_buf_is_valid(bufnr) and #vim.fn.win_findbuf(bufnr) > 0
end

return M
