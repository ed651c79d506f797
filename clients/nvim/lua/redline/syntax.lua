---Syntax of lines that are in no buffer: coloured as the buffer that they are proposed for.
local M = {}

local api = vim.api

---Lines of the buffer that are parsed with the proposed ones, on each side.
local CONTEXT = 30
---Longer lines keep the plain colour: they cost more than they tell.
local MAX_LINE = 2000

---@class (exact) redline.Capture
---@field [1] integer first byte
---@field [2] integer end byte
---@field [3] string highlight group

---@param lines string[]
---@return redline.Capture[][]
local function empty(lines)
  local result = {}
  for row in ipairs(lines) do
    result[row] = {}
  end
  return result
end

---@param result redline.Capture[][]
---@param lines string[]
---@param range [integer, integer, integer, integer] rows relative to `lines`, zero-based
---@param group string
local function add(result, lines, range, group)
  local first_row, first_col, last_row, last_col = unpack(range)
  for row = math.max(0, first_row), math.min(#lines - 1, last_row) do
    local from = row == first_row and first_col or 0
    local to = row == last_row and last_col or #lines[row + 1]
    if to > from then
      table.insert(result[row + 1], { from, to, group })
    end
  end
end

local SKIPPED = { spell = true, nospell = true, none = true, conceal = true }

---@param lang string
---@param before string[]
---@param lines string[]
---@param after string[]
---@return redline.Capture[][]?
local function treesitter(lang, before, lines, after)
  local text = table.concat(vim.iter({ before, lines, after }):flatten():totable(), "\n")
  local ok, parser = pcall(vim.treesitter.get_string_parser, text, lang)
  if not ok or not parser then
    return nil
  end
  parser:parse(true)
  local result = empty(lines)
  parser:for_each_tree(function(tree, language_tree)
    local query = vim.treesitter.query.get(language_tree:lang(), "highlights")
    if not query then
      return
    end
    for id, node, metadata in query:iter_captures(tree:root(), text, #before, #before + #lines) do
      local name = query.captures[id]
      if not SKIPPED[name] and name:sub(1, 1) ~= "_" then
        local range = vim.treesitter.get_range(node, text, metadata and metadata[id])
        local group = ("@%s.%s"):format(name, language_tree:lang())
        add(result, lines, { range[1] - #before, range[2], range[4] - #before, range[5] }, group)
      end
    end
  end)
  return result
end

---@type table<string, integer> hidden buffer for each syntax
local scratch = {}

---@param syntax string
---@param before string[]
---@param lines string[]
---@return redline.Capture[][]
local function regex(syntax, before, lines)
  local bufnr = scratch[syntax]
  if not bufnr or not api.nvim_buf_is_valid(bufnr) then
    bufnr = api.nvim_create_buf(false, true)
    scratch[syntax] = bufnr
    vim.bo[bufnr].undolevels = -1
  end
  api.nvim_buf_set_lines(bufnr, 0, -1, false, vim.list_extend(vim.list_slice(before), lines))
  local result = empty(lines)
  api.nvim_buf_call(bufnr, function()
    if vim.b[bufnr].current_syntax == nil then
      vim.bo[bufnr].syntax = syntax
    end
    for row, line in ipairs(lines) do
      local previous, from = 0, 0
      for col = 1, #line <= MAX_LINE and #line + 1 or 0 do
        local id = col <= #line and vim.fn.synIDtrans(vim.fn.synID(#before + row, col, 1)) or 0
        if id ~= previous then
          if previous ~= 0 then
            table.insert(result[row], { from, col - 1, vim.fn.synIDattr(previous, "name") })
          end
          previous, from = id, col - 1
        end
      end
    end
  end)
  return result
end

---Finds the groups of `lines`, put in place of the lines `first` to `last` of a buffer.
---
---Highlighting is what the buffer itself has: treesitter, `:syntax`, or none.
---@param bufnr integer
---@param first integer zero-based
---@param last integer line after the last one replaced
---@param lines string[]
---@return redline.Capture[][] captures for each line, later ones over earlier ones
function M.captures(bufnr, first, last, lines)
  local before = api.nvim_buf_get_lines(bufnr, math.max(0, first - CONTEXT), first, false)
  local active = vim.treesitter.highlighter.active[bufnr]
  if active then
    local after = api.nvim_buf_get_lines(bufnr, last, last + CONTEXT, false)
    local ok, result = pcall(treesitter, active.tree:lang(), before, lines, after)
    if ok and result then
      return result
    end
  end
  local syntax = vim.bo[bufnr].syntax
  if not active and syntax ~= "" and syntax ~= "OFF" and vim.g.syntax_on then
    local ok, result = pcall(regex, syntax, before, lines)
    if ok then
      return result
    end
  end
  return empty(lines)
end

return M
