---The command `:Redline`: its subcommands, their arguments and completion.
local M = {}

---@class (exact) redline.Subcommand
---@field run fun(args: string[], range?: [integer, integer], mods?: string)
---@field args? string[] completion of the first argument
---@field desc string

---@param verb redline.Verb
---@return fun(args: string[], range?: [integer, integer])
local function decide(verb)
  return function(args, range)
    local scope = args[1] or (range and "lines" or "hunk")
    if not vim.list_contains({ "hunk", "file", "transaction", "all", "lines" }, scope) then
      vim.notify(("redline: `%s` is none of hunk, file, transaction, all"):format(scope), vim.log.levels.ERROR)
      return
    end
    if scope == "lines" and not range then
      local line = vim.api.nvim_win_get_cursor(0)[1]
      range = { line, line }
    end
    require("redline.review").decide(verb, scope, range)
  end
end

---@param where "next"|"prev"|"first"|"last"
local function jump(where)
  return function(args)
    require("redline.jump").to(where, tonumber(args[1]))
  end
end

---@param name string module
---@param func string
local function call(name, func, ...)
  local args = { ... }
  return function()
    require(name)[func](unpack(args))
  end
end

local scopes = { "hunk", "file", "transaction", "all" }

---@type table<string, redline.Subcommand>
M.subcommands = {
  accept = { run = decide("accept"), args = scopes, desc = "Accept a hunk, lines, a file, a transaction or all" },
  reject = { run = decide("reject"), args = scopes, desc = "Reject the same" },
  split = { run = call("redline.review", "split"), desc = "Split the hunk at the cursor" },
  amend = { run = call("redline.amend", "open"), desc = "Edit the proposed lines before accepting them" },
  repropose = { run = call("redline.review", "repropose"), desc = "Propose the conflict at the cursor again" },
  keep = {
    run = call("redline.review", "decide", "withdraw", "hunk"),
    desc = "Keep your lines: withdraw the hunk at the cursor",
  },
  undo = {
    run = function(args)
      require("redline.review").restore("undo", args[1])
    end,
    desc = "Take back what was accepted of the latest turn",
  },
  redo = {
    run = function(args)
      require("redline.review").restore("redo", args[1])
    end,
    desc = "Put back what was undone",
  },
  next = { run = jump("next"), desc = "Go to the next hunk" },
  prev = { run = jump("prev"), desc = "Go to the previous hunk" },
  first = { run = jump("first"), desc = "Go to the first hunk of the file" },
  last = { run = jump("last"), desc = "Go to the last hunk of the file" },
  preview = { run = call("redline.preview", "hunk"), desc = "Show the hunk whole, or the three sides of a conflict" },
  show = { run = call("redline.preview", "transaction"), desc = "Show the transaction as a diff" },
  review = { run = call("redline.preview", "review"), desc = "List everything that is pending (quickfix)" },
  overview = {
    run = call("redline.overview", "toggle"),
    desc = "Show everything that is pending in a float, to decide",
  },
  diff = { run = call("redline.diff", "open"), desc = "Show the file beside what it would be" },
  status = { run = call("redline.preview", "status"), desc = "Show where things stand, and the last answer" },
  ask = {
    run = function(args, range)
      require("redline.ask").ask(table.concat(args, " "), range)
    end,
    desc = "Ask for a change; a range is its context",
  },
  cancel = { run = call("redline.session", "cancel"), desc = "Stop the turn that runs" },
  stop = { run = call("redline.session", "cancel"), desc = "Stop the turn that runs" },
  chat = {
    run = function(_, range, mods)
      require("redline.chat").command(range, mods)
    end,
    desc = "Show the conversation; a range is what the next prompt is about",
  },
  new = {
    run = function(_, _, mods)
      require("redline.chat").new(mods)
    end,
    desc = "Begin another conversation",
  },
  sessions = {
    run = function(args)
      require("redline.pick").sessions(args[1] == "archived")
    end,
    args = { "archived" },
    desc = "Go on with an earlier conversation",
  },
  fork = { run = call("redline.pick", "fork"), desc = "Go on in a new conversation with the same past" },
  archive = { run = call("redline.pick", "archive_here"), desc = "Put the conversation away" },
  approve = {
    run = function()
      require("redline.approval").command("approve")
    end,
    desc = "Approve what waits, once",
  },
  deny = {
    run = function(args)
      require("redline.approval").command("deny", table.concat(args, " "))
    end,
    desc = "Deny what waits; a text is told to the model",
  },
  plan = {
    run = function(args)
      local root = require("redline.session").root_here()
      if root then
        require("redline.plan").command(root, args[1], table.concat(args, " ", 2))
      end
    end,
    args = { "accept", "reject" },
    desc = "Open the plan that waits, accept or reject it",
  },
  jobs = { run = call("redline.job", "pick"), desc = "Show the output of a job" },
  mode = {
    run = function(args)
      require("redline.pick").mode(args[1])
    end,
    args = { "manual", "plan", "auto" },
    desc = "Set how much may run unasked",
  },
  model = {
    run = function(args)
      require("redline.pick").model(args[1])
    end,
    desc = "Set the model",
  },
  propose = {
    run = function(_, range)
      require("redline.propose").buffer(range)
    end,
    desc = "Propose the diff, patch or blocks in this buffer",
  },
  attach = {
    run = function()
      require("redline.lsp").attach(vim.api.nvim_get_current_buf(), true)
    end,
    desc = "Attach this buffer where `enabled` is false",
  },
  redraw = {
    run = function()
      require("redline.highlights").refresh()
      require("redline.render").redraw(vim.api.nvim_get_current_buf())
    end,
    desc = "Draw the hunks of this buffer anew",
  },
}

---Runs `:Redline`.
---@param cmd vim.api.keyset.create_user_command.command_args
function M.run(cmd)
  local args = vim.deepcopy(cmd.fargs)
  local name = table.remove(args, 1) or "status"
  local subcommand = M.subcommands[name]
  if not subcommand then
    local close = vim.fn.matchfuzzy(vim.tbl_keys(M.subcommands), name)[1]
    vim.notify(
      ("redline: unknown subcommand `%s`%s (:help :Redline)"):format(
        name,
        close and (", did you mean `%s`?"):format(close) or ""
      ),
      vim.log.levels.ERROR
    )
    return
  end
  local range = cmd.range > 0 and { cmd.line1, cmd.line2 } or nil
  if name == "ask" then
    -- As it was typed: the words of a prompt keep their blanks.
    args = { (cmd.args:gsub("^%s*ask%s?", "")) }
  end
  subcommand.run(args, range, cmd.mods)
end

---Completes subcommands and their arguments.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(vim.trim(line:match("Redline!?(.*)$") or ""), "%s+", { trimempty = true })
  local candidates
  if #words == 0 or (#words == 1 and lead ~= "") then
    candidates = vim.tbl_keys(M.subcommands)
    table.sort(candidates)
  elseif #words == 1 or (#words == 2 and lead ~= "") then
    candidates = (M.subcommands[words[1]] or {}).args or {}
  else
    candidates = {}
  end
  return vim.tbl_filter(function(candidate)
    return vim.startswith(candidate, lead)
  end, candidates)
end

return M
