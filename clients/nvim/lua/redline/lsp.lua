---The language client: how it starts, what it announces, and what it does with what the sidecar sends. No UI.
local M = {}

local api = vim.api
local method = require("redline.protocol").method

M.NAME = "redline"

local MODERN = vim.fn.has("nvim-0.11") == 1

---@alias redline.Error { code: string, message: string, hint?: string }

---What is said when nobody is there to be asked.
---@type redline.Error
M.GONE = {
  code = "CLIENT_GONE",
  message = "Redline is not running here",
  hint = "Open a file of the project, or see :checkhealth redline",
}

---Root of the workspace of a client: what outlives it is kept under this name.
---@param client vim.lsp.Client
---@return string
function M.root_of(client)
  return client.root_dir or vim.fn.getcwd()
end

---The client that serves a workspace.
---@param root string
---@return vim.lsp.Client?
function M.client_of(root)
  for _, client in ipairs(vim.lsp.get_clients({ name = M.NAME })) do
    local stopped = MODERN and client:is_stopped() or not MODERN and client.is_stopped()
    if not stopped and M.root_of(client) == root then
      return client
    end
  end
end

---Root of the workspace of a buffer, or nothing for a buffer that belongs to none.
---@param bufnr integer
---@return string?
function M.root(bufnr)
  local name = api.nvim_buf_get_name(bufnr)
  if name == "" or vim.bo[bufnr].buftype ~= "" or name:find("^%a[%w+.-]+:") then
    return nil
  end
  local markers = require("redline.config").get().root_markers
  local root = vim.fs.root(bufnr, function(entry)
    return vim.list_contains(markers, entry)
  end)
  if root then
    return root
  end
  local cwd = vim.fs.normalize(vim.fn.getcwd())
  local inside = vim.startswith(vim.fs.normalize(name), cwd:gsub("/$", "") .. "/")
  return inside and cwd or nil
end

---@param bufnr integer
---@return vim.lsp.Client?
function M.client(bufnr)
  local document = require("redline.document").get(bufnr)
  local client = document and vim.lsp.get_client_by_id(document.client_id)
  return client or vim.lsp.get_clients({ name = M.NAME, bufnr = bufnr })[1]
end

