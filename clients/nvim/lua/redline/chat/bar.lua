---The bar above a conversation: what it is, which model and mode, what it does, what it costs, what waits.
local M = {}

local entry = require("redline.chat.entry")

---@param text string
---@return string
local function escape(text)
  return (text:gsub("%%", "%%%%"):gsub("%c", " "))
end

---@param group string
---@param text string
---@return string
local function colored(group, text)
  return ("%%#%s#%s%%*"):format(group, escape(text))
end

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
  local words, group = unpack(STATES[state])
  if state == "running" and conversation.activity then
    words = "● " .. conversation.activity
  end
  return { words, group }
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
    parts[#parts + 1] = entry.tokens(usage.used) .. (usage.size and (" of " .. entry.tokens(usage.size)) or " tokens")
  end
  if usage.cost then
    parts[#parts + 1] = entry.money(usage.cost)
  end
  if #parts == 0 then
    return nil
  end
  return (usage._estimated and "about " or "") .. table.concat(parts, " · ")
end

---@param conversation redline.Conversation
---@param width integer cells
---@return string
function M.text(conversation, width)
  local status = require("redline.status")
  local words, group = unpack(M.state(conversation))
  local counts = status.counts_of(conversation.root)
  local right = {}
  if status.waiting(conversation.root) > 0 then
    right[#right + 1] = colored("RedlineWaits", require("redline.block").count(status.waiting(conversation.root), "approval"))
  end
  right[#right + 1] = escape(("%d pending"):format(counts.pending))
  if counts.conflicts > 0 then
    right[#right + 1] = colored("RedlineWaits", require("redline.block").count(counts.conflicts, "conflict"))
  end
  local usage = M.usage(conversation.usage)
  if usage and width >= 70 then
    right[#right + 1] = escape(usage)
  end
  local left = { colored(group, words) }
  local mode = conversation.mode or status.mode(conversation.root)
  if mode then
    left[#left + 1] = escape(mode)
  end
  local model = conversation.model or status.model(conversation.root)
  if model and model ~= "" and width >= 50 then
    left[#left + 1] = escape(model)
  end
  if conversation.title and width >= 90 then
    left[#left + 1] = escape(conversation.title)
  end
  return (" %s%%<%%=%s "):format(table.concat(left, " · "), table.concat(right, " · "))
end

---What 'winbar' evaluates in the window that it is drawn for.
---@return string
function M.winbar()
  local win = vim.g.statusline_winid or vim.api.nvim_get_current_win()
  local board = require("redline.chat").board(vim.api.nvim_win_get_buf(win))
  return board and M.text(board.conversation, vim.api.nvim_win_get_width(win)) or ""
end

return M
