-- Leases one URL of a host; a part of lease.lua. A round is one call of lease.lua: { t = its time in ms, at = that
-- of the server's clock, session = the spider's, patience = ms a host that does not answer is waited for, turns =
-- of topic crawls (turns.lua), nil without any, crawls = crawl -> its fields (crawl_of) }.

local ROLES = { p = 'page', s = 'sitemap', i = 'image' }

-- Counts for a crawl that has a URL to serve, and so exists.
local function tally(round, crawl, field, by)
  crawl_of(round, crawl)[field] = redis.call('HINCRBY', 'cc:c:' .. crawl, field, by)
end

local PAGE = { 'url', 'role', 'depth', 'excuses', 'referrer', 'via', 'rv', 'etag', 'last_modified', 'dull' }

-- Turns a page hash into a lease; returns the row of the lease (lease.lua). opened: what open_entry wrote a moment ago
-- if this is the URL's first lease.
local function lease(round, crawl, host, pid, g, marks, opened)
  local key = page_key(crawl, pid)
  local token = redis.call('INCR', 'cc:token')
  local attempt = opened and 1 or redis.call('HINCRBY', key, 'attempt', 1)
  local p, line = opened or read(key, PAGE), log_line(round.at, 'leased', message('attempt', attempt))
  if opened then
    redis.call('HSET', key, 'state', 'leased', 'token', token, 'session', round.session, 'attempt', 1,
      'answers_at_lease', g.answers or 0, 'log', opened.log .. line)
  else
    redis.call('HSET', key, 'state', 'leased', 'token', token, 'session', round.session)
    if not p.excuses then
      redis.call('HSET', key, 'answers_at_lease', g.answers or 0)
    end
    append_log(key, line)
  end
  redis.call('SADD', 'cc:l:' .. round.session, crawl .. ' ' .. pid)
  redis.call('HINCRBY', 'cc:g:' .. host, 'held', 1)
  if g.address then
    redis.call('HINCRBY', 'cc:i:' .. g.address, 'held', 1)
  end
  tally(round, crawl, 'leased', 1)
  if p.rv then
    marks = marks .. ' again'
  elseif p.role == 'page' then
    tally(round, crawl, 'used', 1)
  elseif p.role == 'image' then
    tally(round, crawl, 'images', -1)
  end
  if p.role ~= 'robots' then
    count_unjudged(crawl, host, p.dull, 1)
  end
  local c = crawl_of(round, crawl)
  marks = marks .. (c.verify_tls == '1' and ' verify' or '')
  local version = p.role == 'robots' and 0 or tonumber(g.robots_version) or 0
  local pause = 0
  if p.role == 'robots' then
    pause = policy_of(crawl, host, tonumber(g.crawl_delay) or 0, tonumber(g.smoothed_ms) or 0, g.slowed)
  end
  local stopped = tonumber(g.stopped_version) or 0
  return { crawl, pid, p.url or false, host, token, attempt, p.role or false, tonumber(p.depth) or false,
    c.private or false, version, marks, pause, stopped, p.referrer or '', c.patterns or '', p.via or 'link',
    p.etag or '', p.last_modified or '', table.concat(redis.call('HVALS', 'cc:ck:' .. crawl .. ':' .. host), '\n') }
end

-- Decodes a packed entry (entries.py): via, depth, hops, features ('=AAB_' or ''), url, referrer, link text.
local function read_entry(host, member)
  local via, depth, hops, features, form, rest, same, tail, text =
    string.match(string.sub(member, 24), '^([%l_]+) (%d+) (%d+)(=?[%w_-]*) (%l)([^\t]*)\t(%d*):([^\t]*)\t(.*)$')
  local url = (form == 'h' and 'http://' .. host or form == 's' and 'https://' .. host or '') .. rest
  local referrer = same ~= '' and string.sub(url, 1, tonumber(same)) .. tail or ''
  return { via = via, depth = depth, hops = hops, features = features, url = url, referrer = referrer, text = text }
end

-- Ends a pending entry whose URL has a page hash already, as after `recover` or `run --fresh`, which offer ended URLs
-- that are due to be visited again. Returns whether the entry is to be opened: the URL waits for its revisit.
local function meets_revisit(round, crawl, host, pid)
  local key = page_key(crawl, pid)
  local p = redis.call('HMGET', key, 'state', 'rv', 'role')
  if not p[1] then
    return true
  elseif not p[2] then
    tally(round, crawl, 'done', 1) -- the URL was counted twice, and ends once
    return false
  elseif p[1] == 'revisit' then
    redis.call('ZREM', 'cc:v:' .. crawl .. ':' .. host, pid)
    tally(round, crawl, 'revisits', -1)
    redis.call('DEL', key)
    return true
  end
  redis.call('HDEL', key, 'rv') -- the request that waits or is under way is the first of this queue
  tally(round, crawl, 'used', p[3] == 'page' and p[1] ~= 'retry' and 1 or 0)
  return false
end

