---Shows what would run so that no two different things look the same. Pure.
local M = {}

---Characters that are not seen, or that turn the text around: zero-width, bidirectional and line separators.
local UNSEEN = {
  { 0x00AD, 0x00AD },
  { 0x061C, 0x061C },
  { 0x180E, 0x180E },
  { 0x200B, 0x200F },
  { 0x2028, 0x202E },
  { 0x2060, 0x206F },
  { 0xFE00, 0xFE0F },
  { 0xFEFF, 0xFEFF },
  { 0xE0000, 0xE01EF },
}

local NAMED = { ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r", ["\27"] = "\\e" }

---@param char string one character
---@return string
local function visible(char)
  if #char == 1 then
    if char:find("[%c\127-\255]") then
      return NAMED[char] or ("\\x%02x"):format(char:byte())
    end
    return char
  end
  local code = vim.fn.char2nr(char)
  for _, range in ipairs(UNSEEN) do
    if code >= range[1] and code <= range[2] then
      return ("\\u{%x}"):format(code)
    end
  end
  return code < 0xA0 and ("\\u{%x}"):format(code) or char
end

---Text on one line, every character of it seen.
---@param text string
---@return string
function M.line(text)
  if not text:find("[%c\127-\255]") then
    return text
  end
  return table.concat(vim.tbl_map(visible, vim.fn.split(text, "\\zs")))
end

---One argument, as a shell would have to be given it.
---@param argument string
---@return string
function M.word(argument)
  if argument:find("^[%w@%%+=:,./_-]+$") then
    return argument
  end
  local seen = M.line((argument:gsub("\\", "\\\\")))
  if seen == argument and not argument:find("'", 1, true) then
    return ("'%s'"):format(argument)
  end
  return ("$'%s'"):format((seen:gsub("'", "\\'")))
end

---A program and its arguments.
---@param argv string[]
---@return string
function M.argv(argv)
  return table.concat(vim.tbl_map(M.word, argv), " ")
end

return M
