-- Renews a worker's claim, or ends it. ARGV: job, ttl ms (0: the claim is lost, before all that end with a run), why it is
-- lost, for a person ('' = its worker died, '!' = given back without blame). Returns 1, or 0 when the claim is lost: the
-- worker stops.
if not redis.call('ZSCORE', 'cc:claims', ARGV[1]) then
  return 0
end
local ttl = tonumber(ARGV[2])
redis.call('ZADD', 'cc:claims', 'XX', ttl > 0 and now() + ttl or 0, ARGV[1])
if ARGV[3] ~= '' then
  redis.call('HSET', 'cc:j:' .. ARGV[1], 'why', ARGV[3])
end
return 1