-- Turns a pending entry into a page hash, which holds the history of the URL; returns the page id, or nil, and fields
-- of the hash.
local function open_entry(round, crawl, host, member, score)
  local pid = string.format('%08x%08x%08x%08x', struct.unpack('>I4I4I4I4', member))
  if not meets_revisit(round, crawl, host, pid) then
    return nil
  end
  local role, found = string.sub(member, 17, 17), string.format('%.0f', struct.unpack('>I6', member, 18))
  local e, key = read_entry(host, member), page_key(crawl, pid)
  e.role, e.log = ROLES[role], log_line(found, 'discovered', e.via)
  local set = { 'url', e.url, 'depth', e.depth, 'via', e.via, 'referrer', e.referrer, 'text', e.text, 'hops', e.hops,
    'host', host, 'role', e.role, 'found_ms', found, 'log', e.log }
  if is_dull(score) then
    set[#set + 1], set[#set + 2], e.dull = 'dull', 1, true
  end
  if e.features ~= '' then
    set[#set + 1], set[#set + 2] = 'ft', string.sub(e.features, 2)
  end
  redis.call('HSET', key, unpack(set))
  return pid, e
end

-- Returns what a crawl asks a host for next: 'retry', 'new' (a pending entry), 'revisit', or nil. While both wait, a
-- revisit and another URL take turns, so that neither waits for all of the others (ADR 37).
local function next_kind(work, host, t)
  local other = work.due and work.at <= t and 'retry' or work.first and 'new' or nil
  if not work.again or work.again_at > t then
    return other
  elseif not other then
    return 'revisit'
  end
  return redis.call('HGET', 'cc:cr:' .. work.crawl .. ':' .. host, 'turn') == 'revisit' and other or 'revisit'
end

-- Takes the next URL of a crawl out of the waiting ones; returns its page id, nil when the entry was of a URL that is
-- under way; and what open_entry wrote.
local function take(round, work, host, kind)
  local crawl, t = work.crawl, round.t
  if work.again and work.again_at <= t then
    redis.call('HSET', 'cc:cr:' .. crawl .. ':' .. host, 'turn', kind == 'revisit' and kind or 'new')
  end
  if kind == 'revisit' then
    redis.call('ZREM', 'cc:v:' .. crawl .. ':' .. host, work.again)
    tally(round, crawl, 'revisits', -1)
    return work.again
  end
  tally(round, crawl, 'pending', -1)
  if kind == 'retry' then
    redis.call('ZREM', work.retry, work.due)
    return work.due
  end
  redis.call('ZREM', work.pending, work.first)
  return open_entry(round, crawl, host, work.first, work.score)
end

-- Leases one URL of a host. look: why the host is looked at (works_of_turn); nil: its address is served, all
-- crawls by turn. Returns the row of the lease, nil, and 'busy' when all slots are in use now ('more'); or nil, the
-- next time ms (nil: not before a touch), and 'shared' (all hosts of the address wait as long), 'unable' (other machines
-- reach the host, this one does not) or what works_of_turn returns.
local function serve(round, host, look)
  local t = round.t
  local g = read('cc:g:' .. host, HOST)
  g.held = tonumber(g.held) or 0
  if g.paused and not g.trial then
    return nil, nil
  elseif look == 'drain' and g.address then
    return nil, nil, 'kept'
  end
  if g.clock and tonumber(g.clock) > t then
    return nil, tonumber(g.clock)
  end
  local works, pause, slots = works_at(round, host, g)
  local trial = g.trial and trial_of(host, g, works, t)
  if trial then
    works = { trial }
  elseif g.paused then
    return nil, nil
  end
  local free_at = (tonumber(g.answer_ended) or 0) + pause
  if not works[1] or g.held >= slots then
    return nil, nil
  elseif free_at > t then
    return nil, free_at
  end
  if g.address then
    free_at = address_free_at(g.address, pause, slots)
    if not free_at or free_at > t then
      return nil, free_at, 'shared'
    end
  end
  if g.unable and is_left_to_others(round, g.unable) then
    return nil, t, 'unable'
  end
  local gone, next_at, fate = is_gone(g, t, round.patience), nil, nil
  if round.turns and look then
    works, next_at, fate = works_of_turn(round, host, works, look, gone and g.next_probe)
    if not works[1] then
      return nil, next_at, fate
    end
  end
  local after = g.held + 1 < slots and 'more' or 'busy'
  for _, work in ipairs(works) do
    local crawl, c, first = work.crawl, work.c, work.first
    local kind = next_kind(work, host, t)
    local known = kind == 'retry' and work.due or kind == 'revisit' and work.again -- has a page hash
    local marks = (g.answers and 'known ' or '') .. (gone and 'gone ' or '')
      .. (gone and not g.answers and g.failures == '1' and 'nameless ' or '') -- other strangers fail more often
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
      local url = known and redis.call('HGET', page_key(crawl, known), 'url')
        or kind and read_entry(host, first).url
      if url then
        return lease(round, crawl, host, open_robots(crawl, host, url, round.at), g, marks), nil, after
      end
    else
      -- A host that only serves a sitemap of another site is not crawled.
      local is_page = kind == 'new' and string.sub(first, 17, 17) == 'p'
        or known and redis.call('HGET', page_key(crawl, known), 'role') == 'page'
      if is_page then
        offer_sitemaps(crawl, host, c.sitemaps, round.at)
      end
      local pid, opened
      if kind then
        pid, opened = take(round, work, host, kind)
      end
      if trial then
        redis.call('HDEL', 'cc:g:' .. host, 'trial') -- one request: what fails waits like the host's other URLs
      end
      if pid and kind ~= 'revisit' and round.turns and round.turns.topics[crawl]
        and not may_fetch(round, crawl, host, pid, opened and opened.role) then
        pid = nil
      end
      if pid then
        redis.call('ZADD', 'cc:gc:' .. host, redis.call('INCR', 'cc:served'), crawl)
        if gone then
          redis.call('HSET', 'cc:g:' .. host, 'clock', whole(t + pause))
        end
        return lease(round, crawl, host, pid, g, marks, opened), nil, after
      elseif kind then
        return nil, t -- the next URL of the host
      end
    end
    local at = math.min(work.due and work.at or math.huge, work.again and work.again_at or math.huge)
    if at < (next_at or math.huge) then
      next_at = at
    end
  end
  return nil, next_at, fate
end
