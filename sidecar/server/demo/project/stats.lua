-- Numbers about a list of samples.
local stats = {}

function stats.sum(samples)
  local sum = 0
  for _, sample in ipairs(samples) do
    sum = sum + sample
  end
  return sum
end

function stats.mean(samples)
  return stats.sum(samples) / #samples
end

function stats.median(samples)
  table.sort(samples)
  return samples[math.floor(#samples / 2) + 1]
end

function stats.spread(samples)
  table.sort(samples)
  return samples[#samples] - samples[1]
end

return stats
