---Keys: what the <Plug> maps do, and the opt-in maps of buffers that hold hunks.
local M = {}

local api = vim.api

---@return [integer, integer]? 1-based lines of the selection; absent outside visual mode
local function selection()
  local mode = api.nvim_get_mode().mode
  if not mode:find("^[vV\22]") then
    return nil
  end
  local from, to = vim.fn.line("v"), vim.fn.line(".")
  api.nvim_feedkeys(vim.keycode("<Esc>"), "nx", false)
  return { math.min(from, to), math.max(from, to) }
end

---@param verb redline.Verb
local function decide(verb)
  local range = selection()
  require("redline.review").decide(verb, range and "lines" or "hunk", range)
end

function M.accept()
  decide("accept")
end

function M.reject()
  decide("reject")
end

for _, verb in ipairs({ "accept", "reject" }) do
  for _, scope in ipairs({ "file", "transaction" }) do
    M[verb .. "_" .. scope] = function()
      require("redline.review").decide(verb, scope)
    end
  end
  M[verb .. "_operator"] = function()
    vim.o.operatorfunc = ("v:lua.require'redline.keys'.over_%s"):format(verb)
    return "g@"
  end
  -- By an operator over one character, so that `.` decides the hunk that the cursor is on then.
  M[verb .. "_repeatable"] = function()
    vim.o.operatorfunc = ("v:lua.require'redline.keys'.%s"):format(verb)
    return "g@l"
  end
  M["over_" .. verb] = function()
    local from, to = api.nvim_buf_get_mark(0, "[")[1], api.nvim_buf_get_mark(0, "]")[1]
    require("redline.review").decide(verb, "lines", { from, to })
  end
end

for _, where in ipairs({ "next", "prev", "first", "last" }) do
  M[where] = function()
    require("redline.jump").to(where, vim.v.count1)
  end
end

for verb, target in pairs({
  split = { "redline.review", "split" },
  amend = { "redline.amend", "open" },
  preview = { "redline.preview", "hunk" },
  show = { "redline.preview", "transaction" },
  review = { "redline.preview", "review" },
  overview = { "redline.overview", "toggle" },
  diff = { "redline.diff", "open" },
  cancel = { "redline.session", "cancel" },
  stop = { "redline.session", "cancel" },
  approve = { "redline.approval", "command" },
  mode = { "redline.pick", "mode" },
  model = { "redline.pick", "model" },
  sessions = { "redline.pick", "sessions" },
}) do
  M[verb] = function()
    require(target[1])[target[2]]()
  end
end

function M.undo()
  require("redline.review").restore("undo")
end

function M.redo()
  require("redline.review").restore("redo")
end

function M.chat()
  require("redline.chat").command(selection())
end

function M.ask()
  require("redline.ask").ask("", selection())
end

---Selects the lines of the hunk under the cursor.
function M.textobject()
  local placed = require("redline.review").under_cursor()
  if not placed or placed.first == placed.last then
    -- Nothing to select: an operator that waits is ended.
    return api.nvim_feedkeys(vim.keycode("<Esc>"), "n", false)
  end
  if api.nvim_get_mode().mode:find("^[vV\22]") then
    api.nvim_feedkeys(vim.keycode("<Esc>"), "nx", false)
  end
  api.nvim_win_set_cursor(0, { placed.first + 1, 0 })
  vim.cmd("normal! V")
  api.nvim_win_set_cursor(0, { placed.last, 0 })
end

---@return { [1]: string|string[], [2]: string, [3]: string }[] modes, keys, name of the <Plug> map
function M.maps()
  local prefix = require("redline.config").get().prefix
  return {
    { { "n", "x" }, "]r", "next" },
    { { "n", "x" }, "[r", "prev" },
    { { "n", "x" }, "]R", "last" },
    { { "n", "x" }, "[R", "first" },
    { { "o", "x" }, "ir", "textobject" },
    { { "n", "x" }, prefix .. "a", "accept" },
    { { "n", "x" }, prefix .. "r", "reject" },
    { "n", prefix .. "A", "accept-transaction" },
    { "n", prefix .. "R", "reject-transaction" },
    { "n", prefix .. "f", "accept-file" },
    { "n", prefix .. "F", "reject-file" },
    { "n", prefix .. "s", "split" },
    { "n", prefix .. "e", "amend" },
    { "n", prefix .. "p", "preview" },
    { "n", prefix .. "o", "overview" },
    { "n", prefix .. "q", "review" },
    { "n", prefix .. "d", "diff" },
    { "n", prefix .. "c", "chat" },
    { "n", prefix .. "u", "undo" },
    { { "n", "x" }, prefix .. "i", "ask" },
  }
end

---@type table<integer, fun()[]> what takes the maps of a buffer away again
local set = {}

---Sets the keys while a buffer holds hunks, and gives back what was there before.
---@param bufnr integer
---@param pending boolean
function M.update(bufnr, pending)
  if not pending then
    for _, restore in ipairs(set[bufnr] or {}) do
      restore()
    end
    set[bufnr] = nil
    return
  end
  if set[bufnr] or not require("redline.config").get().keymaps then
    return
  end
  local restores = {}
  api.nvim_buf_call(bufnr, function()
    for _, map in ipairs(M.maps()) do
      for _, mode in ipairs(type(map[1]) == "table" and map[1] or { map[1] }) do
        local before = vim.fn.maparg(map[2], mode, false, true)
        vim.keymap.set(mode, map[2], ("<Plug>(redline-%s)"):format(map[3]), {
          buffer = bufnr,
          remap = true,
          desc = "Redline: " .. map[3]:gsub("-", " "),
        })
        restores[#restores + 1] = function()
          pcall(vim.keymap.del, mode, map[2], { buffer = bufnr })
          if before.buffer == 1 and api.nvim_buf_is_valid(bufnr) then
            api.nvim_buf_call(bufnr, function()
              vim.fn.mapset(mode, false, before)
            end)
          end
        end
      end
    end
  end)
  set[bufnr] = restores
end

return M
