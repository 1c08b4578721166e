-- A host's robots rules are known. ARGV: crawl, page id, token, rules, Crawl-delay ms,
-- sitemaps (JSON list, six values each), time to live ms. Returns 1, or 0 for an old token.
local crawl, pid = ARGV[1], ARGV[2]
local key = page_key(crawl, pid)
local p = redis.call('HMGET', key, 's', 't', 'h')
if p[1] ~= 'leased' or p[2] ~= ARGV[3] then
  return 0
end
local t, host = now(), p[3]
drop_robots_lease(crawl, pid, host)
count(crawl, 'fetched', 1)
redis.call('HINCRBY', 'cc:g:' .. host, 'rv', 1)
redis.call('HSET', 'cc:g:' .. host, 'rt', ARGV[4], 'cd', ARGV[5], 'sm', ARGV[6],
  'rx', string.format('%.0f', t + tonumber(ARGV[7])), 'ra', 0)
release(crawl, host, t)
wake() -- other spiders may have waited for this host
return 1
