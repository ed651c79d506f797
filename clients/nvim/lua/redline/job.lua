---Running programs: which there are, their live output in a bounded buffer, and their end.
local M = {}

local api = vim.api
local method = require("redline.protocol").method
local quote = require("redline.chat.quote")

---Lines of output that a buffer keeps; the sidecar keeps the rest.
local MAX_LINES = 5000
---Bytes that wait to be drawn; what is older is left out.
local MAX_WAITING = 256 * 1024
local FLUSH_MS = 33

---@class (exact) redline.JobView
---@field root string
---@field bufnr integer
---@field next_offset? integer of the first byte that is not shown; absent until the tail has arrived
---@field waiting string[] output that is not drawn
---@field n_waiting integer bytes
---@field scheduled boolean

---@type table<string, table<string, redline.Job>> by root and id
local known = {}

---@type table<string, redline.JobView> by id
local views = {}

---@param root string
---@return table<string, redline.Job>
local function of(root)
  known[root] = known[root] or {}
  return known[root]
end

---@param root string
---@param id string
---@return redline.Job?
function M.get(root, id)
  return of(root)[id]
end

---The job that a tool call started.
---@param root string
---@param tool_call_id string
---@return redline.Job?
function M.of_call(root, tool_call_id)
  for _, job in pairs(of(root)) do
    if job.toolCallId == tool_call_id then
      return job
    end
  end
end

---@param job redline.Job
---@return string
function M.state(job)
  local span = require("redline.chat.words").span((job.endedAt or os.time()) - job.startedAt)
  if job.state == "running" then
    return ("running for %s"):format(span)
  elseif job.state == "exited" then
    local how = job.signal and ("ended by signal %d"):format(job.signal) or ("exit code %d"):format(job.exitCode or 0)
    return ("%s after %s"):format(how, span)
  end
  local words = {
    cancelled = "stopped after " .. span,
    timed_out = "its time was over after " .. span,
    failed = "could not be started, or its state was lost",
    orphaned = "was running when the sidecar ended",
  }
  return words[job.state] or job.state
end

---Takes escape sequences out of output, and what a carriage return writes over.
---@param line string
---@return string
function M.plain(line)
  line = line:gsub("\27%[[0-?]*[ -/]*[@-~]", ""):gsub("\27%][^\7\27]*\7?", ""):gsub("\27[()][%w]", ""):gsub("\r$", "")
  return (line:gsub("^.*\r", ""))
end

---@param view redline.JobView
---@param job redline.Job
local function head(view, job)
  local lines = {
    quote.argv(job.command),
    ("%s · in %s · sandbox: %s"):format(M.state(job), job.cwd ~= "" and job.cwd or ".", job.sandbox),
    "",
  }
  vim.bo[view.bufnr].modifiable = true
  api.nvim_buf_set_lines(view.bufnr, 0, math.min(3, api.nvim_buf_line_count(view.bufnr)), false, lines)
  vim.bo[view.bufnr].modifiable = false
end

---@param view redline.JobView
local function flush(view)
  view.scheduled = false
  if not api.nvim_buf_is_valid(view.bufnr) or #view.waiting == 0 then
    return
  end
  local text = table.concat(view.waiting)
  view.waiting, view.n_waiting = {}, 0
  local bufnr = view.bufnr
  local n_lines = api.nvim_buf_line_count(bufnr)
  local following = vim.tbl_filter(function(win)
    return api.nvim_win_get_cursor(win)[1] == n_lines
  end, vim.fn.win_findbuf(bufnr))
  local last = api.nvim_buf_get_lines(bufnr, n_lines - 1, n_lines, false)[1]
  local lines = vim.split((n_lines > 3 and last or "") .. text, "\n", { plain = true })
  for i, line in ipairs(lines) do
    lines[i] = M.plain(line)
  end
  if #lines > MAX_LINES then
    lines = vim.list_slice(lines, #lines - MAX_LINES + 1)
  end
  vim.bo[bufnr].modifiable = true
  api.nvim_buf_set_lines(bufnr, n_lines > 3 and n_lines - 1 or n_lines, -1, false, lines)
  local beyond = api.nvim_buf_line_count(bufnr) - 3 - MAX_LINES
  if beyond > 0 then
    local note = ("… older output is left out (redline keeps it: job %s)"):format(vim.b[bufnr].redline_job)
    api.nvim_buf_set_lines(bufnr, 3, 3 + beyond + 1, false, { note })
  end
  vim.bo[bufnr].modifiable = false
  for _, win in ipairs(following) do
    api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(bufnr), 0 })
  end
end

