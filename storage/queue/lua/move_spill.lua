-- Notes that a spill in the store was ranked anew. ARGV: crawl, host, spill, its new least score, version of the model.
-- Returns 1; 0 when the queue does not expect the spill back, and the store will delete it; -1 when nobody will.
local crawl, spill = ARGV[1], ARGV[3]
if redis.call('HEXISTS', 'cc:tn:' .. crawl, spill) == 0 then
  return redis.call('ZSCORE', 'cc:tg', spill) and 0 or -1
end
redis.call('ZADD', 'cc:t:' .. crawl .. ':' .. ARGV[2], 'XX', ARGV[4], spill)
redis.call('HSET', 'cc:tv:' .. crawl, spill, ARGV[5])
return 1
