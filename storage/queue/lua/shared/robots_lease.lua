-- Leases of robots.txt, and offers of the sitemaps in robots.txt; a part of lease.lua.

-- Makes the page hash of a host's robots.txt, with the scheme of a waiting URL; returns its page id.
-- at: the server's clock, ms.
local function open_robots(crawl, host, url, at)
  local scheme = string.match(url, '^(%a+):')
  local address = scheme .. '://' .. host .. '/robots.txt'
  local pid = string.sub(redis.sha1hex(address), 1, 32)
  local tries = redis.call('HINCRBY', 'cc:g:' .. host, 'robots_attempts', 1)
  redis.call('HSET', page_key(crawl, pid), 'url', address, 'depth', 0, 'via', 'seed', 'referrer', '', 'text', '',
    'host', host, 'role', 'robots', 'found_ms', whole(at), 'attempt', tries - 1)
  redis.call('HSET', 'cc:g:' .. host, 'robots_leased', '1')
  return pid
end

-- Offers the sitemaps that robots.txt names, once for every crawl of the host.
local function offer_sitemaps(crawl, host, wanted, at)
  local known = wanted == '1' and redis.call('HEXISTS', 'cc:g:' .. host, 'sitemaps') == 1
  if known and redis.call('SADD', 'cc:sm:' .. crawl, host) == 1 then
    offer(crawl, cjson.decode(redis.call('HGET', 'cc:g:' .. host, 'sitemaps')), 1, at)
  end
end

-- Whether the host's address was refused to this crawl a moment ago: the host's pages will be refused, too, and
-- need no robots.txt.
local function is_refused(crawl, host, private)
  return private ~= '1' and redis.call('EXISTS', 'cc:nr:' .. crawl .. ':' .. host) == 1
end
