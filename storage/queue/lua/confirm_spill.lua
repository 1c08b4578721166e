-- A parcel is in the store: the queue need not hold its entries. ARGV: crawl, parcel. Returns 1, or
-- 0 when the queue knows no such parcel: it was purged, or is back already.
redis.call('DEL', 'cc:cut:' .. ARGV[2])
redis.call('HDEL', 'cc:cuts', ARGV[2])
return redis.call('HEXISTS', 'cc:tn:' .. ARGV[1], ARGV[2])
