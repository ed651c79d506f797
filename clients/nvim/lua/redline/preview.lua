---Whole views of what is cut or hidden in place: a hunk, the three sides of a conflict, a transaction.
local M = {}

local api = vim.api

---@param lines string[]
---@param prefix string
---@param from string[]
local function prefixed(lines, prefix, from)
  for _, line in ipairs(from) do
    lines[#lines + 1] = prefix .. line
  end
end

---@param shown redline.DocumentHunk
---@return string[] lines
---@return string filetype
function M.hunk_lines(shown)
  local hunk = shown.hunk
  if hunk.conflict then
    local lines = { "Conflict: " .. hunk.conflict.reason, "" }
    for _, side in ipairs({
      { "Written against", hunk.conflict.base, " " },
      { "Now", hunk.conflict.current, "-" },
      { "Proposed", hunk.conflict.proposed, "+" },
    }) do
      lines[#lines + 1] = ("@@ %s @@"):format(side[1])
      prefixed(lines, side[3], side[2])
    end
    vim.list_extend(lines, {
      "",
      ":Redline repropose  propose it again for the lines that stand there now",
      ":Redline keep       keep these lines, withdraw the hunk",
    })
    return lines, "diff"
  end
  local lines = {}
  if hunk.rationale and hunk.rationale ~= "" then
    vim.list_extend(lines, vim.split(hunk.rationale, "\n"))
    lines[#lines + 1] = ""
  end
  lines[#lines + 1] = ("@@ -%d,%d +%d,%d @@"):format(hunk.startLine, #hunk.removed, hunk.startLine, #hunk.added)
  prefixed(lines, "-", hunk.removed)
  prefixed(lines, "+", hunk.added)
  if hunk.noNewlineAtEnd then
    lines[#lines + 1] = "\\ No newline at end of file"
  end
  return lines, "diff"
end

---@param transaction redline.Transaction
---@return string[]
function M.transaction_lines(transaction)
  local hunks, added, removed = 0, 0, 0
  for _, file in ipairs(transaction.files) do
    hunks = hunks + #file.hunks
    for _, hunk in ipairs(file.hunks) do
      added, removed = added + #hunk.added, removed + #hunk.removed
    end
  end
  local count = require("redline.block").count
  local lines = {
    ("%s  %s"):format(transaction.title, transaction.id),
    ("%s · %s · %s · +%d −%d · %s"):format(
      transaction.state,
      count(#transaction.files, "file"),
      count(hunks, "hunk"),
      added,
      removed,
      transaction.proposedBy
    ),
  }
  if transaction.rationale then
    vim.list_extend(lines, vim.split(transaction.rationale, "\n"))
  end
  for _, file in ipairs(transaction.files) do
    lines[#lines + 1] = ""
    local target = file.newPath and (" => " .. file.newPath) or ""
    local notes = #(file.flags or {}) > 0 and (" (%s)"):format(table.concat(file.flags, ", ")) or ""
    lines[#lines + 1] = ("diff %s %s%s%s"):format(file.operation, file.path, target, notes)
    for _, hunk in ipairs(file.hunks) do
      lines[#lines + 1] = ("@@ -%d,%d +%d,%d @@ %s%s"):format(
        hunk.startLine,
        #hunk.removed,
        hunk.startLine,
        #hunk.added,
        hunk.state,
        hunk.rationale and (" · " .. hunk.rationale:gsub("%s+", " ")) or ""
      )
      prefixed(lines, "-", hunk.conflict and hunk.conflict.current or hunk.removed)
      prefixed(lines, "+", hunk.added)
    end
  end
  return lines
end

---@param lines string[]
---@param filetype string
---@param name? string
---@return integer bufnr
local function scratch(lines, filetype, name)
  local bufnr = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(
    bufnr,
    0,
    -1,
    false,
    vim.tbl_map(function(line)
      return (line:gsub("\n", " "))
    end, lines)
  )
  vim.bo[bufnr].filetype = filetype
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].bufhidden = "wipe"
  if name then
    api.nvim_buf_set_name(bufnr, name)
  end
  return bufnr
end

---@type integer? window of the float that is open
local open

---Shows lines in a float at the cursor; a second call enters it, any move of the cursor closes it.
---@param lines string[]
---@param filetype string
---@param title string
function M.float(lines, filetype, title)
  if open and api.nvim_win_is_valid(open) then
    api.nvim_set_current_win(open)
    return
  end
  local from = api.nvim_get_current_buf()
  local bufnr = scratch(lines, filetype)
  local width = api.nvim_strwidth(title) + 2
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  local below = vim.o.lines - vim.fn.screenrow() - vim.o.cmdheight - 3
  local above = vim.fn.screenrow() - 3
  local south = below >= math.min(#lines, 10) or below >= above
  open = api.nvim_open_win(bufnr, false, {
    relative = "cursor",
    row = south and 1 or 0,
    col = 0,
    anchor = south and "NW" or "SW",
    width = math.max(10, math.min(width, vim.o.columns - 4)),
    height = math.max(1, math.min(#lines, south and below or above)),
    style = "minimal",
    border = "rounded",
    title = " " .. title .. " ",
    focusable = true,
  })
  vim.wo[open].wrap = true
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = bufnr, nowait = true, desc = "Close" })
  local win = open
  local function close()
    if api.nvim_win_is_valid(win) and api.nvim_get_current_win() ~= win then
      api.nvim_win_close(win, true)
      return true
    end
    return not api.nvim_win_is_valid(win)
  end
  -- Set after this event loop turn: opening the window must not close it.
  vim.schedule(function()
    api.nvim_create_autocmd({ "CursorMoved", "InsertEnter", "BufHidden" }, { buffer = from, callback = close })
  end)
end

---Shows the hunk under the cursor whole, or the three sides of a conflict.
function M.hunk()
  if open and api.nvim_win_is_valid(open) then
    api.nvim_set_current_win(open)
    return
  end
  local placed = require("redline.review").under_cursor()
  if placed then
    local lines, filetype = M.hunk_lines(placed.shown)
    M.float(
      lines,
      filetype,
      require("redline.block").cut(require("redline.block").label(placed.shown), vim.o.columns - 8)
    )
  end
end

---Shows a transaction as a diff in a split: the one under the cursor, else all that are unsettled.
function M.transaction()
  local review = require("redline.review")
  local client, bufnr = review.client_here(), api.nvim_get_current_buf()
  if not client then
    return
  end
  local placed = require("redline.document").at(bufnr, api.nvim_win_get_cursor(0)[1] - 1)
  local lsp, method = require("redline.lsp"), require("redline.protocol").method
  local function show(transactions)
    if #transactions == 0 then
      return review.say("nothing pending")
    end
    local lines = {}
    for _, transaction in ipairs(transactions) do
      if #lines > 0 then
        lines[#lines + 1] = ""
      end
      vim.list_extend(lines, M.transaction_lines(transaction))
    end
    vim.cmd("belowright split")
    api.nvim_win_set_buf(0, scratch(lines, "diff"))
    vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = 0, nowait = true, desc = "Close" })
  end
  if placed then
    lsp.request(client, method.TRANSACTION_GET, { transactionId = placed.shown.transactionId }, function(err, result)
      if err then
        lsp.report(err)
      else
        show({ result })
      end
    end)
  else
    lsp.request(client, method.TRANSACTION_LIST, {}, function(err, result)
      if err then
        lsp.report(err)
      else
        show(result.transactions)
      end
    end)
  end
end

---Fills the quickfix list with everything that is pending in the workspace, and opens it.
function M.review()
  local review = require("redline.review")
  local client = review.client_here()
  if not client then
    return
  end
  local lsp, method = require("redline.lsp"), require("redline.protocol").method
  lsp.request(client, method.TRANSACTION_LIST, {}, function(err, result)
    if err then
      return lsp.report(err)
    end
    local items = {}
    for _, transaction in ipairs(result.transactions) do
      local total = 0
      for _, file in ipairs(transaction.files) do
        total = total + #file.hunks
      end
      for _, file in ipairs(transaction.files) do
        local name = vim.uri_to_fname(file.uri)
        if file.operation ~= "edit" and file.state == "pending" then
          items[#items + 1] =
            { filename = name, lnum = 1, text = ("%s %s"):format(file.operation, file.newPath or ""), type = "I" }
        end
        for _, hunk in ipairs(file.hunks) do
          local shown = { transactionId = transaction.id, total = total, hunk = hunk }
          if require("redline.document").is_open(shown) then
            items[#items + 1] = {
              filename = name,
              lnum = math.max(1, #hunk.removed == 0 and hunk.startLine - 1 or hunk.startLine),
              text = require("redline.block").label(shown),
              type = hunk.state == "conflict" and "W" or "I",
            }
          end
        end
      end
    end
    if #items == 0 then
      return review.say("nothing pending")
    end
    vim.fn.setqflist({}, " ", { title = "Redline: pending", items = items })
    vim.cmd("botright copen")
  end)
end

---Shows where things stand: the workspace, the turn and its answer.
function M.status()
  local review = require("redline.review")
  local client = review.client_here()
  if not client then
    return
  end
  local lsp, method = require("redline.lsp"), require("redline.protocol").method
  lsp.request(client, method.STATUS, {}, function(err, result)
    if err then
      return lsp.report(err)
    end
    ---@cast result redline.StatusResult
    local count = require("redline.block").count
    local lines = {
      ("workspace  %s"):format(result.workspace),
      ("model      %s"):format(result.model),
      ("mode       %s"):format(result.mode),
      ("sidecar    %s%s"):format(result.version, result.inProcess and ", in process" or ""),
    }
    if #result.approvals > 0 then
      lines[#lines + 1] = ("approvals  %d waiting (:Redline approve)"):format(#result.approvals)
    end
    for _, transaction in ipairs(result.transactions) do
      local pending, conflicts, unsaved = 0, 0, 0
      for _, file in ipairs(transaction.files) do
        for _, hunk in ipairs(file.hunks) do
          pending = pending + (hunk.state == "pending" and 1 or 0)
          conflicts = conflicts + (hunk.state == "conflict" and 1 or 0)
          unsaved = unsaved + (hunk.unsaved and 1 or 0)
        end
      end
      local parts = { transaction.title, count(#transaction.files, "file"), pending .. " pending" }
      if conflicts > 0 then
        parts[#parts + 1] = count(conflicts, "conflict")
      end
      if unsaved > 0 then
        parts[#parts + 1] = unsaved .. " accepted, not saved"
      end
      vim.list_extend(
        lines,
        { "", table.concat(parts, " · "), ("%s · %s"):format(transaction.id, transaction.proposedBy) }
      )
    end
    if #result.transactions == 0 then
      vim.list_extend(lines, { "", "Nothing pending." })
    end
    for _, recovery in ipairs(result.recovery) do
      vim.list_extend(lines, { "", "recovery: " .. recovery.message })
    end
    local conversation = require("redline.session").get(client.id)
    if conversation and conversation.transcript.n_turns > 0 then
      local transcripts = require("redline.chat.transcript")
      local ended = conversation.ended
      local reason = ended and (ended.message or (ended.reason == "end_turn" and "done") or ended.reason:gsub("^_", ""))
      local state = conversation.state == "idle" and ("ended: " .. (reason or "done"))
        or (conversation.state == "requires_action" and "waits for you (:Redline chat)")
        or ("running" .. (conversation.activity and ": " .. conversation.activity or ""))
      vim.list_extend(lines, { "", "turn " .. state })
      for _, call in ipairs(transcripts.calls(conversation.transcript)) do
        local mark = ({ completed = "✓", failed = "✗", cancelled = "✗", in_progress = "…" })[call.status] or " "
        lines[#lines + 1] = ("  %s %s"):format(mark, call.title or call._tool)
      end
      local answer = transcripts.answer(conversation.transcript)
      if answer ~= "" then
        lines[#lines + 1] = ""
        vim.list_extend(lines, vim.split(answer, "\n"))
      end
    end
    M.float(lines, "markdown", "Redline")
  end)
end

return M
