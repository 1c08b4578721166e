-- Makes ended URLs pending again. ARGV: crawl, then eleven values a URL: page id,
-- host, url, role, depth, via, referrer, link text, discovered at (ms), final state ('failed',
-- 'excluded', 'record'), reason. Returns how many were not pending before, -1 without such a crawl. Reopened
-- URLs have a history, so they wait with the retries; a URL that is pending or under way stays unchanged.
-- One with a record is a revisit (rv): it counts as done meanwhile, and its record stays until a newer one is stored.
local crawl, t, n, failed, again, images, hosts = ARGV[1], now(), 0, 0, 0, 0, {}
if redis.call('EXISTS', 'cc:c:' .. crawl) == 0 then
  return -1
end
for i = 2, #ARGV, 11 do
  local pid, host, url, role, depth, via, referrer, text, found, ended, why = unpack(ARGV, i, i + 10)
  local key = page_key(crawl, pid)
  if redis.call('EXISTS', key) == 0 then
    redis.call('HSET', key, 'url', url, 'depth', depth, 'via', via, 'referrer', referrer, 'text', text,
      'hops', 0, 'host', host, 'role', role, 'found_ms', found, 'attempt', 0, 'state', 'retry',
      'log', log_line(tonumber(found), 'discovered', via) .. log_line(wall(), 'offered again', why))
    if ended == 'record' then
      redis.call('HSET', key, 'rv', ended)
      again = again + 1
    end
    redis.call('ZADD', 'cc:r:' .. crawl .. ':' .. host, t, pid)
    n = n + 1
    images = images + (role == 'image' and 1 or 0)
    failed = failed + (ended == 'failed' and 1 or 0)
    hosts[host] = (hosts[host] == 'robots' or ended == 'excluded') and 'robots' or 'host'
  end
end
if n == 0 then
  return 0
end
count(crawl, 'pending', n, 'images', images, 'done', again - n, 'failed', -failed)
if redis.call('HGET', 'cc:c:' .. crawl, 'state') == 'finished' then
  redis.call('HSET', 'cc:c:' .. crawl, 'state', 'running')
  settle(crawl) -- a spent budget leaves it finished
end
for host, what in pairs(hosts) do
  -- The host's failures are forgotten; where robots.txt forbade a URL, robots.txt is fetched again.
  redis.call('HDEL', 'cc:g:' .. host, 'failures', 'waited_ms', 'wait_until', 'unconnected', 'next_probe')
  if what == 'robots' then
    redis.call('HDEL', 'cc:g:' .. host, 'robots_until')
  end
  redis.call('SADD', 'cc:h:' .. crawl, host)
  join_group(crawl, host)
end
wake()
return n
