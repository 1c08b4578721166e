-- Leases up to n URLs to a spider's session, at most one per free slot of a host.
-- ARGV: session, n, session ttl ms, limit of pages in flight, limit of bytes in flight.
-- Returns {state, wait ms or -1, lease...}; a lease is {crawl, page id, url, host, token, attempt,
-- role, depth, allow_private, robots version}; state is 'ok' or 'full' (back-pressure).
local session, n = ARGV[1], tonumber(ARGV[2])
local t = now()
redis.call('ZADD', 'cc:spiders', t + tonumber(ARGV[3]), session)

local flight = redis.call('HMGET', 'cc:flight', 'pages', 'bytes', 'memory', 'disk')
if
  flight[3]
  or flight[4]
  or (tonumber(flight[1]) or 0) >= tonumber(ARGV[4])
  or (tonumber(flight[2]) or 0) >= tonumber(ARGV[5])
then
  return { 'full', 100 }
end

local ROLES = { p = 'page', s = 'sitemap' }

local function lease(crawl, host, pid, robots_version)
  local key = page_key(crawl, pid)
  local token = redis.call('INCR', 'cc:token')
  local attempt = redis.call('HINCRBY', key, 'a', 1)
  local p = redis.call('HMGET', key, 'u', 'ro', 'd')
  redis.call('HSET', key, 's', 'leased', 't', token, 'sp', session)
  append_log(key, log_line(t, 'leased', 'attempt ' .. attempt))
  redis.call('SADD', 'cc:l:' .. session, crawl .. ' ' .. pid)
  redis.call('HINCRBY', 'cc:g:' .. host, 'held', 1)
  count(crawl, 'leased', 1)
  if p[2] == 'page' then
    count(crawl, 'used', 1)
  end
  local private = redis.call('HGET', 'cc:c:' .. crawl, 'private')
  return { crawl, pid, p[1], host, token, attempt, p[2], tonumber(p[3]), private, robots_version }
end

-- What entries.py packed: via, depth, hops, url, referrer, link text.
local function read_entry(host, member)
  local via, depth, hops, form, rest, same, tail, text =
    string.match(string.sub(member, 24), '^([%l_]+) (%d+) (%d+) (%l)([^\t]*)\t(%d*):([^\t]*)\t(.*)$')
  local url = (form == 'h' and 'http://' .. host or form == 's' and 'https://' .. host or '') .. rest
  local referrer = same ~= '' and string.sub(url, 1, tonumber(same)) .. tail or ''
  return { via = via, depth = depth, hops = hops, url = url, referrer = referrer, text = text }
end

-- A pending entry becomes a page hash: from here on the URL has a history.
local function open_entry(crawl, host, member)
  local pid = string.format('%08x%08x%08x%08x', struct.unpack('>I4I4I4I4', member))
  local role, found = string.sub(member, 17, 17), string.format('%.0f', struct.unpack('>I6', member, 18))
  local e = read_entry(host, member)
  redis.call('HSET', page_key(crawl, pid), 'u', e.url, 'd', e.depth, 'v', e.via, 'f', e.referrer, 'x', e.text,
    'hp', e.hops, 'h', host, 'ro', ROLES[role], 'dm', found, 'lg', log_line(found, 'discovered', e.via))
  return pid
end

local function robots_lease(crawl, host, url)
  local scheme = string.match(url, '^(%a+):')
  local address = scheme .. '://' .. host .. '/robots.txt'
  local pid = string.sub(redis.sha1hex(address), 1, 32)
  local key = page_key(crawl, pid)
  local tries = redis.call('HINCRBY', 'cc:g:' .. host, 'ra', 1)
  redis.call('HSET', key, 'u', address, 'd', 0, 'v', 'seed', 'f', '', 'x', '', 'h', host, 'ro', 'robots',
    'dm', string.format('%.0f', t), 'a', tries - 1)
  redis.call('HSET', 'cc:g:' .. host, 'rb', '1')
  return lease(crawl, host, pid, 0)
end

-- The sitemaps that robots.txt names, once for every crawl of the host.
local function offer_sitemaps(crawl, host, wanted)
  local known = wanted == '1' and redis.call('HEXISTS', 'cc:g:' .. host, 'sm') == 1
  if known and redis.call('SADD', 'cc:sm:' .. crawl, host) == 1 then
    offer(crawl, cjson.decode(redis.call('HGET', 'cc:g:' .. host, 'sm')), 1, t)
  end
