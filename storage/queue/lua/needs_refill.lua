-- Returns the hosts whose queue is low, or whose best spill has a better score than the queue:
-- {host, its best spill, ...}. ARGV: crawl, length below which a queue is low, hosts with spills.
local crawl, out = ARGV[1], {}
if redis.call('HGET', 'cc:c:' .. crawl, 'state') ~= 'running' then
  return out
end
for i = 3, #ARGV do
  local host = ARGV[i]
  local queue = 'cc:q:' .. crawl .. ':' .. host
  local best = redis.call('ZRANGE', 'cc:t:' .. crawl .. ':' .. host, 0, 0, 'WITHSCORES')
  if best[1] then
    local first = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')
    local low = redis.call('ZCARD', queue) < tonumber(ARGV[2])
    if low or tonumber(first[2]) > tonumber(best[2]) then
      out[#out + 1] = host
      out[#out + 1] = best[1]
    end
  end
end
return out
