---`:checkhealth redline`: what has to be right, and how to mend it.
local M = {}

local health = vim.health

---@param program string
---@return string? version
local function version_of(program)
  local ok, result = pcall(function()
    return vim.system({ program, "--version" }, { text = true, timeout = 5000 }):wait()
  end)
  return ok and result.code == 0 and vim.trim(result.stdout) or nil
end

local function editor()
  health.start("Neovim")
  if vim.fn.has("nvim-0.10") == 1 then
    health.ok(tostring(vim.version()))
  else
    health.error("Neovim is older than 0.10", { "Install Neovim 0.10 or newer" })
  end
  if vim.o.termguicolors or vim.fn.has("gui_running") == 1 then
    health.ok("24-bit colours")
  else
    health.warn(
      "no 24-bit colours: hunks use the 256-colour palette",
      { ":set termguicolors, in a terminal that has them" }
    )
  end
  local config = require("redline.config")
  local given = vim.tbl_extend("force", type(vim.g.redline) == "table" and vim.g.redline or {}, config.options)
  local problems = config.problems(given)
  for _, problem in ipairs(problems) do
    health.warn(problem, { ":help redline-settings" })
  end
  if #problems == 0 then
    health.ok("settings")
  end
end

---@return boolean
local function binary()
  health.start("Binary")
  local program = require("redline.config").get().cmd[1]
  if vim.fn.executable(program) == 0 then
    health.error(("`%s` is not an executable"):format(program), {
      "Install it: cargo install --path sidecar/server",
      "Or name it: vim.g.redline = { cmd = { '/path/to/redline', 'lsp' } }",
    })
    return false
  end
  local version = version_of(program)
  if version then
    health.ok(("%s (%s)"):format(version, vim.fn.exepath(program)))
  else
    health.error(("`%s --version` fails"):format(program), { "Run it in a terminal and see what it says" })
  end
  return true
end

---What the program itself finds wrong with the machine and with a workspace.
---@param root? string
local function doctor(root)
  local program = require("redline.config").get().cmd[1]
  local ok, result = pcall(function()
    return vim.system({ program, "doctor", "--json" }, { text = true, timeout = 20000, cwd = root }):wait()
  end)
  local report = ok and vim.F.npcall(vim.json.decode, result.stdout, { luanil = { object = true } })
  if type(report) ~= "table" or type(report.checks) ~= "table" then
    return health.error("`redline doctor` does not answer", { "Run it in a terminal and see what it says" })
  end
  for _, check in ipairs(report.checks) do
    local said = ("%s: %s"):format(check.name, check.found)
    local advice = check.advice ~= "" and { check.advice } or nil
    if check.outcome == "ok" then
      health.ok(said)
    elseif check.outcome == "warning" then
      health.warn(said, advice)
    else
      health.error(said, advice)
    end
  end
end

---@param client vim.lsp.Client
local function workspace(client)
  local lsp, protocol = require("redline.lsp"), require("redline.protocol")
  local buffers = vim.tbl_count(vim.tbl_filter(function(document)
    return document.client_id == client.id
  end, require("redline.document").all()))
  health.ok(("client %d: %s (%d buffers)"):format(client.id, client.root_dir or "no root", buffers))
  local done, err, result = false, nil, nil
  lsp.request(client, protocol.method.STATUS, {}, function(failure, status)
    done, err, result = true, failure, status
  end)
  vim.wait(3000, function()
    return done
  end, 10)
  if not done then
    return health.error(
      "the sidecar does not answer",
      { "redline doctor", "Its log says more: redline doctor names the file" }
    )
  elseif err then
    return health.error(("%s: %s"):format(err.code, err.message), { err.hint or "redline doctor" })
  end
  ---@cast result redline.StatusResult
  health.ok(("sidecar %s%s, mode %s"):format(result.version, result.inProcess and " (in process)" or "", result.mode))
  if result.model ~= "" then
    health.ok("model " .. result.model)
  end
  local spoken = vim.tbl_get(client.server_capabilities, "experimental", "redline", "version")
  if spoken and spoken ~= protocol.VERSION then
    health.error(
      ("the sidecar speaks protocol %d, this plugin %d"):format(spoken, protocol.VERSION),
      { "Update the older one of the binary and the plugin" }
    )
  end
  for _, notice in ipairs(result.notices or {}) do
    health.warn(notice)
  end
end

function M.check()
  editor()
  local found = binary()
  local clients = vim.lsp.get_clients({ name = require("redline.lsp").NAME })
  local roots = vim.tbl_map(require("redline.lsp").root_of, clients)
  for _, root in ipairs(#roots > 0 and roots or { vim.fn.getcwd() }) do
    if found then
      health.start("Set-up, in " .. root)
      doctor(root)
    end
  end
  health.start("Clients")
  if #clients == 0 then
    if found then
      health.info("no buffer is attached: open a file of a project")
    end
    return
  end
  for _, client in ipairs(clients) do
    workspace(client)
  end
  for _, document in ipairs(require("redline.document").all()) do
    local attached = vim.lsp.get_clients({ name = require("redline.lsp").NAME, bufnr = document.bufnr })
    if #attached > 1 then
      health.warn(("%d clients are attached to buffer %d"):format(#attached, document.bufnr), {
        "Start Redline once: either this plugin, or a configuration of your own",
      })
    end
  end
end

return M
