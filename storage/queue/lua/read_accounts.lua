-- Reads the state of a host that judging its pages needs (cleaning/url_classes/stopping.py); changes nothing.
-- ARGV: crawl, host, number of patterns, the patterns, then fingerprints.
-- Returns {} for a crawl that was purged; else {version, accounts the host has, account ('' = none) of each
-- pattern, 1 (stopped) or 0 for each pattern, 1 (known) or 0 for each fingerprint}.
local crawl, host, n = ARGV[1], ARGV[2], tonumber(ARGV[3])
if redis.call('EXISTS', 'cc:c:' .. crawl) == 0 then
  return {}
end
local accounts, stopped = 'cc:k:' .. crawl .. ':' .. host, 'cc:ts:' .. crawl .. ':' .. host
local found, ends, known = {}, {}, {}
for i = 4, 3 + n do
  found[#found + 1] = redis.call('HGET', accounts, ARGV[i]) or ''
  ends[#ends + 1] = redis.call('HEXISTS', stopped, ARGV[i])
end
local buckets = text_buckets(crawl)
local full = full_of(buckets)
for i = 4 + n, #ARGV do
  known[#known + 1] = redis.call('SISMEMBER', text_bucket(crawl, ARGV[i], buckets, full), ARGV[i])
end
local version = redis.call('HGET', 'cc:u:' .. crawl .. ':' .. host, 'judged') or '0'
return { version, redis.call('HLEN', accounts), found, ends, known }
