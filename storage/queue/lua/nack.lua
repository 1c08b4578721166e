-- leased -> pending: this attempt failed, another may succeed. ARGV: crawl, page id, token, wait ms of
-- the URL, wait ms of the host, log detail, outcome of the request (see release), its duration in ms.
-- Returns 1, or 0 for an old token.
local crawl, pid = ARGV[1], ARGV[2]
local key = page_key(crawl, pid)
local p = redis.call('HMGET', key, 'state', 'token', 'host', 'role')
if p[1] ~= 'leased' or p[2] ~= ARGV[3] then
  return 0
end
local t, host = now(), p[3]
count(crawl, 'fetched', 1)
if p[4] == 'robots' then
  drop_robots_lease(crawl, pid, host)
  release(crawl, host, t, math.max(tonumber(ARGV[4]), tonumber(ARGV[5])), ARGV[7], tonumber(ARGV[8]), nil, ARGV[6])
  return 1
end
append_log(key, log_line(wall(), 'failed', ARGV[6]))
back_to_pending(crawl, pid, t, t + tonumber(ARGV[4]))
release(crawl, host, t, tonumber(ARGV[5]), ARGV[7], tonumber(ARGV[8]), nil, ARGV[6])
return 1
