---The prompt at the end of a conversation: the only lines that may be typed in, and the guard of all others.
local M = {}

local api = vim.api
local marks = api.nvim_create_namespace("redline.chat.prompt")

---Lines between the history and the prompt.
local HEADING = { "", "## You", "" }

---First line of the prompt, zero-based.
---@param board redline.Board
---@return integer
function M.row(board)
  return board.n_history + #HEADING
end

---@param board redline.Board
---@return string[]
function M.lines(board)
  return api.nvim_buf_get_lines(board.bufnr, M.row(board), -1, false)
end

---@param board redline.Board
---@return string
function M.text(board)
  return vim.trim(table.concat(M.lines(board), "\n"))
end

---Says what may be done, for as long as nothing is typed.
---@param board redline.Board
function M.hint(board)
  api.nvim_buf_clear_namespace(board.bufnr, marks, 0, -1)
  if M.text(board) ~= "" then
    return
  end
  local conversation = board.conversation
  local about = conversation.about
  local words = conversation.state == "running" and "a turn runs · <C-c> stops it"
    or (about and ("ask about %s · "):format(about.name) or "ask · ") .. "<CR> sends · g? keys"
  api.nvim_buf_set_extmark(board.bufnr, marks, api.nvim_buf_line_count(board.bufnr) - 1, 0, {
    virt_text = { { words, "RedlineMuted" } },
    virt_text_pos = "overlay",
  })
end

---Puts heading and prompt below the history.
---@param board redline.Board
---@param lines string[]
function M.set(board, lines)
  local text = vim.list_extend(vim.list_slice(HEADING), #lines > 0 and lines or { "" })
  require("redline.chat.draw").write(board, board.n_history, -1, text)
  M.hint(board)
end

---Empties the prompt.
---@param board redline.Board
function M.clear(board)
  require("redline.chat.draw").write(board, M.row(board), -1, { "" })
  M.hint(board)
end

---What is left of the prompt after a change that reached above it.
---@param board redline.Board
---@param first integer
---@param last integer
---@param new_last integer
---@return string[]
local function rescued(board, first, last, new_last)
  local from
  if first >= board.n_history then
    -- Only the heading was hit: a join, or a deletion that began in the prompt.
    from = last > M.row(board) and first or M.row(board) + new_last - last
  else
    from = math.max(first, M.row(board) + new_last - last)
  end
  local lines = api.nvim_buf_get_lines(board.bufnr, math.max(0, from), -1, false)
  while #lines > 1 and lines[1] == "" do
    table.remove(lines, 1)
  end
  return lines
end

---Watches the buffer: what reaches into the history is taken back.
---@param board redline.Board
function M.guard(board)
  api.nvim_buf_attach(board.bufnr, false, {
    on_lines = function(_, _, tick, first, last, new_last)
      if board.writing or not tick then
        return
      end
      if first >= M.row(board) then
        vim.schedule(function()
          if api.nvim_buf_is_loaded(board.bufnr) then
            M.hint(board)
          end
        end)
        return
      end
      local lines = rescued(board, first, last, new_last)
      board.writing = true
      vim.schedule(function()
        board.writing = false
        if api.nvim_buf_is_loaded(board.bufnr) then
          require("redline.chat").restore(board, lines)
        end
      end)
    end,
  })
  local group = api.nvim_create_augroup("redline.chat." .. board.bufnr, {})
  api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI", "BufEnter", "InsertEnter", "ModeChanged" }, {
    group = group,
    buffer = board.bufnr,
    callback = function()
      -- Also the other end of a selection: what it holds could be deleted.
      local inside = math.min(vim.fn.line("."), vim.fn.line("v")) > M.row(board)
      if vim.bo[board.bufnr].modifiable ~= inside then
        vim.bo[board.bufnr].modifiable = inside
      end
    end,
  })
end

---Puts the cursor at the end of the prompt.
---@param board redline.Board
---@param win integer
function M.enter(board, win)
  local last = api.nvim_buf_line_count(board.bufnr)
  local line = api.nvim_buf_get_lines(board.bufnr, last - 1, last, false)[1]
  vim.bo[board.bufnr].modifiable = true
  api.nvim_win_set_cursor(win, { last, #line })
end

return M
