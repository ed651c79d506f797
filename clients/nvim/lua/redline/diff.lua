---A file beside what it would be: the editor's own diff, in a tab page of its own.
local M = {}

local api = vim.api

---@class (exact) redline.Diff
---@field bufnr integer the file
---@field proposed integer buffer of the text that it would have
---@field tab integer

---Lines of a buffer with its pending hunks in. Conflicts stay as they are: nobody can say what they would give.
---@param bufnr integer
---@return string[]
function M.proposed(bufnr)
  local lines = api.nvim_buf_get_lines(bufnr, 0, -1, false)
  local document = require("redline.document")
  local result, row = {}, 0
  for _, placed in ipairs(document.placed(bufnr)) do
    if placed.shown.hunk.state == "pending" and placed.first >= row then
      vim.list_extend(result, lines, row + 1, placed.first)
      vim.list_extend(result, placed.shown.hunk.added)
      row = placed.last
    end
  end
  return vim.list_extend(result, lines, row + 1, #lines)
end

---@param diff redline.Diff
local function draw(diff)
  local bo = vim.bo[diff.proposed]
  bo.modifiable = true
  api.nvim_buf_set_lines(diff.proposed, 0, -1, false, M.proposed(diff.bufnr))
  bo.modifiable = false
  vim.cmd("diffupdate")
end

---@param bufnr integer
---@return integer
local function scratch(bufnr)
  local proposed = api.nvim_create_buf(false, true)
  local name = ("redline://proposed/%s"):format(vim.fn.fnamemodify(api.nvim_buf_get_name(bufnr), ":."))
  local present = vim.fn.bufnr(("^%s$"):format(vim.fn.escape(name, "[]*?{},\\")))
  if present ~= -1 then
    api.nvim_buf_delete(present, { force = true })
  end
  api.nvim_buf_set_name(proposed, name)
  vim.bo[proposed].bufhidden = "wipe"
  -- Colours without the plugins that a file type starts.
  local filetype = vim.bo[bufnr].filetype
  if not pcall(vim.treesitter.start, proposed, vim.treesitter.language.get_lang(filetype)) then
    vim.bo[proposed].syntax = filetype
  end
  return proposed
end

---Opens the diff of the file in this window. `do` takes a change over, `]c` and `[c` move, `q` at the right closes.
function M.open()
  local bufnr = api.nvim_get_current_buf()
  local document = require("redline.document")
  if #document.pending(bufnr) == 0 then
    return require("redline.review").say("no hunk in this file")
  end
  local view = vim.fn.winsaveview()
  vim.cmd("tab split")
  local tab, left = api.nvim_get_current_tabpage(), api.nvim_get_current_win()
  ---@type redline.Diff
  local diff = { bufnr = bufnr, proposed = scratch(bufnr), tab = tab }
  vim.cmd("rightbelow vsplit")
  api.nvim_win_set_buf(0, diff.proposed)
  draw(diff)
  vim.cmd("diffthis")
  vim.wo.winbar = "as proposed · q closes"
  vim.keymap.set("n", "q", "<Cmd>tabclose<CR>", { buffer = diff.proposed, nowait = true, desc = "Redline: close" })
  api.nvim_set_current_win(left)
  vim.cmd("diffthis")
  vim.wo.winbar = "as it is · do takes a change over · :Redline accept"
  vim.fn.winrestview(view)
  local render = require("redline.render")
  render.schedule(bufnr)
  local group = api.nvim_create_augroup("redline.diff." .. diff.proposed, {})
  api.nvim_create_autocmd("User", {
    group = group,
    pattern = "RedlineUpdate",
    callback = function()
      if not api.nvim_buf_is_valid(diff.proposed) or not api.nvim_buf_is_loaded(bufnr) then
        return true
      end
      draw(diff)
    end,
  })
  api.nvim_create_autocmd("TabEnter", {
    group = group,
    callback = function()
      render.schedule(bufnr)
    end,
  })
  api.nvim_create_autocmd({ "TextChanged", "InsertLeave" }, {
    group = group,
    buffer = bufnr,
    callback = function()
      if not api.nvim_buf_is_valid(diff.proposed) then
        return true
      end
      draw(diff)
    end,
  })
  api.nvim_create_autocmd("BufWipeout", {
    group = group,
    buffer = diff.proposed,
    callback = function()
      api.nvim_del_augroup_by_id(group)
      for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
        if vim.wo[win].diff then
          api.nvim_win_call(win, function()
            vim.cmd("diffoff")
          end)
        end
      end
      render.schedule(bufnr)
    end,
  })
end

return M
