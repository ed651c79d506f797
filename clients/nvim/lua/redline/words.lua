---Finds the words that differ between two blocks of lines. Pure.
local M = {}

local diff = vim.text and vim.text.diff or vim.diff

---More words than this on one side are not compared: a block that long is read as a whole.
local MAX_WORDS = 4000
---A line of which more than this part differs is left unmarked: marks on everything mark nothing.
local MAX_CHANGED = 0.7

---@alias redline.Span [integer, integer] half-open byte range

---@param lines string[]
---@return string text one word on each line
---@return [integer, integer, integer][] places line, first byte, end byte of each word
local function words(lines)
  local text, places = {}, {}
  for row, line in ipairs(lines) do
    local at = 1
    while at <= #line do
      local first, last = line:find("^[%w_\128-\255]+", at)
      if not first then
        first, last = line:find("^%s+", at)
      end
      first, last = first or at, last or at
      text[#text + 1] = line:sub(first, last)
      places[#places + 1] = { row, first - 1, last }
      at = last + 1
    end
    text[#text + 1] = "\\n"
    places[#places + 1] = { row, #line, #line }
    if #text > MAX_WORDS then
      return "", {}
    end
  end
  return table.concat(text, "\n") .. "\n", places
end

---@param lines string[]
---@param places [integer, integer, integer][]
---@param changed [integer, integer][] first word and number of words
---@return redline.Span[][] spans for each line
local function spans(lines, places, changed)
  local result, weight = {}, {}
  for row in ipairs(lines) do
    result[row], weight[row] = {}, 0
  end
  for _, range in ipairs(changed) do
    for word = range[1], range[1] + range[2] - 1 do
      local row, first, last = unpack(places[word])
      local line = result[row]
      local previous = line[#line]
      if previous and previous[2] == first then
        previous[2] = last
      elseif last > first then
        line[#line + 1] = { first, last }
      end
      weight[row] = weight[row] + last - first
    end
  end
  for row, line in ipairs(lines) do
    if weight[row] > MAX_CHANGED * #vim.trim(line) then
      result[row] = {}
    end
  end
  return result
end

---Compares two blocks word by word.
---@param removed string[]
---@param added string[]
---@return redline.Span[][] removed spans that differ, for each removed line
---@return redline.Span[][] added the same for each added line
function M.compare(removed, added)
  local old, old_places = words(removed)
  local new, new_places = words(added)
  if #old_places == 0 or #new_places == 0 then
    return spans(removed, {}, {}), spans(added, {}, {})
  end
  local gone, came = {}, {}
  for _, hunk in
    ipairs(diff(old, new, { result_type = "indices", algorithm = "minimal" }) --[[@as integer[][] ]])
  do
    if hunk[2] > 0 then
      gone[#gone + 1] = { hunk[1], hunk[2] }
    end
    if hunk[4] > 0 then
      came[#came + 1] = { hunk[3], hunk[4] }
    end
  end
  return spans(removed, old_places, gone), spans(added, new_places, came)
end

return M
