---The bar above a conversation: what it is, which model and mode, what it does, what it costs, what waits.
local M = {}

local words = require("redline.chat.words")

---@class (exact) redline.BarPart
---@field text string
---@field group? string
---@field rank integer parts of a higher rank go first where there is no room

local STATES = {
  idle = { "○ ready", "RedlineMuted" },
  running = { "● working", "RedlineSignAdd" },
  requires_action = { "◆ waits for you", "RedlineWaits" },
  gone = { "✗ not connected", "RedlineSignRemove" },
  loading = { "● loading", "RedlineMuted" },
}

---@param conversation redline.Conversation
---@return { [1]: string, [2]: string } words and group
function M.state(conversation)
  local state = conversation.loading and "loading" or conversation.state
  if not require("redline.session").client(conversation) then
    state = "gone"
  end
  local text, group = unpack(STATES[state])
  if state == "running" and conversation.activity then
    text = "● " .. conversation.activity
  end
  return { text, group }
end

---Tokens and money: `12.3k of 200k · $0.03`.
---@param usage? redline.UsageUpdate
---@return string?
function M.usage(usage)
  if not usage then
    return nil
  end
  local parts = {}
  if usage.used then
    parts[#parts + 1] = words.tokens(usage.used) .. (usage.size and (" of " .. words.tokens(usage.size)) or " tokens")
  end
  if usage.cost then
    parts[#parts + 1] = words.money(usage.cost)
  end
  if #parts == 0 then
    return nil
  end
  return (usage._estimated and "about " or "") .. table.concat(parts, " · ")
end

---@param conversation redline.Conversation
---@return redline.BarPart[] left
---@return redline.BarPart[] right
local function parts_of(conversation)
  local status, count = require("redline.status"), require("redline.block").count
  local root = conversation.root
  local state, counts = M.state(conversation), status.counts_of(root)
  local left = { { text = state[1], group = state[2], rank = 0 } }
  local right = {}
  ---@param parts redline.BarPart[]
  local function add(parts, text, rank, group)
    if text and text ~= "" then
      parts[#parts + 1] = { text = text, rank = rank, group = group }
    end
  end
  add(left, conversation.mode or status.mode(root), 1)
  add(left, conversation.model or status.model(root), 4)
  add(left, conversation.title, 6)
  local waiting = status.waiting(root)
  add(right, waiting > 0 and ("%d to approve"):format(waiting) or nil, 2, "RedlineWaits")
  add(right, ("%d pending"):format(counts.pending), 2)
  add(right, counts.conflicts > 0 and count(counts.conflicts, "conflict") or nil, 3, "RedlineWaits")
  add(right, M.usage(conversation.usage), 5)
  return left, right
end

---@param parts redline.BarPart[]
---@param rank integer
---@return string text for 'winbar'
---@return integer width
local function join(parts, rank)
  local texts, width = {}, 0
  for _, part in ipairs(parts) do
    if part.rank <= rank then
      local plain = part.text:gsub("%c", " ")
      local text = plain:gsub("%%", "%%%%")
      texts[#texts + 1] = part.group and ("%%#%s#%s%%*"):format(part.group, text) or text
      width = width + vim.api.nvim_strwidth(plain) + 3
    end
  end
  return table.concat(texts, " · "), width
end

---@param conversation redline.Conversation
---@param width integer cells
---@return string
function M.text(conversation, width)
  local left, right = parts_of(conversation)
  for rank = 6, 0, -1 do
    local left_text, left_width = join(left, rank)
    local right_text, right_width = join(right, rank)
    if rank == 0 or left_width + right_width <= width then
      return (" %s%%<%%=%s "):format(left_text, right_text)
    end
  end
  return ""
end

---@type table<redline.Board, string> what each bar was drawn from
local drawn = setmetatable({}, { __mode = "k" })

---Has the bars of a conversation drawn again where they say something else now.
---@param board redline.Board
function M.refresh(board)
  local text = M.text(board.conversation, 1000)
  if drawn[board] ~= text then
    drawn[board] = text
    vim.cmd.redrawstatus({ bang = true })
  end
end

---What 'winbar' evaluates in the window that it is drawn for.
---@return string
function M.winbar()
  local win = vim.g.statusline_winid or vim.api.nvim_get_current_win()
  local board = require("redline.chat").board(vim.api.nvim_win_get_buf(win))
  return board and M.text(board.conversation, vim.api.nvim_win_get_width(win)) or ""
end

return M
