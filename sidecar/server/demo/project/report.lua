local stats = require("stats")

local function line(name, value)
  return string.format("%-8s %6.2f", name, value)
end

return function(samples)
  return table.concat({
    line("mean", stats.mean(samples)),
    line("median", stats.median(samples)),
    line("spread", stats.spread(samples)),
  }, "\n")
end