---@param view redline.JobView
---@param text string
local function add(view, text)
  view.waiting[#view.waiting + 1] = text
  view.n_waiting = view.n_waiting + #text
  while view.n_waiting > MAX_WAITING and #view.waiting > 1 do
    view.n_waiting = view.n_waiting - #table.remove(view.waiting, 1)
  end
  if not view.scheduled then
    view.scheduled = true
    vim.defer_fn(function()
      flush(view)
    end, FLUSH_MS)
  end
end

---Takes over a job and its new output.
---@param root string
---@param params redline.JobChangedNotification
function M.changed(root, params)
  local job = params.job
  local before = of(root)[job.id]
  of(root)[job.id] = job
  if not before or before.state ~= job.state then
    require("redline.chat").changed(root, { job = job })
  end
  local view = views[job.id]
  if not view or not api.nvim_buf_is_valid(view.bufnr) then
    return
  end
  head(view, job)
  if params.output and view.next_offset then
    local offset = params.offset or view.next_offset
    local skip = view.next_offset - offset
    if skip < 0 then
      add(view, ("\n… %d bytes were left out\n"):format(-skip))
      skip = 0
    end
    if skip < #params.output then
      add(view, params.output:sub(skip + 1))
      view.next_offset = offset + #params.output
    end
  end
end

---@param root string
---@param id string
function M.cancel(root, id)
  local lsp = require("redline.lsp")
  local client = lsp.client_of(root)
  if not client then
    return lsp.report(lsp.GONE)
  end
  lsp.request(client, method.JOB_CANCEL, { jobId = id }, function(err, job)
    if err then
      return lsp.report(err)
    end
    M.changed(root, { job = job })
    require("redline.review").say(("%s: %s"):format(M.state(job), quote.argv(job.command)))
  end)
end

---@param root string
---@param id string
---@return integer bufnr
local function buffer(root, id)
  local bufnr = api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(bufnr, "redline://job/" .. id)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].undolevels = -1
  vim.bo[bufnr].filetype = "redline-job"
  vim.b[bufnr].redline_job = id
  vim.keymap.set("n", "<C-c>", function()
    M.cancel(root, id)
  end, { buffer = bufnr, desc = "Redline: stop the job" })
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = bufnr, nowait = true, desc = "Redline: close" })
  return bufnr
end

---Shows the output of a job, which goes on to arrive.
---@param root string
---@param id string
function M.open(root, id)
  local view = views[id]
  if view and api.nvim_buf_is_valid(view.bufnr) then
    local win = vim.fn.win_findbuf(view.bufnr)[1]
    if win then
      return api.nvim_set_current_win(win)
    end
  end
  local lsp = require("redline.lsp")
  local client = lsp.client_of(root)
  if not client then
    return lsp.report(lsp.GONE)
  end
  vim.cmd("belowright split")
  view = { root = root, bufnr = buffer(root, id), waiting = {}, n_waiting = 0, scheduled = false }
  views[id] = view
  api.nvim_win_set_buf(0, view.bufnr)
  lsp.request(client, method.JOB_OUTPUT, { jobId = id }, function(err, result)
    if err then
      return lsp.report(err)
    end
    ---@cast result redline.JobOutputResult
    of(root)[id] = result.job
    if not api.nvim_buf_is_valid(view.bufnr) then
      return
    end
    head(view, result.job)
    for _, win in ipairs(vim.fn.win_findbuf(view.bufnr)) do
      api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(view.bufnr), 0 })
    end
    if result.offset > 0 then
      add(view, ("… %d bytes before this\n"):format(result.offset))
    end
    add(view, result.text)
    if result.errors and result.errors ~= "" then
      add(view, "\nstandard error:\n" .. result.errors)
    end
    view.next_offset = result.nextOffset
  end)
end

---Asks for the jobs that are known, so that the calls which started them lead to their output.
---@param root string
---@param on_done? fun(jobs: redline.Job[])
function M.refresh(root, on_done)
  local lsp = require("redline.lsp")
  local client = lsp.client_of(root)
  if not client then
    return on_done and lsp.report(lsp.GONE)
  end
  lsp.request(client, method.JOB_LIST, { ended = true }, function(err, result)
    if err then
      -- Where nobody waits for it, what asked for the refresh has told already.
      return on_done and lsp.report(err)
    end
    for _, job in ipairs(result.jobs) do
      of(root)[job.id] = job
      require("redline.chat").changed(root, { job = job })
    end
    if on_done then
      on_done(result.jobs)
    end
  end)
end

---Lets the user pick a job: `:Redline jobs`.
function M.pick()
  local root = require("redline.session").root_here()
  if not root then
    return
  end
  M.refresh(root, function(jobs)
    if #jobs == 0 then
      return require("redline.review").say("no job has run")
    end
    vim.ui.select(jobs, {
      prompt = "Redline, jobs:",
      kind = "redline.job",
      format_item = function(job)
        return ("%s · %s"):format(quote.argv(job.command), M.state(job))
      end,
    }, function(job)
      if job then
        M.open(root, job.id)
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
