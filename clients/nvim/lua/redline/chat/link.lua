---Where the lines of a conversation lead. Nothing opens in the conversation's own window.
local M = {}

local api = vim.api

---A window to show a file in: this one or the last one, where they show files, else any, else a new one beside.
---@return integer win
local function other_window()
  local here = api.nvim_get_current_win()
  local candidates = { here, vim.fn.win_getid(vim.fn.winnr("#")) }
  vim.list_extend(candidates, api.nvim_tabpage_list_wins(0))
  for _, win in ipairs(candidates) do
    if win ~= 0 and api.nvim_win_is_valid(win) then
      local floating = api.nvim_win_get_config(win).relative ~= ""
      if not floating and vim.bo[api.nvim_win_get_buf(win)].buftype == "" then
        return win
      end
    end
  end
  vim.cmd("leftabove vsplit")
  return api.nvim_get_current_win()
end

---Opens a file in another window.
---@param path string absolute
---@param line? integer 1-based
function M.open(path, line)
  api.nvim_set_current_win(other_window())
  local bufnr = vim.fn.bufadd(path)
  vim.bo[bufnr].buflisted = true
  if api.nvim_get_current_buf() ~= bufnr then
    vim.cmd("normal! m'")
    -- By name, so that a swap file or a change on disk is met as always.
    local ok, why = pcall(vim.cmd.edit, vim.fn.fnameescape(path))
    if not ok then
      vim.notify("redline: " .. tostring(why), vim.log.levels.ERROR)
      return
    end
  end
  if line then
    api.nvim_win_set_cursor(0, { math.max(1, math.min(line, api.nvim_buf_line_count(0))), 0 })
    vim.cmd("normal! ^zv")
  end
end

---@param transaction redline.Transaction
---@param hunk_id? string absent means the first that waits, else the first
---@return redline.FileChange? file
---@return redline.Hunk? hunk
local function find(transaction, hunk_id)
  local file, hunk
  for _, each in ipairs(transaction.files) do
    file = file or each
    for _, candidate in ipairs(each.hunks) do
      local waits = candidate.state == "pending" or candidate.state == "conflict"
      if candidate.id == hunk_id or (not hunk_id and waits) then
        return each, candidate
      end
      if not hunk then
        file, hunk = each, candidate
      end
    end
  end
  return file, hunk
end

---Shows a file of a transaction, with the cursor on a hunk.
---@param file redline.FileChange
---@param hunk? redline.Hunk
function M.show(file, hunk)
  M.open(vim.uri_to_fname(file.uri), hunk and math.max(1, #hunk.removed == 0 and hunk.startLine - 1 or hunk.startLine))
  -- Where the text has moved meanwhile, the anchor knows better than the number.
  local row = hunk and require("redline.document").rows(api.nvim_get_current_buf(), hunk.id)
  if row then
    api.nvim_win_set_cursor(0, { math.min(row + 1, api.nvim_buf_line_count(0)), 0 })
  end
end

---Shows a hunk of a transaction.
---@param transaction? redline.Transaction
---@param hunk_id? string absent means the first that waits
function M.to_hunk(transaction, hunk_id)
  local file, hunk = nil, nil
  if transaction then
    file, hunk = find(transaction, hunk_id)
  end
  if file then
    M.show(file, hunk)
  else
    vim.notify("redline: this hunk is not there any more", vim.log.levels.WARN)
  end
end

---Opens the file that a word names, as `path`, `path:line` or `path:line:col`.
---@param conversation redline.Conversation
---@return boolean opened
local function under_cursor(conversation)
  local word = vim.fn.expand("<cWORD>"):gsub("^[`'\"(%[*]+", ""):gsub("[`'\")%],.;*]+$", "")
  local path, line = word:match("^(.-):(%d+)")
  path = path or word
  if path == "" then
    return false
  end
  local full = path:sub(1, 1) == "/" and path or (conversation.root .. "/" .. path)
  local found = vim.uv.fs_stat(full)
  if not found or found.type ~= "file" then
    return false
  end
  M.open(full, tonumber(line))
  return true
end

---Follows what stands under the cursor.
---@param conversation redline.Conversation
---@param link? redline.Link
---@return boolean followed
function M.follow(conversation, link)
  if not link then
    return under_cursor(conversation)
  elseif link.kind == "hunk" or link.kind == "transaction" then
    M.to_hunk(require("redline.transactions").get(conversation.root, link.transaction), link.hunk)
  elseif link.kind == "place" then
    local path = link.path
    M.open(path:sub(1, 1) == "/" and path or (conversation.root .. "/" .. path), link.line)
  elseif link.kind == "job" then
    require("redline.job").open(conversation.root, link.job)
  elseif link.kind == "approval" then
    require("redline.approval").ask(conversation.root, link.approval)
  elseif link.kind == "plan" then
    require("redline.plan").open(conversation.root, link.plan)
  end
  return true
end

return M
