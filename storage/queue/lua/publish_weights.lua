-- Stores the weights of a topic crawl, unless a newer version is stored. ARGV: crawl, packed weights, version.
-- Returns 1, or 0: an older version, or no such crawl.
local crawl, version = ARGV[1], tonumber(ARGV[3])
local key = 'cc:tw:' .. crawl
if redis.call('EXISTS', 'cc:c:' .. crawl) == 0 or (tonumber(redis.call('HGET', key, 'version')) or -1) > version then
  return 0
end
redis.call('HSET', key, 'weights', ARGV[2], 'version', ARGV[3])
return 1