end

-- Whether the host's address was refused to this crawl a moment ago: its pages need no robots.txt to
-- be refused as well.
local function is_refused(crawl, host, private)
  return private ~= '1' and redis.call('EXISTS', 'cc:nr:' .. crawl .. ':' .. host) == 1
end

-- One lease of a host, or nil and the time when to look again (nil: not before a touch).
local function serve(host)
  local g = redis.call('HMGET', 'cc:g:' .. host, 'held', 'clock', 'rx', 'rb', 'rv', 'pz')
  local held, clock = tonumber(g[1]) or 0, tonumber(g[2]) or 0
  if g[6] then
    return nil, nil
  end
  if clock > t then
    return nil, clock
  end
  local again
  for _, crawl in ipairs(redis.call('ZRANGE', 'cc:gc:' .. host, 0, -1)) do
    local c = redis.call('HMGET', 'cc:c:' .. crawl, 'state', 'slots', 'max', 'used', 'sitemaps', 'private')
    local pending, retry = 'cc:q:' .. crawl .. ':' .. host, 'cc:r:' .. crawl .. ':' .. host
    if not c[1] then
      redis.call('ZREM', 'cc:gc:' .. host, crawl)
    elseif c[1] == 'running' then
      local slots = delay_of(crawl, host) > 0 and 1 or tonumber(c[2])
      local first = redis.call('ZRANGE', pending, 0, 0)[1]
      local due = redis.call('ZRANGE', retry, 0, 0, 'WITHSCORES')
      if not first and not due[1] then
        redis.call('ZREM', 'cc:gc:' .. host, crawl)
      elseif c[3] and c[3] ~= '' and (tonumber(c[4]) or 0) >= tonumber(c[3]) then
        redis.call('SADD', 'cc:bg:' .. crawl, host)
      elseif held >= slots then
        if first or tonumber(due[2]) <= t then
          return nil, nil -- its turn; a crawl with more slots must not keep the host busy for ever
        end
      else
        local ready = due[1] and tonumber(due[2]) <= t
        if (tonumber(g[3]) or 0) <= t and not is_refused(crawl, host, c[6]) then
          if g[4] then
            return nil, nil -- robots.txt is on its way; its end touches the host
          end
          local url = ready and redis.call('HGET', page_key(crawl, due[1]), 'u')
            or first and read_entry(host, first).url
          if url then
            return robots_lease(crawl, host, url)
          end
        else
          local pid
          -- A host that is asked only for a sitemap of another site is not crawled itself.
          local is_page = not ready and first and string.sub(first, 17, 17) == 'p'
            or ready and redis.call('HGET', page_key(crawl, due[1]), 'ro') == 'page'
          if is_page then
            offer_sitemaps(crawl, host, c[5])
          end
          if ready then
            pid = due[1]
            redis.call('ZREM', retry, pid)
          elseif first then
            pid = open_entry(crawl, host, first)
            redis.call('ZREM', pending, first)
          end
          if pid then
            count(crawl, 'pending', -1)
            redis.call('ZADD', 'cc:gc:' .. host, redis.call('INCR', 'cc:served'), crawl)
            return lease(crawl, host, pid, tonumber(g[5]) or 0)
          end
        end
        if due[1] and (not again or tonumber(due[2]) < again) then
          again = tonumber(due[2])
        end
      end
    end
  end
  return nil, again
end

local out = { 'ok', -1 }
for look = 1, n + 256 do
  if #out - 2 >= n then
    break
  end
  local host = redis.call('ZRANGEBYSCORE', 'cc:ready', '-inf', '(' .. string.format('%.0f', t + 1), 'LIMIT', 0, 1)[1]
  if not host then
    break
  end
  local got, again = serve(host)
  if got then
    out[#out + 1] = got
    -- behind the hosts that have waited longer, and those served before it in this millisecond
    redis.call('ZADD', 'cc:ready', t + look / (n + 257), host)
  elseif again then
    redis.call('ZADD', 'cc:ready', again, host)
  else
    redis.call('ZREM', 'cc:ready', host)
  end
end

local nearest = redis.call('ZRANGE', 'cc:ready', 0, 0, 'WITHSCORES')
if nearest[2] then
  out[2] = math.max(0, tonumber(nearest[2]) - t)
end
return out
