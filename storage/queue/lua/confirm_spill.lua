-- Deletes the entries of a spill that the store has saved. ARGV: crawl, spill. Returns 1, or 0 when
-- the queue does not expect the spill back (cc:tn): the spill was purged, or has come back already.
redis.call('DEL', 'cc:spill:' .. ARGV[2])
redis.call('HDEL', 'cc:spills', ARGV[2])
return redis.call('HEXISTS', 'cc:tn:' .. ARGV[1], ARGV[2])
