---Highlight groups: computed from the colour scheme, so that syntax colours stay readable on them.
local M = {}

local api = vim.api

---@param color integer
---@return integer red, integer green, integer blue
local function channels(color)
  return bit.rshift(color, 16), bit.band(bit.rshift(color, 8), 0xff), bit.band(color, 0xff)
end

---Mixes two colours.
---@param base integer 0xrrggbb
---@param tint integer 0xrrggbb
---@param amount number 0 gives `base`, 1 gives `tint`
---@return integer
function M.blend(base, tint, amount)
  local r1, g1, b1 = channels(base)
  local r2, g2, b2 = channels(tint)
  local function mix(from, to)
    return math.floor(from + (to - from) * amount + 0.5)
  end
  return mix(r1, r2) * 0x10000 + mix(g1, g2) * 0x100 + mix(b1, b2)
end

---The hue of a group at a strength that tints: pale pastels of a scheme would only grey the background.
---@param color integer
---@return integer? strong absent when the colour has no hue
function M.strengthen(color)
  local r, g, b = channels(color)
  local low, high = math.min(r, g, b), math.max(r, g, b)
  if high - low < 24 then
    return nil
  end
  local function stretch(value)
    return math.floor((value - low) / (high - low) * 190 + 0.5) + 30
  end
  return stretch(r) * 0x10000 + stretch(g) * 0x100 + stretch(b)
end

---@param names string[]
---@param fallback integer
---@return integer
local function tint(names, fallback)
  for _, name in ipairs(names) do
    local group = api.nvim_get_hl(0, { name = name, link = false })
    for _, color in ipairs({ group.fg or false, group.bg or false }) do
      local strong = color and M.strengthen(color)
      if strong then
        return strong
      end
    end
  end
  return fallback
end

---@return table<string, vim.api.keyset.highlight>
function M.groups()
  local dark = vim.o.background == "dark"
  local normal = api.nvim_get_hl(0, { name = "Normal", link = false })
  local bg = normal.bg or (dark and 0x14161b or 0xf4f4f4)
  local fg = normal.fg or (dark and 0xe0e2ea or 0x14161b)
  local green = tint({ "Added", "DiffAdd" }, 0x2ea043)
  local red = tint({ "Removed", "DiffDelete" }, 0xf85149)
  local amber = tint({ "DiagnosticWarn", "WarningMsg" }, 0xd29922)
  local weak, strong = dark and 0.17 or 0.16, dark and 0.42 or 0.4
  local function on(color, amount)
    return M.blend(bg, color, amount)
  end
  local function text(color)
    return M.blend(fg, color, dark and 0.6 or 0.36)
  end
  local cterm = dark and { add = 22, word_add = 28, remove = 52, word_remove = 88, conflict = 58 }
    or { add = 194, word_add = 157, remove = 224, word_remove = 217, conflict = 229 }
  return {
    RedlineAdd = { bg = on(green, weak), ctermbg = cterm.add },
    RedlineAddWord = { bg = on(green, strong), bold = true, ctermbg = cterm.word_add, cterm = { bold = true } },
    RedlineRemove = { bg = on(red, weak), ctermbg = cterm.remove },
    RedlineRemoveWord = { bg = on(red, strong), bold = true, ctermbg = cterm.word_remove, cterm = { bold = true } },
    RedlineConflict = { bg = on(amber, weak), ctermbg = cterm.conflict },
    RedlineInfo = { fg = text(amber), italic = true, ctermfg = dark and 179 or 94, cterm = { italic = true } },
    RedlineTool = { fg = text(M.blend(fg, bg, 0.2)), ctermfg = dark and 250 or 238 },
    RedlineWaits = { fg = text(amber), bold = true, ctermfg = dark and 179 or 94, cterm = { bold = true } },
    RedlineLink = { fg = text(green), underline = true, ctermfg = dark and 114 or 28, cterm = { underline = true } },
    RedlineMuted = { fg = M.blend(bg, fg, 0.55), ctermfg = dark and 245 or 242 },
    RedlineSignAdd = { fg = text(green), bold = true, ctermfg = dark and 114 or 28, cterm = { bold = true } },
    RedlineSignRemove = { fg = text(red), bold = true, ctermfg = dark and 210 or 124, cterm = { bold = true } },
    RedlineSignChange = { fg = text(amber), bold = true, ctermfg = dark and 179 or 94, cterm = { bold = true } },
    RedlineSignConflict = {
      fg = bg,
      bg = text(amber),
      bold = true,
      ctermfg = dark and 16 or 231,
      ctermbg = dark and 179 or 94,
      cterm = { bold = true },
    },
  }
end

---What was set last, so that a definition of the user's is told from one of ours.
---@type table<string, table>
local ours = {}

---Sets every group that the user or the colour scheme has not set.
function M.refresh()
  for name, group in pairs(M.groups()) do
    local present = api.nvim_get_hl(0, { name = name, create = false })
    if vim.tbl_isempty(present) or vim.deep_equal(present, ours[name]) then
      api.nvim_set_hl(0, name, group)
      ours[name] = api.nvim_get_hl(0, { name = name })
    end
  end
end

local watched = false

---Sets the groups, and again whenever the colour scheme changes.
function M.setup()
  M.refresh()
  if watched then
    return
  end
  watched = true
  local group = api.nvim_create_augroup("redline.highlights", {})
  api.nvim_create_autocmd("ColorScheme", { group = group, callback = M.refresh })
  api.nvim_create_autocmd("OptionSet", {
    group = group,
    pattern = "background",
    callback = function()
      vim.schedule(M.refresh)
    end,
  })
end

return M
