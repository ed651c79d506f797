---The conversation as people see it: a markdown buffer in an ordinary window, and what keeps it up to date.
local M = {}

local api = vim.api
local draw = require("redline.chat.draw")
local follow = require("redline.chat.follow")
local prompt = require("redline.chat.prompt")

---Between two flushes; longer where one takes long, so that most of the time is left to the editor.
local FLUSH_MS = 33
local MAX_FLUSH_MS = 500
---While a long history is drawn.
local BACKLOG_MS = 16

---@type table<integer, redline.Board> by buffer
local boards = {}

local numbers = 0

---@param bufnr integer
---@return redline.Board?
function M.board(bufnr)
  return boards[bufnr]
end

---Buffers of the conversations of a project.
---@param root string
---@return integer[]
function M.buffers(root)
  local found = {}
  for bufnr, board in pairs(boards) do
    if board.conversation.root == root and api.nvim_buf_is_valid(bufnr) then
      found[#found + 1] = bufnr
    end
  end
  return found
end

---@param conversation redline.Conversation
---@return redline.Board?
local function board_of(conversation)
  for _, board in pairs(boards) do
    if board.conversation == conversation then
      return board
    end
  end
end

---Whether a window shows a conversation.
---@param conversation redline.Conversation
---@return boolean
function M.visible(conversation)
  local board = board_of(conversation)
  return board ~= nil and #vim.fn.win_findbuf(board.bufnr) > 0
end

---Whether a window shows the conversation of a session.
---@param root string
---@param session_id string
---@return boolean
function M.shows_session(root, session_id)
  for _, board in pairs(boards) do
    local conversation = board.conversation
    if conversation.root == root and conversation.session_id == session_id then
      return M.visible(conversation)
    end
  end
  return false
end

---@param root string
---@param conversation redline.Conversation
---@return redline.EntryContext
local function context_of(root, conversation)
  return {
    approval = function(id)
      return require("redline.approval").get(root, id)
    end,
    transaction = function(id)
      return require("redline.transactions").get(root, id)
    end,
    plan = function(id)
      return require("redline.plan").get(root, id)
    end,
    job = function(id)
      return require("redline.job").get(root, id)
    end,
    job_of = function(tool_call_id)
      return require("redline.job").of_call(root, tool_call_id)
    end,
    turn_transaction = function(turn_id)
      return turn_id and conversation.transcript.transactions[turn_id]
    end,
  }
end

---@type table<redline.Board, { due: boolean, last: number, pause: number }>
local timing = setmetatable({}, { __mode = "k" })

---@param board redline.Board
local function flush(board)
  local times = timing[board]
  times.due = false
  if not api.nvim_buf_is_loaded(board.bufnr) then
    return
  end
  -- Of the processor: what other programs take of it is no reason to wait.
  local begun = os.clock()
  local wins = follow.of(board.bufnr)
  local more = draw.flush(board)
  follow.show_end(wins)
  prompt.hint(board)
  require("redline.chat.bar").refresh(board)
  times.last = vim.uv.hrtime()
  local least = more and BACKLOG_MS or FLUSH_MS
  times.pause = math.max(least, math.min(MAX_FLUSH_MS, (more and 1000 or 3000) * (os.clock() - begun)))
  if more then
    M.update(board.conversation)
  end
end

---Draws what changed, soon: many changes make one flush.
---@param conversation redline.Conversation
function M.update(conversation)
  local board = board_of(conversation)
  if not board then
    return
  end
  local times = timing[board]
  if times.due then
    return
  end
  times.due = true
  local passed = (vim.uv.hrtime() - times.last) / 1e6
  vim.defer_fn(function()
    flush(board)
  end, math.max(0, math.floor(times.pause - passed)))
end

---@class (exact) redline.Changed
---@field approval? string
---@field transaction? string
---@field job? redline.Job
---@field plan? string

---@param entry redline.Entry
---@param transcript redline.Transcript
---@param what redline.Changed
---@return boolean
local function concerns(entry, transcript, what)
  if entry.kind == "plan" then
    return what.plan ~= nil and entry.plan_id == what.plan
  elseif entry.kind == "end" then
    return what.transaction ~= nil and transcript.transactions[entry.turn_id] == what.transaction
  elseif entry.kind ~= "call" then
    return false
  elseif what.approval then
    return entry.call._approvalId == what.approval
  elseif what.job and what.job.toolCallId == entry.call.toolCallId then
    return true
  end
  for _, content in ipairs(entry.call.content or {}) do
    if
      (what.transaction and content.transactionId == what.transaction)
      or (what.job and content.terminalId == what.job.id)
    then
      return true
    end
  end
  return false
end

---Draws again what speaks of something that changed.
---@param root string
---@param what redline.Changed
function M.changed(root, what)
  for _, board in pairs(boards) do
    local conversation = board.conversation
    if conversation.root == root then
      local transcript = conversation.transcript
      for _, entry in ipairs(transcript.entries) do
        if entry.shown and concerns(entry, transcript, what) then
          require("redline.chat.transcript").touch(transcript, entry)
        end
      end
      M.update(conversation)
    end
  end
end

---Shows a plan in the conversation that proposed it.
---@param root string
---@param plan redline.Plan
function M.plan(root, plan)
  for _, board in pairs(boards) do
    local conversation = board.conversation
    if conversation.root == root and conversation.session_id == plan.sessionId then
      local transcript = conversation.transcript
      if plan.state == "proposed" or transcript.by_key["plan:" .. plan.id] then
        require("redline.chat.transcript").plan(transcript, plan.id, conversation.turn_id)
      end
      M.update(conversation)
    end
  end
end

---Writes a conversation anew.
---@param conversation redline.Conversation
function M.reset(conversation)
  local board = board_of(conversation)
  if board then
    M.restore(board, prompt.lines(board))
  end
end

---Writes everything anew, but for what was typed.
---@param board redline.Board
---@param typed string[]
function M.restore(board, typed)
  local wins = follow.of(board.bufnr)
  draw.reset(board)
  prompt.set(board, typed)
  local deadline = vim.uv.hrtime() + 50e6
  while draw.flush(board) and vim.uv.hrtime() < deadline do
  end
  for _, win in ipairs(vim.fn.win_findbuf(board.bufnr)) do
    draw.fold_window(board, win)
  end
  follow.show_end(wins)
  M.update(board.conversation)
end

---Sends what is typed.
---@param board redline.Board
function M.send(board)
  local conversation = board.conversation
  local text = prompt.text(board)
  if text == "" then
    return require("redline.review").say("nothing is typed yet")
  end
  if api.nvim_get_mode().mode:find("^i") then
    vim.cmd.stopinsert()
  end
  local about = conversation.about
  local typed = prompt.lines(board)
  prompt.clear(board)
  require("redline.session").choose(conversation)
  require("redline.session").send(conversation, text, about and about.context, function(err)
    if not err then
      conversation.about = nil
    elseif api.nvim_buf_is_loaded(board.bufnr) and prompt.text(board) == "" then
      -- What was typed is not lost with the failure.
      prompt.set(board, typed)
    end
  end)
end

---Puts the cursor of this window at the end of the prompt.
function M.enter_prompt()
  local board = boards[api.nvim_get_current_buf()]
  if board then
    prompt.enter(board, api.nvim_get_current_win())
  end
end

---The link under the cursor, in a conversation.
---@return redline.Link?
function M.link_here()
  local board = boards[api.nvim_get_current_buf()]
  if not board then
    return nil
  end
  local entry, line = draw.at(board, api.nvim_win_get_cursor(0)[1] - 1)
  return entry and entry.shown.links[line]
end

---@param win integer
local function dress(win)
  for name, value in pairs({
    winbar = "%!v:lua.require'redline.chat.bar'.winbar()",
    foldmethod = "manual",
    foldenable = true,
    foldtext = "v:lua.require'redline.chat.folds'.text()",
    foldcolumn = "0",
    fillchars = "fold: ",
    wrap = true,
    linebreak = true,
    breakindent = true,
    number = false,
    relativenumber = false,
    signcolumn = "no",
    spell = false,
    list = false,
    conceallevel = 0,
  }) do
    api.nvim_set_option_value(name, value, { scope = "local", win = win })
  end
end

---@param conversation redline.Conversation
---@return redline.Board
local function make(conversation)
  require("redline.highlights").setup()
  numbers = numbers + 1
  local bufnr = api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(bufnr, ("redline://conversation/%d"):format(numbers))
  vim.bo[bufnr].bufhidden = "hide"
  vim.bo[bufnr].swapfile = false
  ---@type redline.Board
  local board = {
    bufnr = bufnr,
    conversation = conversation,
    n_history = 0,
    writing = false,
    context = context_of(conversation.root, conversation),
  }
  boards[bufnr] = board
  vim.b[bufnr].redline_root = conversation.root
  timing[board] = { due = false, last = 0, pause = FLUSH_MS }
  draw.reset(board)
  prompt.set(board, {})
  vim.bo[bufnr].filetype = "markdown"
  if not pcall(vim.treesitter.start, bufnr, "markdown") then
    vim.bo[bufnr].syntax = "markdown"
  end
  prompt.guard(board)
  require("redline.chat.keys").set(board)
  local group = api.nvim_create_augroup("redline.chat." .. bufnr, { clear = false })
  api.nvim_create_autocmd({ "BufWinEnter", "WinEnter" }, {
    group = group,
    buffer = bufnr,
    callback = function(args)
      local win = api.nvim_get_current_win()
      -- A window split off another one has its options and folds already.
      if api.nvim_win_get_buf(win) == bufnr and (args.event == "BufWinEnter" or vim.w[win].redline_chat ~= bufnr) then
        vim.w[win].redline_chat = bufnr
        dress(win)
        draw.fold_window(board, win)
      end
    end,
  })
  api.nvim_create_autocmd("BufWipeout", {
    group = group,
    buffer = bufnr,
    callback = function()
      boards[bufnr] = nil
      pcall(api.nvim_del_augroup_by_id, group)
    end,
  })
  M.update(conversation)
  return board
end

---The window that shows a conversation of the project in this tab page: another one takes its place.
---@param root string
---@return integer?
local function window_of(root)
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local board = boards[api.nvim_win_get_buf(win)]
    if board and board.conversation.root == root then
      return win
    end
  end
end

---Shows a conversation, in the window that has one or in a new one, with the cursor in the prompt.
---@param conversation redline.Conversation
---@param mods? string modifiers of the command, as `vertical` or `tab`
function M.open(conversation, mods)
  local board = board_of(conversation) or make(conversation)
  local win = vim.fn.win_findbuf(board.bufnr)[1]
  local given = mods ~= nil and mods ~= ""
  if win and not given then
    api.nvim_set_current_win(win)
  elseif window_of(conversation.root) and not given then
    win = window_of(conversation.root)
    api.nvim_set_current_win(win)
    api.nvim_win_set_buf(win, board.bufnr)
  else
    local wide = vim.o.columns >= 120
    local how = given and mods or (wide and "botright vertical" or "botright")
    vim.cmd(("%s sbuffer %d"):format(how, board.bufnr))
    win = api.nvim_get_current_win()
    if how == "botright" then
      api.nvim_win_set_height(win, math.max(10, math.floor(vim.o.lines * 0.45)))
    end
  end
  prompt.enter(board, win)
  require("redline.status").publish(conversation.root)
  M.update(conversation)
end

---`:Redline chat`: shows the current conversation; with lines, they are what the next prompt is about.
---@param range? [integer, integer] 1-based lines
---@param mods? string
function M.command(range, mods)
  local session = require("redline.session")
  local conversation = session.here()
  if not conversation then
    return
  end
  conversation.about = require("redline.ask").about(api.nvim_get_current_buf(), range) or conversation.about
  M.open(conversation, mods)
end

---`:Redline new`: begins another conversation and shows it.
---@param mods? string
function M.new(mods)
  local session = require("redline.session")
  local root = session.root_here()
  if root then
    local about = require("redline.ask").about(api.nvim_get_current_buf())
    local conversation = session.begin(root)
    conversation.about = about
    M.open(conversation, mods)
  end
end

return M
