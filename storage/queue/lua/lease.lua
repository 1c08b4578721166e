-- Leases up to n URLs to a spider's session, at most one per free slot of a host.
-- ARGV: session, n, session ttl ms, limit of pages in flight, limit of bytes in flight, patience with a
-- host that is away ms.
-- Returns {state, wait ms or -1, lease...}; a lease is {crawl, page id, url, host, token, attempt,
-- role, depth, allow_private, robots version, marks, pause of the host ms (robots only: it may redirect),
-- version of the stopped classes, page that an image is on}; state is 'ok' or 'full' (back-pressure). Marks:
-- k the host has answered before, g it is gone: do not ask it, l its address is to be told (locate).
local session, n, patience = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[6])
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

local ROLES = { p = 'page', s = 'sitemap', i = 'image' }

-- What serve reads of a host.
local HOST = { 'held', 'clock', 'ae', 'cd', 'ew', 'sl', 'an', 'fc', 'pz', 'rx', 'rb', 'rv', 'ip', 'ix', 'fw', 'pb',
  'tv' }
local CRAWL = { 'state', 'max', 'used', 'sitemaps', 'private', 'politeness', 'images', unpack(MANNERS) }

local function read(key, names)
  local values, fields = redis.call('HMGET', key, unpack(names)), {}
  for i, name in ipairs(names) do
    fields[name] = values[i] or nil
  end
  return fields
end

local function lease(crawl, host, pid, g, marks)
  local key = page_key(crawl, pid)
  local token = redis.call('INCR', 'cc:token')
  local attempt = redis.call('HINCRBY', key, 'a', 1)
  local p = redis.call('HMGET', key, 'u', 'ro', 'd', 'fp', 'f')
  redis.call('HSET', key, 's', 'leased', 't', token, 'sp', session)
  if not p[4] then
    redis.call('HSET', key, 'an', g.an or 0)
  end
  append_log(key, log_line(t, 'leased', 'attempt ' .. attempt))
  redis.call('SADD', 'cc:l:' .. session, crawl .. ' ' .. pid)
  redis.call('HINCRBY', 'cc:g:' .. host, 'held', 1)
  if g.ip then
    redis.call('HINCRBY', 'cc:i:' .. g.ip, 'held', 1)
  end
  count(crawl, 'leased', 1)
  if p[2] == 'page' then
    count(crawl, 'used', 1)
  elseif p[2] == 'image' then
    count(crawl, 'images', -1)
  end
  local c = redis.call('HMGET', 'cc:c:' .. crawl, 'private', 'traps')
  local version = p[2] == 'robots' and 0 or tonumber(g.rv) or 0
  local pause = p[2] == 'robots' and manners_of(crawl, host, tonumber(g.cd) or 0, tonumber(g.ew) or 0) or 0
  local traps = c[2] ~= '0' and tonumber(g.tv) or 0
  return { crawl, pid, p[1], host, token, attempt, p[2], tonumber(p[3]), c[1], version, marks, pause, traps, p[2] == 'image' and p[5] or '' }
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

local function robots_lease(crawl, host, url, g, marks)
  local scheme = string.match(url, '^(%a+):')
  local address = scheme .. '://' .. host .. '/robots.txt'
  local pid = string.sub(redis.sha1hex(address), 1, 32)
  local key = page_key(crawl, pid)
  local tries = redis.call('HINCRBY', 'cc:g:' .. host, 'ra', 1)
  redis.call('HSET', key, 'u', address, 'd', 0, 'v', 'seed', 'f', '', 'x', '', 'h', host, 'ro', 'robots',
    'dm', whole(t), 'a', tries - 1)
  redis.call('HSET', 'cc:g:' .. host, 'rb', '1')
  return lease(crawl, host, pid, g, marks)
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

