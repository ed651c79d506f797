---Settings: defaults, what the user set, and the check of both.
local M = {}

---@class (exact) redline.Config
---@field enabled? boolean Attach to files without being asked.
---@field cmd? string[] Program and arguments of the language server.
---@field root_markers? string[] Names that mark the root of a workspace; the working folder is taken when none is found.
---@field keymaps? boolean Set the keys of |redline-keys| in buffers that hold hunks. Also `vim.g.redline_keymaps`.
---@field prefix? string What the decision keys start with.
---@field max_block_lines? integer Added lines shown in place before the rest is cut.
---@field syntax? boolean Colour added lines as the buffer's language.
---@field words? boolean Mark the words that differ.
---@field foldtext? boolean Let a closed fold say how many hunks it hides.
---@field notify? boolean Tell the end of a turn and decisions in the message line.

---@type redline.Config
M.defaults = {
  enabled = true,
  cmd = { "redline", "lsp" },
  root_markers = { ".git", ".agentic", "redline.toml" },
  keymaps = false,
  prefix = "<leader>r",
  max_block_lines = 40,
  syntax = true,
  words = true,
  foldtext = true,
  notify = true,
}

---Options given to `setup`, which win over `vim.g.redline`.
---@type redline.Config
M.options = {}

---@param name string
---@return string? nearest known setting
local function nearest(name)
  local best, distance
  for known in pairs(M.defaults) do
    local indices = (vim.text and vim.text.diff or vim.diff)(
      name:gsub(".", "%0\n"),
      known:gsub(".", "%0\n"),
      { result_type = "indices" }
    ) --[[@as integer[][] ]]
    local cost = 0
    for _, hunk in ipairs(indices) do
      cost = cost + hunk[2] + hunk[4]
    end
    if not distance or cost < distance then
      best, distance = known, cost
    end
  end
  return distance <= 4 and best or nil
end

---Finds what is wrong with `options`.
---@param options table<string, any>
---@return string[] problems one sentence each
function M.problems(options)
  local problems = {}
  for name, value in vim.spairs(options) do
    local default = M.defaults[name]
    if default == nil then
      local known = nearest(tostring(name))
      problems[#problems + 1] = ("unknown setting `%s`%s"):format(
        name,
        known and (", did you mean `%s`?"):format(known) or ""
      )
    elseif type(value) ~= type(default) then
      problems[#problems + 1] = ("setting `%s` is a %s, expected a %s"):format(name, type(value), type(default))
    end
  end
  return problems
end

local warned = {}

---Merges the settings: `setup` over `vim.g.redline` over the defaults. A bad one is named once and left out.
---@return redline.Config
function M.get()
  local global = type(vim.g.redline) == "table" and vim.g.redline or {}
  local given = vim.tbl_extend("force", global, M.options)
  if vim.g.redline_keymaps ~= nil and given.keymaps == nil then
    given.keymaps = vim.g.redline_keymaps == true or vim.g.redline_keymaps == 1
  end
  for _, problem in ipairs(M.problems(given)) do
    if not warned[problem] then
      warned[problem] = true
      vim.schedule(function()
        vim.notify("redline: " .. problem .. " (:help redline-settings)", vim.log.levels.WARN)
      end)
    end
  end
  local merged = {}
  for name, default in pairs(M.defaults) do
    merged[name] = type(given[name]) == type(default) and given[name] or default
    if type(default) == "boolean" and type(given[name]) == "boolean" then
      merged[name] = given[name]
    end
  end
  return merged
end

return M
