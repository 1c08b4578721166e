-- Replaces the watch text of a host (cc:learn:watch), unless another worker did since it was read.
-- ARGV: key, host, text as it was read ('' = none), new text. Returns 1, or 0: read it again.
if (redis.call('HGET', ARGV[1], ARGV[2]) or '') ~= ARGV[3] then
  return 0
end
redis.call('HSET', ARGV[1], ARGV[2], ARGV[4])
return 1
