-- Makes ended URLs wait to be visited again. ARGV: crawl, most that may wait at a host, then twelve values a URL:
-- page id, host, url, role, depth, via, referrer, link text, discovered at (ms), final state, ETag and Last-Modified
-- of its conditional request ('' = none).
-- Returns how many were taken; -1 when no such crawl is kept fresh. A URL that waits or is under way stays unchanged.
local crawl, most, t, n, hosts = ARGV[1], tonumber(ARGV[2]), now(), 0, {}
if redis.call('HGET', 'cc:c:' .. crawl, 'fresh') ~= '1' then
  return -1
end
for i = 3, #ARGV, 12 do
  local pid, host, url, role, depth, via, referrer, text, found, was, etag, modified = unpack(ARGV, i, i + 11)
  local key, waiting = page_key(crawl, pid), 'cc:v:' .. crawl .. ':' .. host
  if redis.call('EXISTS', key) == 0 and redis.call('ZCARD', waiting) < most then
    redis.call('HSET', key, 'url', url, 'depth', depth, 'via', via, 'referrer', referrer, 'text', text,
      'hops', 0, 'host', host, 'role', role, 'found_ms', found, 'attempt', 0, 'state', 'revisit', 'rv', was,
      'etag', etag, 'last_modified', modified,
      'log', log_line(tonumber(found), 'discovered', via) .. log_line(wall(), 'due again', was))
    redis.call('ZADD', waiting, whole(t), pid)
    redis.call('SADD', 'cc:h:' .. crawl, host)
    redis.call('SADD', 'cc:vh:' .. crawl, host)
    n = n + 1
    hosts[host] = true
  end
end
if n > 0 then
  count(crawl, 'revisits', n)
  for host in pairs(hosts) do
    join_group(crawl, host)
  end
  wake()
end
return n
