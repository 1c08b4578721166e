-- Slows a host down in every crawl, or ends that. ARGV: host, "5000 2": least pause ms, most slots, each or -; '' ends it.
-- The clock counts from the last answer again where a pause set it: the new pause holds for the next request.
local host, key = ARGV[1], 'cc:g:' .. ARGV[1]
if ARGV[2] == '' then
  redis.call('HDEL', key, 'slowed')
else
  redis.call('HSET', key, 'slowed', ARGV[2])
  redis.call('PERSIST', key)
end
local g = redis.call('HMGET', key, 'clock_by', 'answer_ended')
if g[1] == '' and g[2] then
  redis.call('HSET', key, 'clock', g[2])
end
touch(host)
wake()
