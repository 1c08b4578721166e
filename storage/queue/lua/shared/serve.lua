-- Leases one URL of a host; a part of lease.lua. A round is one call of lease.lua: { t = its time in ms, at = that
-- of the server's clock, session = the spider's, patience = ms a host that does not answer is waited for }.

local ROLES = { p = 'page', s = 'sitemap', i = 'image' }

-- Turns a page hash into a lease; returns the row of the lease (lease.lua).
local function lease(round, crawl, host, pid, g, marks)
  local key = page_key(crawl, pid)
  local token = redis.call('INCR', 'cc:token')
  local attempt = redis.call('HINCRBY', key, 'attempt', 1)
  local p = redis.call('HMGET', key, 'url', 'role', 'depth', 'excuses', 'referrer', 'via')
  redis.call('HSET', key, 'state', 'leased', 'token', token, 'session', round.session)
  if not p[4] then
    redis.call('HSET', key, 'answers_at_lease', g.answers or 0)
  end
  append_log(key, log_line(round.at, 'leased', 'attempt ' .. attempt))
  redis.call('SADD', 'cc:l:' .. round.session, crawl .. ' ' .. pid)
  redis.call('HINCRBY', 'cc:g:' .. host, 'held', 1)
  if g.address then
    redis.call('HINCRBY', 'cc:i:' .. g.address, 'held', 1)
  end
  count(crawl, 'leased', 1)
  if p[2] == 'page' then
    count(crawl, 'used', 1)
  elseif p[2] == 'image' then
    count(crawl, 'images', -1)
  end
  local c = redis.call('HMGET', 'cc:c:' .. crawl, 'private', 'traps', 'patterns', 'verify_tls')
  marks = marks .. (c[4] == '1' and ' verify' or '')
  local version = p[2] == 'robots' and 0 or tonumber(g.robots_version) or 0
  local pause = 0
  if p[2] == 'robots' then
    pause = policy_of(crawl, host, tonumber(g.crawl_delay) or 0, tonumber(g.smoothed_ms) or 0)
  end
  local stopped = c[2] ~= '0' and tonumber(g.stopped_version) or 0
  return { crawl, pid, p[1], host, token, attempt, p[2], tonumber(p[3]), c[1], version, marks, pause, stopped,
    p[5] or '', c[3] or '', p[6] or 'link' }
end

-- Decodes a packed entry (entries.py): via, depth, hops, url, referrer, link text.
local function read_entry(host, member)
  local via, depth, hops, form, rest, same, tail, text =
    string.match(string.sub(member, 24), '^([%l_]+) (%d+) (%d+) (%l)([^\t]*)\t(%d*):([^\t]*)\t(.*)$')
  local url = (form == 'h' and 'http://' .. host or form == 's' and 'https://' .. host or '') .. rest
  local referrer = same ~= '' and string.sub(url, 1, tonumber(same)) .. tail or ''
  return { via = via, depth = depth, hops = hops, url = url, referrer = referrer, text = text }
end

-- Turns a pending entry into a page hash, which holds the history of the URL; returns the page id.
local function open_entry(crawl, host, member)
  local pid = string.format('%08x%08x%08x%08x', struct.unpack('>I4I4I4I4', member))
  local role, found = string.sub(member, 17, 17), string.format('%.0f', struct.unpack('>I6', member, 18))
  local e = read_entry(host, member)
  redis.call('HSET', page_key(crawl, pid), 'url', e.url, 'depth', e.depth, 'via', e.via,
    'referrer', e.referrer, 'text', e.text, 'hops', e.hops, 'host', host, 'role', ROLES[role], 'found_ms', found,
    'log', log_line(found, 'discovered', e.via))
  return pid
end

-- Leases one URL of a host. Returns the row of the lease; or nil, the next time ms (nil: not before a touch),
-- and whether all hosts of the address wait as long.
local function serve(round, host)
  local t = round.t
  local g = read('cc:g:' .. host, HOST)
  g.held = tonumber(g.held) or 0
  if g.paused then
    return nil, nil
  end
  if g.clock and tonumber(g.clock) > t then
    return nil, tonumber(g.clock)
  end
  local works, pause, slots = works_at(host, g)
  local free_at = (tonumber(g.answer_ended) or 0) + pause
  if not works[1] or g.held >= slots then
    return nil, nil
  elseif free_at > t then
    return nil, free_at
  end
  if g.address then
    free_at = address_free_at(g.address, pause, slots)
    if not free_at or free_at > t then
      return nil, free_at, true
    end
  end
  local gone, next_at = is_gone(g, t, round.patience), nil
  for _, work in ipairs(works) do
    local crawl, c, first = work.crawl, work.c, work.first
    local ready = work.due and work.at <= t
    local marks = (g.answers and 'known ' or '') .. (gone and 'gone ' or '')
    if c.politeness == 'ip' and not gone and (tonumber(g.address_until) or 0) <= t then
      if g.held > 0 then
        return nil, nil -- the address may have changed: requests under way must end first
      end
      marks = marks .. 'locate'
    end
    if not gone and (tonumber(g.robots_until) or 0) <= t and not is_refused(crawl, host, c.private) then
      if g.robots_leased then
        return nil, nil -- robots.txt is being fetched; the end of its lease touches the host
      end
      local url = ready and redis.call('HGET', page_key(crawl, work.due), 'url')
        or first and read_entry(host, first).url
      if url then
        return lease(round, crawl, host, open_robots(crawl, host, url, round.at), g, marks)
      end
    else
      local pid
      -- A host that only serves a sitemap of another site is not crawled.
      local is_page = not ready and first and string.sub(first, 17, 17) == 'p'
        or ready and redis.call('HGET', page_key(crawl, work.due), 'role') == 'page'
      if is_page then
        offer_sitemaps(crawl, host, c.sitemaps, round.at)
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
        return lease(round, crawl, host, pid, g, marks)
      end
    end
    if work.due and (not next_at or work.at < next_at) then
      next_at = work.at
    end
  end
  return nil, next_at
end
