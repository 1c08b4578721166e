-- Crawls with work at a host, and when the next request to the host may start; a part of lease.lua.

-- Fields of cc:g:<host> and of cc:c:<crawl> that choosing and serving read.
local HOST = {
  'held', 'clock', 'answer_ended', 'crawl_delay', 'smoothed_ms', 'slots', 'answers', 'unconnected', 'paused',
  'robots_until', 'robots_leased', 'robots_version', 'address', 'address_until', 'waited_ms', 'next_probe',
  'stopped_version', 'unable', 'trial', 'failures', 'slowed',
}
local CRAWL = {
  'state', 'max', 'used', 'sitemaps', 'private', 'politeness', 'images', 'fresh', 'patterns', 'verify_tls',
  'traps', unpack(POLICY)
}

local function read(key, names)
  local values, fields = redis.call('HMGET', key, unpack(names)), {}
  for i, name in ipairs(names) do
    fields[name] = values[i] or nil
  end
  return fields
end

-- The fields of a crawl, read once a call; tally (serve.lua) keeps its counters up to date.
local function crawl_of(round, crawl)
  local c = round.crawls[crawl]
  if not c then
    c = read('cc:c:' .. crawl, CRAWL)
    round.crawls[crawl] = c
  end
  return c
end

-- The images of stored pages, which a spent budget does not hold back: first pending with its score, first retry.
local function waiting_images(crawl, c, pending, retry)
  if (tonumber(c.images) or 0) <= 0 then
    return {}, {}
  end
  local first = redis.call('ZRANGEBYSCORE', pending, IMAGES_FROM, IMAGES_TO, 'WITHSCORES', 'LIMIT', 0, 1)
  local waiting = redis.call('ZRANGE', retry, 0, -1, 'WITHSCORES')
  for i = 1, #waiting, 2 do
    if redis.call('HGET', page_key(crawl, waiting[i]), 'role') == 'image' then
      return first, { waiting[i], waiting[i + 1] }
    end
  end
  return first, {}
end

-- Whether the next new page of a crawl waits until pages under way at the host are judged (keep_accounts.lua): an endless
-- class shows by what its pages bring, not by how many were fetched meanwhile.
local AHEAD = 20 -- pages of a host before any is judged: a worker's job; each that is judged permits one more
local DULL_RANK = 98 -- of classes that brought nothing: they come after all that better pages may find

local function is_dull(score)
  return rank_of(score) == DULL_RANK
end

local function awaits_judgement(crawl, c, host, first)
  if c.traps == '0' or string.sub(first[1] or '', 17, 17) ~= 'p' or rank_of(first[2]) >= LEAST_RANK then
    return false -- turns.lua bounds the unjudged pages of a topic crawl
  end
  local key = 'cc:u:' .. crawl .. ':' .. host
  local u = redis.call('HMGET', key, 'unjudged', 'pages')
  local unjudged = tonumber(u[1]) or 0
  local waits = unjudged >= AHEAD + (tonumber(u[2]) or 0) or unjudged > 0 and is_dull(first[2])
  if waits then
    redis.call('HSET', key, 'awaited', 1) -- the next ack shows the host
  end
  return waits
end

-- The crawls that have work at a host, in turn, and the policy of all together: the longest pause, the
-- fewest slots. A crawl without work left counts as long as requests are under way.
local function works_at(round, host, g)
  local works, pause, slots = {}, 0, math.huge
  for _, crawl in ipairs(redis.call('ZRANGE', 'cc:gc:' .. host, 0, -1)) do
    local c = crawl_of(round, crawl)
    if not c.state then
      redis.call('ZREM', 'cc:gc:' .. host, crawl)
    elseif c.state == 'running' then
      local pending, retry = 'cc:q:' .. crawl .. ':' .. host, 'cc:r:' .. crawl .. ':' .. host
      local first = redis.call('ZRANGE', pending, 0, 0, 'WITHSCORES')
      local due = redis.call('ZRANGE', retry, 0, 0, 'WITHSCORES')
      local again = c.fresh == '1' and redis.call('ZRANGE', 'cc:v:' .. crawl .. ':' .. host, 0, 0, 'WITHSCORES') or {}
      local has_work = first[1] or due[1]
      local is_spent = has_work and c.max and c.max ~= '' and (tonumber(c.used) or 0) >= tonumber(c.max)
      if is_spent then
        redis.call('SADD', 'cc:bg:' .. crawl, host)
        first, due = waiting_images(crawl, c, pending, retry)
        has_work = first[1] or due[1]
      end
      local waits = has_work and not is_spent and awaits_judgement(crawl, c, host, first)
      if waits then
        first = {}
        has_work = due[1]
      end
      has_work = has_work or again[1] -- revisits store no further page, so the budget does not hold them back
      if not has_work and not is_spent and not waits and g.held == 0 then
        redis.call('ZREM', 'cc:gc:' .. host, crawl)
      elseif has_work or not is_spent then
        local p, s = policy(c, host, tonumber(g.crawl_delay) or 0, tonumber(g.smoothed_ms) or 0, g.slowed)
        pause, slots = math.max(pause, p), math.min(slots, s)
        if has_work then
          works[#works + 1] = { crawl = crawl, c = c, first = first[1], score = tonumber(first[2]), due = due[1],
            at = tonumber(due[2]), pending = pending, retry = retry, again = again[1], again_at = tonumber(again[2]) }
        end
      end
    end
  end
  if g.slots and slots > 1 then
    slots = math.min(slots, math.max(1, math.floor(tonumber(g.slots))))
  end
  return works, pause, g.unconnected and 1 or slots
end

-- The work of a host's trial (try.lua): its one URL, of works_at; nil: it is over. Nothing else is served meanwhile.
local function trial_of(host, g, works, t)
  local crawl, pid, till = string.match(g.trial, '^(%S+) (%x+) (%d+)$')
  for _, work in ipairs(works) do
    local at = work.crawl == crawl and tonumber(till) > t and redis.call('ZSCORE', work.retry, pid)
    if at then
      return { crawl = crawl, c = work.c, due = pid, at = tonumber(at), pending = work.pending, retry = work.retry }
    end
  end
  redis.call('HDEL', 'cc:g:' .. host, 'trial')
end

-- Whether a host is gone: its URLs end without a request until the next probe.
local function is_gone(g, t, patience)
  if not g.next_probe or tonumber(g.next_probe) <= t then
    return false
  end
  return not g.answers or (tonumber(g.waited_ms) or 0) >= patience
end

-- Returns the time of the next request to an address, ms; nil while all its slots are in use.
local function address_free_at(ip, pause, slots)
  local i = redis.call('HMGET', 'cc:i:' .. ip, 'held', 'clock', 'answer_ended')
  if (tonumber(i[1]) or 0) >= slots then
    return nil
  end
  return math.max(tonumber(i[2]) or 0, (tonumber(i[3]) or 0) + pause)
end
