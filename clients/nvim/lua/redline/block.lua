---Builds the text of hunks as people read it: labels, and added lines as virtual lines. Pure but for widths.
local M = {}

local strwidth = vim.api.nvim_strwidth

---@alias redline.Chunk [string, string|string[]]

---A line of which more cells than this would be drawn is cut: nobody scrolls there in a virtual line.
local MAX_CELLS = 2000

---@param n integer
---@param one string
---@return string
function M.count(n, one)
  return ("%d %s%s"):format(n, one, n == 1 and "" or "s")
end

---The line of a hunk: `3/4 +4 −2 · why`, its state in words.
---@param shown redline.DocumentHunk
---@return string
function M.label(shown)
  local hunk = shown.hunk
  local place = ("%d/%d"):format(hunk.index, shown.total)
  local size = {}
  if #hunk.added > 0 then
    size[#size + 1] = "+" .. #hunk.added
  end
  if #hunk.removed > 0 then
    size[#size + 1] = "−" .. #hunk.removed
  end
  local parts = { place .. " " .. table.concat(size, " ") }
  if hunk.state == "conflict" then
    parts = { "conflict " .. place, hunk.conflict and hunk.conflict.reason or nil }
  elseif hunk.state == "accepted" then
    parts = { "accepted " .. place, hunk.unsaved and "not saved yet" or nil }
  end
  if hunk.incomplete then
    parts[#parts + 1] = "still arriving"
  end
  if hunk.amended then
    parts[#parts + 1] = "amended"
  end
  if hunk.match ~= "exact" and hunk.match ~= "offset" and hunk.state == "pending" then
    parts[#parts + 1] = "≈ " .. hunk.match
  end
  if hunk.rationale and hunk.rationale ~= "" and hunk.state ~= "accepted" then
    parts[#parts + 1] = (hunk.rationale:gsub("%s+", " "))
  end
  return table.concat(parts, " · ")
end

---Sign of a hunk, two cells: its state for eyes that see no colour.
---@param hunk redline.Hunk
---@return string text
---@return string group
function M.sign(hunk)
  if hunk.state == "conflict" then
    return "┃!", "RedlineSignConflict"
  elseif hunk.state == "accepted" then
    return "┃✓", "RedlineSignAdd"
  elseif hunk.incomplete then
    return "┃…", "RedlineMuted"
  elseif #hunk.added == 0 then
    return "┃-", "RedlineSignRemove"
  elseif #hunk.removed == 0 then
    return "┃+", "RedlineSignAdd"
  end
  return "┃~", "RedlineSignChange"
end

---Cuts `text` to `width` cells, with `…` where something is missing.
---@param text string
---@param width integer
---@return string
function M.cut(text, width)
  if strwidth(text) <= width then
    return text
  end
  local result, used = {}, 1
  for _, char in ipairs(vim.fn.split(text, "\\zs")) do
    used = used + strwidth(char)
    if used > width then
      break
    end
    result[#result + 1] = char
  end
  return table.concat(result) .. "…"
end

---Splits a line where its highlights change.
---@param line string
---@param base string group under everything
---@param captures redline.Capture[]
---@param words redline.Span[]
---@param word string group of the words
---@return redline.Chunk[]
function M.segments(line, base, captures, words, word)
  local cuts, at = { [0] = true, [#line] = true }, { 0, #line }
  for _, spans in ipairs({ captures, words }) do
    for _, span in ipairs(spans) do
      for _, byte in ipairs({ math.min(span[1], #line), math.min(span[2], #line) }) do
        if not cuts[byte] then
          cuts[byte] = true
          at[#at + 1] = byte
        end
      end
    end
  end
  table.sort(at)
  local chunks = {}
  for i = 1, #at - 1 do
    local from, to = at[i], at[i + 1]
    local groups = { base }
    for _, span in ipairs(captures) do
      if span[1] <= from and to <= span[2] then
        groups[#groups + 1] = span[3]
      end
    end
    for _, span in ipairs(words) do
      if span[1] <= from and to <= span[2] then
        groups[#groups + 1] = word
      end
    end
    chunks[#chunks + 1] = { line:sub(from + 1, to), groups }
  end
  return chunks
end

---@class (exact) redline.Layout
---@field width integer cells of text in the narrowest window
---@field pad integer cells that the background fills
---@field wrap boolean long lines go on in another virtual line
---@field tabstop integer
---@field max_lines integer
---@field bare? boolean nothing is drawn but signs and labels

---Lays chunks out in cells: tabs and control characters become what they look like, long lines wrap.
---@param chunks redline.Chunk[]
---@param base string
---@param layout redline.Layout
---@return redline.Chunk[][] lines
---@return integer used cells of the last line
function M.lay(chunks, base, layout)
  local lines, line, used, drawn = {}, {}, 0, 0
  local limit = layout.wrap and layout.width or MAX_CELLS
  local function put(text, cells, groups)
    if layout.wrap and used + cells > limit and used > 2 then
      lines[#lines + 1] = line
      line, used = { { "↳ ", { base, "RedlineMuted" } } }, 2
    end
    local last = line[#line]
    if last and last[2] == groups then
      last[1] = last[1] .. text
    else
      line[#line + 1] = { text, groups }
    end
    used, drawn = used + cells, drawn + cells
  end
  for _, chunk in ipairs(chunks) do
    local text, groups = chunk[1], chunk[2]
    if not text:find("[^\32-\126]") and used + #text <= limit and drawn + #text <= MAX_CELLS then
      put(text, #text, groups)
    else
      for _, char in ipairs(vim.fn.split(text, "\\zs")) do
        if drawn >= MAX_CELLS then
          put("…", 1, { base, "RedlineMuted" })
          lines[#lines + 1] = line
          return lines, used
        end
        if char == "\t" then
          local cells = layout.tabstop - used % layout.tabstop
          put((" "):rep(cells), cells, groups)
        elseif char:find("^%c") then
          local shown = vim.fn.strtrans(char)
          put(shown, strwidth(shown), { base, "NonText" })
        else
          put(char, strwidth(char), groups)
        end
      end
    end
  end
  lines[#lines + 1] = line
  return lines, used
end

---Fills a virtual line with its background.
---@param line redline.Chunk[]
---@param used integer
---@param base string
---@param layout redline.Layout
local function pad(line, used, base, layout)
  if used < layout.pad then
    line[#line + 1] = { (" "):rep(layout.pad - used), base }
  end
end

---Builds the virtual lines of what a hunk adds.
---@param hunk redline.Hunk
---@param captures redline.Capture[][]
---@param words redline.Span[][]
---@param layout redline.Layout
---@param label? string put at the end of the first line; on a line of its own where it does not fit
---@return redline.Chunk[][]
function M.added(hunk, captures, words, layout, label)
  local base = "RedlineAdd"
  local result, shown = {}, #hunk.added
  if shown > layout.max_lines then
    shown = layout.max_lines - 1
  end
  for row = 1, shown do
    local chunks = M.segments(hunk.added[row], base, captures[row] or {}, words[row] or {}, "RedlineAddWord")
    local lines, used = M.lay(chunks, base, layout)
    for i, line in ipairs(lines) do
      local width = i == #lines and used or layout.width
      if i == 1 and row == 1 and label then
        local room = layout.width - width - 3
        if #lines == 1 and room >= strwidth(label) then
          local text = " ◀ " .. label
          line[#line + 1] = { text, { base, "RedlineInfo" } }
          width = width + strwidth(text)
        else
          local text = "▼ " .. M.cut(label, layout.width - 2)
          result[#result + 1] = { { text, { base, "RedlineInfo" } } }
          pad(result[#result], strwidth(text), base, layout)
        end
      end
      if row == #hunk.added and i == #lines and hunk.noNewlineAtEnd then
        local text = " (no newline at the end)"
        line[#line + 1] = { text, { base, "RedlineMuted" } }
        width = width + strwidth(text)
      end
      pad(line, width, base, layout)
      result[#result + 1] = line
    end
  end
  if shown < #hunk.added then
    local text = ("… %d more (:Redline preview)"):format(#hunk.added - shown)
    local line = { { text, { base, "RedlineMuted" } } }
    pad(line, strwidth(text), base, layout)
    result[#result + 1] = line
  end
  return result
end

return M