---The client of the current buffer, of the conversation that it is, else the only one there is.
---@return vim.lsp.Client?
function M.any_client()
  local bufnr = api.nvim_get_current_buf()
  local root = vim.b[bufnr].redline_root
  local client = M.client(bufnr) or (root and M.client_of(root))
  local clients = vim.lsp.get_clients({ name = M.NAME })
  return client or (#clients == 1 and clients[1] or nil)
end

---Takes null for absent, in place: Neovim 0.12 hands it on as `vim.NIL`, older ones leave it out.
---@generic T
---@param value T
---@return T
function M.without_null(value)
  if type(value) == "table" then
    for key, field in pairs(value) do
      if field == vim.NIL then
        value[key] = nil
      else
        M.without_null(field)
      end
    end
  end
  return value
end

---@param err any
---@return redline.Error
local function error_of(err)
  local data = type(err) == "table" and type(err.data) == "table" and err.data or {}
  return {
    code = data.code or (type(err) == "table" and tostring(err.code)) or "INTERNAL",
    message = type(err) == "table" and err.message or tostring(err),
    hint = data.hint,
  }
end

---Sends a request.
---@param client vim.lsp.Client
---@param name string
---@param params table
---@param on_done fun(err?: redline.Error, result?: any)
---@param bufnr? integer
function M.request(client, name, params, on_done, bufnr)
  local function handler(err, result)
    if result == vim.NIL then
      result = nil
    end
    on_done(err and error_of(M.without_null(err)) or nil, M.without_null(result))
  end
  params = vim.tbl_isempty(params) and vim.empty_dict() or params
  local sent
  if MODERN then
    sent = client:request(name, params, handler, bufnr)
  else
    sent = client.request(name, params, handler, bufnr)
  end
  if not sent then
    on_done(M.GONE)
  end
end

---Tells the user what went wrong and what to do.
---@param err redline.Error
function M.report(err)
  local text = ("redline: %s: %s"):format(err.code, err.message)
  if err.hint and err.hint ~= "" then
    text = text .. "\n" .. err.hint
  end
  vim.notify(text, vim.log.levels.ERROR)
end

---@param uri string as this client spelled it
---@param client_id integer
---@return integer? bufnr of a buffer that the client has open
local function buffer_of(uri, client_id)
  for _, document in ipairs(require("redline.document").all()) do
    if document.client_id == client_id and vim.uri_from_bufnr(document.bufnr) == uri then
      return document.bufnr
    end
  end
end

---@param params redline.TransactionChangedNotification
local function on_changed(_, params, ctx)
  local render = require("redline.render")
  M.without_null(params)
  for _, shown in ipairs(params.documents) do
    local bufnr = buffer_of(shown.uri, ctx.client_id)
    if bufnr then
      require("redline.document").update(bufnr, shown.version, shown.hunks)
      local pending = #require("redline.document").pending(bufnr) > 0
      render.refresh(bufnr)
      require("redline.fold").update(bufnr, pending)
      require("redline.keys").update(bufnr, pending)
    end
  end
  local client = vim.lsp.get_client_by_id(ctx.client_id)
  if client then
    local root = M.root_of(client)
    require("redline.transactions").changed(root, params.transactionIds)
    require("redline.status").update(root, params.counts)
  end
end

---Hands a notification on, with the root of the workspace that it is of.
---@param name string module
---@param func string
---@return lsp.Handler
local function to(name, func)
  return function(_, params, ctx)
    local client = vim.lsp.get_client_by_id(ctx.client_id)
    if client then
      require(name)[func](M.root_of(client), M.without_null(params))
    end
  end
end

---Applies an edit of the sidecar's, as the editor would, but for two things: an edit for an older text is refused and
---said to be (the editor drops it and says that it was applied), and each is an undo step of its own.
local function on_apply_edit(err, params, ctx, config)
  local document = require("redline.document")
  for _, change in ipairs(params.edit.documentChanges or {}) do
    local target = change.textDocument
    local bufnr = target and buffer_of(target.uri, ctx.client_id)
    if bufnr then
      local version = target.version
      if version and version ~= vim.NIL and document.changed_since(bufnr, version) then
        return { applied = false, failureReason = ("%s changed after version %d"):format(target.uri, version) }
      end
      -- Setting the option closes the open undo step (`:help undo-break`).
      vim.bo[bufnr].undolevels = vim.bo[bufnr].undolevels
    end
  end
  return vim.lsp.handlers["workspace/applyEdit"](err, params, ctx, config)
end

---Forgets what a buffer showed.
---@param bufnr integer
function M.detach(bufnr)
  require("redline.document").close(bufnr)
  require("redline.render").clear(bufnr)
  if api.nvim_buf_is_valid(bufnr) then
    require("redline.fold").update(bufnr, false)
    require("redline.keys").update(bufnr, false)
    vim.b[bufnr].redline_status, vim.b[bufnr].redline_status_dict = nil, nil
  end
end

---Clients that serve workspaces, by root: another one means that what was known is of an earlier sidecar.
---@type table<string, integer>
local serving = {}

---Asks everything anew: the sidecar of a workspace was replaced.
---@param client vim.lsp.Client
local function restarted(client)
  local root = M.root_of(client)
  for _, name in ipairs({ "transactions", "approval", "plan", "job" }) do
    require("redline." .. name).forget(root)
  end
  require("redline.status").ask(client)
  require("redline.session").reattach(root)
end

-- Events and not `on_attach`: a user's configuration may have one of its own.
local group = api.nvim_create_augroup("redline.lsp", {})
api.nvim_create_autocmd("LspAttach", {
  group = group,
  callback = function(args)
    local client = vim.lsp.get_client_by_id(args.data.client_id)
    if client and client.name == M.NAME then
      require("redline.document").open(args.buf, client.id)
      require("redline.highlights").setup()
      require("redline.view").setup()
      require("redline.status").attach(client, args.buf)
      local root = M.root_of(client)
      local before = serving[root]
      serving[root] = client.id
      if before and before ~= client.id then
        restarted(client)
      end
    end
  end,
})
api.nvim_create_autocmd("LspDetach", {
  group = group,
  callback = function(args)
    local document = require("redline.document").get(args.buf)
    if document and document.client_id == args.data.client_id then
      M.detach(args.buf)
    end
    local client = vim.lsp.get_client_by_id(args.data.client_id)
    if client and client.name == M.NAME then
      vim.schedule(function()
        require("redline.status").publish(M.root_of(client))
      end)
    end
  end,
})

---Configuration of the language client, for `vim.lsp.config` and `vim.lsp.start` alike.
---@return vim.lsp.ClientConfig
function M.config()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  -- Neovim takes them and does not say so; edits without a version could not be told to be stale.
  capabilities.workspace.workspaceEdit.documentChanges = true
  capabilities.experimental = vim.tbl_deep_extend("force", capabilities.experimental or {}, {
    redline = { version = require("redline.protocol").VERSION, review = true, session = true },
  })
  return {
    name = M.NAME,
    cmd = require("redline.config").get().cmd,
    capabilities = capabilities,
    handlers = {
      [method.TRANSACTION_CHANGED] = on_changed,
      [method.SESSION_UPDATE] = to("redline.session", "update"),
      [method.APPROVAL_CHANGED] = to("redline.approval", "changed"),
      [method.PLAN_CHANGED] = to("redline.plan", "changed"),
      [method.JOB_CHANGED] = to("redline.job", "changed"),
      [method.SIDECAR_REPLACED] = function(_, _, ctx)
        local client = vim.lsp.get_client_by_id(ctx.client_id)
        if client then
          restarted(client)
        end
      end,
      ["workspace/applyEdit"] = on_apply_edit,
    },
    root_dir = function(bufnr, on_dir)
      local root = M.root(bufnr)
      if root then
        on_dir(root)
      end
    end,
    -- Decisions flush what is typed anyway; this bounds how late a conflict is seen.
    flags = { debounce_text_changes = 30 },
  }
end

---@param program string
---@return boolean
local function found(program)
  if vim.fn.executable(program) == 1 then
    return true
  end
  vim.notify_once(
    ("redline: `%s` is not an executable; install it, or set vim.g.redline.cmd (:checkhealth redline)"):format(program),
    vim.log.levels.WARN
  )
  return false
end

local enabled = false

---Attaches a buffer when it is a file of a workspace.
---@param bufnr integer
---@param force? boolean also where `enabled = false`
function M.attach(bufnr, force)
  local settings = require("redline.config").get()
  if not (settings.enabled or force) or M.client(bufnr) then
    return
  end
  local root = M.root(bufnr)
  local config = MODERN and vim.lsp.config[M.NAME] or M.config()
  if not root or (type(config.cmd) == "table" and not found(config.cmd[1])) then
    return
  end
  if MODERN and settings.enabled then
    if not enabled then
      enabled = true
      vim.lsp.enable(M.NAME)
    elseif vim.lsp.is_enabled and not vim.lsp.is_enabled(M.NAME) and not force then
      return
    end
  end
  -- Also on 0.11: a buffer without a file type never meets the event that `vim.lsp.enable` waits for.
  vim.lsp.start(vim.tbl_extend("force", config, { root_dir = root }), { bufnr = bufnr })
end

return M
