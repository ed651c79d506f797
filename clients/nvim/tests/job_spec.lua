local support = require("support")
local equal, wait = support.equal, support.wait

---A child whose server answers about one job as the test says.
---@return Child
local function open()
  support.write("a.txt", support.numbered(1, 5))
  local child = support.nvim()
  child:edit("a.txt")
  child:lua([[
    local lsp = require("redline.lsp")
    local client = vim.lsp.get_clients()[1]
    _G.job = { id = "job_1", command = { "make", "all" }, cwd = "", state = "running", startedAt = os.time() - 5, outputBytes = 0, sandbox = "none" }
    local answers = {
      ["redline/job/list"] = function() return { jobs = { _G.job } } end,
      ["redline/job/output"] = function() return { job = _G.job, text = "first\nsec", errors = "", offset = 10, nextOffset = 19 } end,
      ["redline/job/cancel"] = function(params)
        _G.cancelled = params.jobId
        return vim.tbl_extend("force", _G.job, { state = "cancelled", endedAt = os.time() })
      end,
    }
    local request = lsp.request
    lsp.request = function(client, name, params, on_done, bufnr)
      if answers[name] then return on_done(nil, answers[name](params)) end
      return request(client, name, params, on_done, bufnr)
    end
    function _G.output(text, offset, fields)
      client.handlers["redline/job/changed"](nil, { job = vim.tbl_extend("force", _G.job, fields or {}), output = text, offset = offset }, { client_id = client.id })
    end
    vim.ui.select = function(items, opts, on_choice) _G.line = opts.format_item(items[1]); on_choice(items[1], 1) end
  ]])
  child:ex("Redline jobs")
  return child
end

---@param child Child
---@param line string
local function wait_line(child, line)
  wait(("a line reads %q"):format(line), function()
    return vim.list_contains(child:lines(), line)
  end)
end

test("the output of a job goes on to arrive, without what steers a terminal, and says where it has gaps", function()
  local child = open()
  equal("make all · running for 5 s", child:lua("return _G.line"))
  wait_line(child, "sec")
  child:lua([[output("ond\27[31m red\27[0m\n50%\r100%\n", 19)]])
  wait_line(child, "100%")
  -- What is known already comes again, then something is missing.
  child:lua([[output("100%\nthird\n", 41)]])
  child:lua([[output("last\n", 100)]])
  wait_line(child, "last")
  local lines = child:lines()
  equal("make all", lines[1])
  equal({ "… 10 bytes before this", "first", "second red", "100%" }, vim.list_slice(lines, 4, 7))
  assert(table.concat(lines, "\n"):find("… %d+ bytes were left out\nlast"), vim.inspect(lines))
  equal(#lines, child:lua("return vim.fn.line('.')"), "the end is followed")
end)

test("a flood of output stays bounded and lets the user type", function()
  local child = open()
  wait_line(child, "sec")
  child:lua([[
    local at = 19
    for i = 1, 400 do
      local text = ("line %d\n"):format(i):rep(100)
      output(text, at)
      at = at + #text
    end
    output("the end\n", at, { state = "exited", exitCode = 2, endedAt = os.time() })
  ]])
  wait_line(child, "the end")
  assert(#child:lines() <= 5010, #child:lines())
  assert(child:lines()[2]:find("^exit code 2 after %d s · in %. · sandbox: none$"), child:lines()[2])
end)

test("a job is stopped from its output", function()
  local child = open()
  wait_line(child, "sec")
  child:keys("<C-c>")
  wait("it says so", function()
    return child:lines()[2]:find("^stopped after ") ~= nil
  end)
  equal("job_1", child:lua("return _G.cancelled"))
end)
