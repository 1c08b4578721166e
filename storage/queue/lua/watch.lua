-- Replaces the watch text of a host (cc:learn:watch), unless another worker has replaced the text since the read.
-- ARGV: key, host, text that was read ('' = none), new text. Returns 1, or 0: read again.
if (redis.call('HGET', ARGV[1], ARGV[2]) or '') ~= ARGV[3] then
  return 0
end
redis.call('HSET', ARGV[1], ARGV[2], ARGV[4])
return 1
