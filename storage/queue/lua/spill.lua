-- Moves the worst entries of a host's queue into a spill (cc:spill:<spill>) for the caller to save.
-- ARGV: crawl, host, spill, most entries, least entries that stay. Returns how many entries were moved.
-- The value of the key is, for each entry, 8 bytes of score, 4 of length, and the entry.
local crawl, host, spill = ARGV[1], ARGV[2], ARGV[3]
local queue = 'cc:q:' .. crawl .. ':' .. host
local n = math.min(tonumber(ARGV[4]), redis.call('ZCARD', queue) - tonumber(ARGV[5]))
if n <= 0 or redis.call('EXISTS', 'cc:c:' .. crawl) == 0 then
  return 0
end
local worst, parts = redis.call('ZRANGE', queue, -n, -1, 'WITHSCORES'), {}
for i = 1, #worst, 2 do
  parts[#parts + 1] = struct.pack('>dI4', tonumber(worst[i + 1]), #worst[i])
  parts[#parts + 1] = worst[i]
end
redis.call('SET', 'cc:spill:' .. spill, table.concat(parts))
redis.call('HSET', 'cc:spills', spill, crawl .. ' ' .. host)
redis.call('ZREMRANGEBYRANK', queue, -n, -1)
redis.call('ZADD', 'cc:t:' .. crawl .. ':' .. host, worst[2], spill)
redis.call('HSET', 'cc:tn:' .. crawl, spill, n)
redis.call('SADD', 'cc:th:' .. crawl, host)
count(crawl, 'spilled', n, 'images', -images_among(worst, 1))
return n
