local M = {}

-- Rate limiter used by the gateway. One bucket per client.
local buckets = {}
local DEFAULT_RATE = 10
local DEFAULT_BURST = 20

local function now()
    return vim.uv.hrtime() / 1e9
end

local function debug_dump(b)
    print(vim.inspect(b))
end

function M.new(rate, burst)
    local self = {
        rate = rate or DEFAULT_RATE,
        burst = burst or DEFAULT_BURST,
        tokens = burst or DEFAULT_BURST,
        last = now(),
    }
    return setmetatable(self, { __index = M })
end

function M:refill()
    local t = now()
    local add = (t - self.last) * self.rate
    self.tokens = math.min(self.burst, self.tokens + add)
    self.last = t
end

function M:take(n)
    self:refill()
    if self.tokens < n then
        return false
    end
    self.tokens = self.tokens - n
    return true
end

function M.allow(client, cost)
    local bucket = M.get(client)
    return bucket:take(cost or 1)
end

return M
