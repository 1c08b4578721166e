-- Deletes the entries of a parcel that the store has saved. ARGV: crawl, parcel. Returns 1, or 0 when
-- the parcel is not on the queue's list: it was purged, or came back already.
redis.call('DEL', 'cc:cut:' .. ARGV[2])
redis.call('HDEL', 'cc:cuts', ARGV[2])
return redis.call('HEXISTS', 'cc:tn:' .. ARGV[1], ARGV[2])
