local support = require("support")
local equal, wait = support.equal, support.wait

---Opens the project of the built-in recording in a child.
---@return Child
local function open()
  local here = vim.fs.dirname(vim.fs.normalize(debug.getinfo(1, "S").source:sub(2)))
  local project = vim.fs.normalize(here .. "/../../../sidecar/server/demo/project")
  for name in vim.fs.dir(project) do
    support.write(name, table.concat(vim.fn.readfile(project .. "/" .. name), "\n") .. "\n")
  end
  local child = support.nvim({
    config = [[
    _G.notices, _G.states, _G.updates = {}, {}, 0
    vim.notify = function(text) table.insert(_G.notices, text) end
    vim.api.nvim_create_autocmd("User", { pattern = "RedlineUpdate", callback = function()
      _G.updates = _G.updates + 1
      local dict = vim.b.redline_status_dict
      if dict then _G.states[dict.state] = true end
    end })
  ]],
  })
  child:edit("stats.lua")
  return child
end

---@param child Child
local function wait_end(child)
  wait("the turn has ended", function()
    return child:lua([[
      local session = require("redline.session").get(vim.lsp.get_clients()[1].id)
      return session ~= nil and session.ended ~= nil
    ]])
  end)
end

test("a prompt runs a turn, whose edits are pending when it ends", function()
  local child = open()
  local before = child:lines()
  child:ex("Redline ask Make the statistics safe for empty lists")
  wait_end(child)
  wait("hunks are shown", function()
    return #child:hunks() > 0
  end)
  equal(before, child:lines())
  equal({ idle = true, running = true }, child:lua("return _G.states"))
  assert(child:lua("return _G.updates") > 1)
  assert(#child:lua("return _G.notices") > 0, "the end is told")
  child:ex("Redline status")
  child:wait_screen("turn ended: done")
  equal(1, child:lua("return vim.fn.winnr()"), "the focus stays")
end)

test("a prompt carries the range that it is about", function()
  local child = open()
  child:lua([[
    local lsp = require("redline.lsp")
    local request = lsp.request
    lsp.request = function(client, name, params, ...)
      if name == "redline/session/prompt" then _G.prompt = params end
      return request(client, name, params, ...)
    end
  ]])
  child:ex("2,3Redline ask  make  this safe")
  wait("the prompt is sent", function()
    return child:lua("return _G.prompt ~= nil")
  end)
  local prompt = child:lua("return _G.prompt")
  equal(" make  this safe", prompt.text)
  equal({ start = { line = 1, character = 0 }, ["end"] = { line = 3, character = 0 } }, prompt.context.range)
  wait_end(child)
end)

test("without a text the user is asked for one", function()
  local child = open()
  child:lua([[vim.ui.input = function(opts, on_done) _G.asked = opts.prompt; on_done("make it safe") end]])
  child:ex("2,3Redline ask")
  equal("Redline, lines 2-3: ", child:lua("return _G.asked"))
  wait_end(child)
end)

test("an error of the server says what to do", function()
  local child = open()
  child:ex("Redline undo")
  wait("the error is told", function()
    local notices = child:lua("return _G.notices")
    return notices[1] and notices[1]:find("^redline: %u[%u_]+: ") ~= nil and notices[1]:find("\n") ~= nil
  end)
end)

test("an unknown subcommand is named with the nearest one", function()
  local child = open()
  child:ex("Redline acept")
  equal(
    "redline: unknown subcommand `acept`, did you mean `accept`? (:help :Redline)",
    child:lua("return _G.notices[1]")
  )
end)