-- What a spent budget does not hold back: images of pages that are stored. First pending, first retry.
local function waiting_images(crawl, c, pending, retry)
  if (tonumber(c.images) or 0) <= 0 then
    return nil, {}
  end
  local first = redis.call('ZRANGEBYSCORE', pending, IMAGES_FROM, IMAGES_TO, 'LIMIT', 0, 1)[1]
  local waiting = redis.call('ZRANGE', retry, 0, -1, 'WITHSCORES')
  for i = 1, #waiting, 2 do
    if redis.call('HGET', page_key(crawl, waiting[i]), 'ro') == 'image' then
      return first, { waiting[i], waiting[i + 1] }
    end
  end
  return first, {}
end

-- The crawls that have work at a host, in turn, and how all of them together ask it: the longest pause,
-- the fewest requests at a time. One that has nothing left there counts as long as requests are under way.
local function works_at(host, g)
  local works, pause, slots = {}, 0, math.huge
  for _, crawl in ipairs(redis.call('ZRANGE', 'cc:gc:' .. host, 0, -1)) do
    local c = read('cc:c:' .. crawl, CRAWL)
    if not c.state then
      redis.call('ZREM', 'cc:gc:' .. host, crawl)
    elseif c.state == 'running' then
      local pending, retry = 'cc:q:' .. crawl .. ':' .. host, 'cc:r:' .. crawl .. ':' .. host
      local first = redis.call('ZRANGE', pending, 0, 0)[1]
      local due = redis.call('ZRANGE', retry, 0, 0, 'WITHSCORES')
      local has_work = first or due[1]
      local is_spent = has_work and c.max and c.max ~= '' and (tonumber(c.used) or 0) >= tonumber(c.max)
      if is_spent then
        redis.call('SADD', 'cc:bg:' .. crawl, host)
        first, due = waiting_images(crawl, c, pending, retry)
        has_work = first or due[1]
      end
      if not has_work and not is_spent and g.held == 0 then
        redis.call('ZREM', 'cc:gc:' .. host, crawl)
      elseif has_work or not is_spent then
        local p, s = manners(c, host, tonumber(g.cd) or 0, tonumber(g.ew) or 0)
        pause, slots = math.max(pause, p), math.min(slots, s)
        if has_work then
          works[#works + 1] =
            { crawl = crawl, c = c, first = first, due = due[1], at = tonumber(due[2]), pending = pending, retry = retry }
        end
      end
    end
  end
  if g.sl and slots > 1 then
    slots = math.min(slots, math.max(1, math.floor(tonumber(g.sl))))
  end
  return works, pause, g.fc and 1 or slots
end

-- Whether all that is asked of a host is in vain for the moment: its URLs end without a request.
local function is_gone(g)
  if not g.pb or tonumber(g.pb) <= t then
    return false
  end
  return not g.an or (tonumber(g.fw) or 0) >= patience
end

-- When all hosts of an address may be asked; nil when a request is under way there.
local function address_free_at(ip, pause, slots)
  local i = redis.call('HMGET', 'cc:i:' .. ip, 'held', 'clock', 'ae')
  if (tonumber(i[1]) or 0) >= slots then
    return nil
  end
  return math.max(tonumber(i[2]) or 0, (tonumber(i[3]) or 0) + pause)
end

-- One lease of a host, or nil and the time when to look again (nil: not before a touch), and whether all
-- hosts of its address wait as long.
local function serve(host)
  local g = read('cc:g:' .. host, HOST)
  g.held = tonumber(g.held) or 0
  if g.pz then
    return nil, nil
  end
  if g.clock and tonumber(g.clock) > t then
    return nil, tonumber(g.clock)
  end
  local works, pause, slots = works_at(host, g)
  local free_at = (tonumber(g.ae) or 0) + pause
  if not works[1] or g.held >= slots then
    return nil, nil
  elseif free_at > t then
    return nil, free_at
  end
  if g.ip then
    free_at = address_free_at(g.ip, pause, slots)
    if not free_at or free_at > t then
      return nil, free_at, true
    end
  end
  local gone, again = is_gone(g), nil
  for _, work in ipairs(works) do
    local crawl, c, first = work.crawl, work.c, work.first
    local ready = work.due and work.at <= t
    local marks = (g.an and 'k' or '') .. (gone and 'g' or '')
    if c.politeness == 'ip' and not gone and (tonumber(g.ix) or 0) <= t then
      if g.held > 0 then
        return nil, nil -- its address may be another by now: first what is under way
      end
      marks = marks .. 'l'
    end
    if not gone and (tonumber(g.rx) or 0) <= t and not is_refused(crawl, host, c.private) then
      if g.rb then
        return nil, nil -- robots.txt is on its way; its end touches the host
      end
      local url = ready and redis.call('HGET', page_key(crawl, work.due), 'u')
        or first and read_entry(host, first).url
      if url then
        return robots_lease(crawl, host, url, g, marks)
      end
    else
      local pid
      -- A host that is asked only for a sitemap of another site is not crawled itself.
      local is_page = not ready and first and string.sub(first, 17, 17) == 'p'
        or ready and redis.call('HGET', page_key(crawl, work.due), 'ro') == 'page'
      if is_page then
        offer_sitemaps(crawl, host, c.sitemaps)
      end
      if ready then
        pid = work.due
        redis.call('ZREM', work.retry, pid)
      elseif first then
        pid = open_entry(crawl, host, first)
        redis.call('ZREM', work.pending, first)
      end
      if pid then
        count(crawl, 'pending', -1)
        redis.call('ZADD', 'cc:gc:' .. host, redis.call('INCR', 'cc:served'), crawl)
        if gone then
          redis.call('HSET', 'cc:g:' .. host, 'clock', whole(t + pause))
        end
        return lease(crawl, host, pid, g, marks)
      end
    end
    if work.due and (not again or work.at < again) then
      again = work.at
    end
  end
  return nil, again
end

local looks, limit = 0, n + 256

-- The first of a sorted set whose time has come.
local function first_due(key)
  return redis.call('ZRANGEBYSCORE', key, '-inf', '(' .. whole(t + 1), 'LIMIT', 0, 1)[1]
end

-- Where a host goes after a look: behind the hosts that have waited longer and those served before it in
-- this millisecond, or to its time, or away.
local function place(key, host, got, again)
  if got then
    redis.call('ZADD', key, t + looks / (limit + 1), host)
  elseif again then
    redis.call('ZADD', key, again, host)
  else
    redis.call('ZREM', key, host)
  end
end

-- The same for the hosts of an address, which waits as a whole.
local function serve_address(ip)
  local key, clock = 'cc:ir:' .. ip, tonumber(redis.call('HGET', 'cc:i:' .. ip, 'clock')) or 0
  if clock > t then
    return nil, clock
  end
  while looks <= limit do
    local host = first_due(key)
    if not host then
      local nearest = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
      return nil, tonumber(nearest[2])
    end
    looks = looks + 1
    local got, again, is_shared = serve(host)
    if is_shared then
      return nil, again -- it keeps its place
    end
    place(key, host, got, again)
    if got then
      return got
    end
  end
  return nil, t
end

local out = { 'ok', -1 }
while looks < limit and #out - 2 < n do
  local host = first_due('cc:ready')
  if not host then
    break
  end
  looks = looks + 1
  local ip = string.match(host, '^@(.*)$') or redis.call('HGET', 'cc:g:' .. host, 'ip')
  if ip and string.sub(host, 1, 1) ~= '@' then
    redis.call('ZREM', 'cc:ready', host)
    touch(host)
  else
    local got, again
    if ip then
      got, again = serve_address(ip)
    else
      got, again = serve(host)
    end
    place('cc:ready', host, got, again)
    if got then
      out[#out + 1] = got
    end
  end
end

local nearest = redis.call('ZRANGE', 'cc:ready', 0, 0, 'WITHSCORES')
if nearest[2] then
  out[2] = math.max(0, tonumber(nearest[2]) - t)
end
return out
