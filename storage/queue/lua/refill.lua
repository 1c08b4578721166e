-- Puts the entries of a spill back into a host's queue. ARGV: crawl, host, spill, then score and entry of
-- each URL; none when the store has lost them. Returns how many URLs came back, -1 when the queue does not
-- expect the spill: the spill was purged, came back already, or is not yet confirmed.
local crawl, host, spill = ARGV[1], ARGV[2], ARGV[3]
local n = redis.call('HGET', 'cc:tn:' .. crawl, spill)
if not n or redis.call('EXISTS', 'cc:c:' .. crawl) == 0 or redis.call('HEXISTS', 'cc:spills', spill) == 1 then
  return -1
end
local waiting, back = 'cc:t:' .. crawl .. ':' .. host, (#ARGV - 3) / 2
redis.call('HDEL', 'cc:tn:' .. crawl, spill)
redis.call('HDEL', 'cc:tv:' .. crawl, spill)
redis.call('ZREM', waiting, spill)
if redis.call('EXISTS', waiting) == 0 then
  redis.call('SREM', 'cc:th:' .. crawl, host)
end
for i = 4, #ARGV, 1000 do
  redis.call('ZADD', 'cc:q:' .. crawl .. ':' .. host, unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
count(crawl, 'spilled', -n)
count(crawl, 'images', images_among(ARGV, 5))
if back < tonumber(n) then
  count(crawl, 'pending', back - n)
end
-- The store deletes the spill later: a server that loses its last second must find the spill there.
redis.call('ZADD', 'cc:tg', now(), spill)
join_group(crawl, host)
settle(crawl)
wake()
return back
