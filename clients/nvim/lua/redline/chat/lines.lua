---Lines of an entry as they are built, with what is marked in them and where they lead.
local M = {}

local quote = require("redline.chat.quote")

---@return redline.ShownEntry
function M.empty()
  return { lines = {}, n = 0, lead = 0, marks = {}, links = {} }
end

---@param shown redline.ShownEntry
---@param text string
---@param group? string
---@param link? redline.Link
function M.line(shown, text, group, link)
  local lines = shown.lines
  lines[#lines + 1] = (text:gsub("\n", " "))
  if group then
    local from = #lines[#lines]:match("^ *")
    shown.marks[#shown.marks + 1] = { #lines, from, #lines[#lines], group }
  end
  shown.links[#lines] = link
end

---@param shown redline.ShownEntry
---@param text string
---@param group? string
---@param limit? integer
function M.block(shown, text, group, limit)
  local lines = vim.split((text:gsub("\r\n", "\n")), "\n", { plain = true })
  while #lines > 0 and lines[#lines] == "" do
    table.remove(lines)
  end
  for i, line in ipairs(lines) do
    if limit and i > limit then
      M.line(shown, ("    … %d more lines"):format(#lines - limit), "RedlineMuted")
      break
    end
    M.line(shown, "    " .. line, group)
  end
end

---@param shown redline.ShownEntry
---@param name string
---@param value string
---@param link? redline.Link
function M.fact(shown, name, value, link)
  M.line(shown, ("    %-8s %s"):format(name, value), nil, link)
  local row = #shown.lines
  shown.marks[#shown.marks + 1] = { row, 4, 4 + math.max(8, #name), "RedlineMuted" }
end

---Facts that have to be read exactly. Behind a blank line markdown takes them for code, and hides none of it.
---@param shown redline.ShownEntry
---@param facts { [1]: string, [2]: string }[]
---@param link? redline.Link
function M.facts(shown, facts, link)
  M.line(shown, "")
  for _, fact in ipairs(facts) do
    M.fact(shown, fact[1], fact[2], link)
  end
end

---@param shown redline.ShownEntry
---@param title string
---@param state string
---@param group string
---@param link? redline.Link
function M.title(shown, title, state, group, link)
  local text = ("▸ %s · %s"):format(quote.line(title), state)
  M.line(shown, text, "RedlineTool", link)
  local row = #shown.lines
  shown.marks[#shown.marks + 1] = { row, #text - #state, #text, group }
end

return M
