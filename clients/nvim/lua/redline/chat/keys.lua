---Keys of a conversation. They are set in its buffer and nowhere else.
local M = {}

local api = vim.api

---@class (exact) redline.ChatKey
---@field [1] string|string[] modes
---@field [2] string keys
---@field [3] string what it does
---@field [4] fun(board: redline.Board)

---@param board redline.Board
local function send(board)
  require("redline.chat").send(board)
end

---@param decision redline.ApprovalDecision
---@return fun(board: redline.Board)
local function decide(decision)
  return function()
    require("redline.approval").command(decision)
  end
end

---@param board redline.Board
local function deny_with_reason(board)
  local under = require("redline.chat").link_here()
  local root = board.conversation.root
  local waiting = require("redline.approval").waiting(root)
  if under and under.kind == "plan" then
    require("redline.plan").reject_with_reason(root, under.plan)
  elseif under and under.kind == "approval" then
    require("redline.approval").deny_with_reason(root, under.approval)
  elseif #waiting == 1 then
    require("redline.approval").deny_with_reason(root, waiting[1].id)
  else
    require("redline.review").say("put the cursor on the approval that you mean")
  end
end

---@param step 1|-1
---@return fun()
local function heading(step)
  return function()
    vim.fn.search([[^## ]], step == 1 and "W" or "bW")
  end
end

---@param board redline.Board
local function follow(board)
  local row = api.nvim_win_get_cursor(0)[1]
  if row > require("redline.chat.prompt").row(board) then
    return send(board)
  end
  local chat = require("redline.chat")
  if vim.fn.foldclosed(row) ~= -1 then
    vim.cmd("normal! zo")
  elseif
    not require("redline.chat.link").follow(board.conversation, chat.link_here()) and vim.fn.foldlevel(row) > 0
  then
    vim.cmd("normal! zc")
  end
end

---@type redline.ChatKey[]
M.keys = {
  { "n", "<CR>", "send the prompt; on a line: open the fold, the hunk, the file, the output", follow },
  { { "n", "i" }, "<C-s>", "send the prompt", send },
  {
    "n",
    "<C-c>",
    "stop the turn",
    function()
      require("redline.session").cancel()
    end,
  },
  { "n", "ga", "approve, or accept the plan", decide("approve") },
  { "n", "gx", "deny, or reject the plan", decide("deny") },
  { "n", "gX", "deny or reject, and say why", deny_with_reason },
  {
    "n",
    "gm",
    "pick the mode",
    function()
      require("redline.pick").mode()
    end,
  },
  {
    "n",
    "gM",
    "pick the model",
    function()
      require("redline.pick").model()
    end,
  },
  { { "n", "x" }, "]]", "next prompt or answer", heading(1) },
  { { "n", "x" }, "[[", "previous prompt or answer", heading(-1) },
  {
    "n",
    "g?",
    "these keys",
    function()
      M.help()
    end,
  },
}

---Shows the keys in a float.
function M.help()
  local lines = {}
  for _, key in ipairs(M.keys) do
    lines[#lines + 1] = ("%-6s %s"):format(key[2], key[3])
  end
  vim.list_extend(lines, { "", "/mode, /plan, /accept and /deny in a prompt are decisions;", "no model sees them." })
  require("redline.preview").float(lines, "help", "Redline: keys")
end

---@param board redline.Board
function M.set(board)
  for _, key in ipairs(M.keys) do
    vim.keymap.set(key[1], key[2], function()
      key[4](board)
    end, { buffer = board.bufnr, nowait = true, silent = true, desc = "Redline: " .. key[3] })
  end
  -- Above the prompt nothing can be typed: who begins to, means the prompt.
  for _, key in ipairs({ "i", "I", "a", "A", "o", "O" }) do
    vim.keymap.set("n", key, function()
      local prompt = require("redline.chat.prompt")
      if api.nvim_win_get_cursor(0)[1] > prompt.row(board) then
        return key
      end
      -- Keys and not calls: what is typed behind them has to come after them.
      return "<Cmd>lua require('redline.chat').enter_prompt()<CR>A"
    end, { buffer = board.bufnr, expr = true, replace_keycodes = true, desc = "Redline: type in the prompt" })
  end
end

return M
