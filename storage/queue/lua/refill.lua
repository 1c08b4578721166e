-- Puts the entries of a parcel back into a host's queue. ARGV: crawl, host, parcel, then score and entry of
-- each URL; none when the store has lost it. Returns how many URLs came back, -1 when the parcel is not in
-- the store for the queue: it was purged, came back already, or is still on its way to the store.
local crawl, host, parcel = ARGV[1], ARGV[2], ARGV[3]
local n = redis.call('HGET', 'cc:tn:' .. crawl, parcel)
if not n or redis.call('EXISTS', 'cc:c:' .. crawl) == 0 or redis.call('HEXISTS', 'cc:cuts', parcel) == 1 then
  return -1
end
local tail, back = 'cc:t:' .. crawl .. ':' .. host, (#ARGV - 3) / 2
redis.call('HDEL', 'cc:tn:' .. crawl, parcel)
redis.call('ZREM', tail, parcel)
if redis.call('EXISTS', tail) == 0 then
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
-- The store deletes the parcel later: a server that loses its last second must find it there again.
redis.call('ZADD', 'cc:tg', now(), parcel)
join_group(crawl, host)
settle(crawl)
wake()
return back
