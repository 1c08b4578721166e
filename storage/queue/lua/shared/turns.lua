-- Whose turn it is: topic crawls by the rank of their URLs, ordinary crawls together; a part of lease.lua, before
-- serve.lua.
--
-- Stride scheduling (Waldspurger and Weihl 1995): the least pass goes first, and a lease adds 1 to it. A crawl that
-- had no work is not owed the leases it missed: no pass counts as less than that of the last lease.

local FLOOR = 35 -- ranks, .7 logits: recall at a fifth of the pages .91, without a floor .50 (simulation of ADR 34)
local BY_TIME = 10 -- every tenth lease of a topic takes a host of which no page was judged
local SELDOM = 4 -- if there is none, every fourth of these takes the host that has waited longest
local LOOKED_AT = 128 -- hosts at most that have waited longest, of those not looked at before
local BY_TURN = 4 -- every fourth lease of a host with several crawls goes by turn
local MOST_UNJUDGED = 20 -- answers with a text that wait to be judged: a batch of the learner, more is leased by old ranks
local MOST_IDLE_MS = 5000 -- a better host is waited for as long, with the crawl's other hosts idle
local MOST_TOPS = 32 -- hints that are looked at for the best host: a domain has up to 20 hosts
local DRAIN, HEAL = 64, 64
local HOLD_MS, HELD_MS = 600000, 30000 -- a page is not fetched for another topic meanwhile; the next look

-- Reads the running topic crawls; nil when there are no topic crawls at all.
local function read_turns(t)
  local passes = redis.call('ZRANGE', 'cc:turn', 0, -1, 'WITHSCORES')
  if not passes[1] then
    return nil
  end
  local turns = { now = 0, ordinary = 0, topics = {} }
  for i = 1, #passes, 2 do
    local crawl, pass = passes[i], tonumber(passes[i + 1])
    if crawl == ' now' then
      turns.now = pass
    elseif crawl == ' ordinary' then
      turns.ordinary = pass
    else
      local c = redis.call('HMGET', 'cc:c:' .. crawl, 'state', 'floor', 'picks', 'bodies', 'looked')
      if c[1] then
        local is_full = (tonumber(c[4] or '') or 0) >= MOST_UNJUDGED
        turns.topics[crawl] = { crawl = crawl, pass = pass, floor = tonumber(c[2] or '') or FLOOR,
          picks = tonumber(c[3] or '') or 0, looked = c[5] or '-inf', is_running = c[1] == 'running',
          is_full = is_full, is_held = is_full, is_open = c[1] == 'running' and not is_full }
      else
        redis.call('ZREM', 'cc:turn', crawl)
      end
    end
  end
  if not next(turns.topics) then
    redis.call('DEL', 'cc:turn')
    return nil
  end
  return turns
end

-- Counts a lease of a crawl; note_charges stores the counts.
local function charge(turns, crawl)
  local topic = turns.topics[crawl]
  local pass = math.max(turns.now, topic and topic.pass or turns.ordinary)
  turns.now = pass
  if topic then
    topic.pass, topic.picks, topic.is_charged = pass + 1, topic.picks + 1, true
  else
    turns.ordinary = pass + 1
  end
end

local function note_charges(turns)
  for crawl, topic in pairs(turns.topics) do
    if topic.is_charged then
      redis.call('HSET', 'cc:c:' .. crawl, 'picks', topic.picks, 'looked', topic.looked)
      redis.call('ZADD', 'cc:turn', 'XX', whole(topic.pass), crawl)
    end
  end
  redis.call('ZADD', 'cc:turn', whole(turns.ordinary), ' ordinary', whole(turns.now), ' now')
end

-- Makes a host that is due wait to be chosen by a topic crawl. probe_at: when a host that is gone may be asked again;
-- until then its URLs end without a request, when no other host is due.
local function park(turns, work, host, t, probe_at)
  local crawl, rank = work.crawl, math.huge
  if work.first then
    rank = rank_of(work.score)
    if rank >= LEAST_RANK then
      redis.call('ZADD', 'cc:top:' .. crawl, rank, host)
    end
  end
  if work.due and work.at <= t then
    rank = math.min(rank, RETRY_RANK)
  elseif work.again and work.again_at <= t then
    rank = math.min(rank, REVISIT_RANK)
  end
  redis.call('ZADD', 'cc:due:' .. crawl, 'NX', probe_at or t, host)
  redis.call('ZADD', 'cc:best:' .. crawl, probe_at and GONE_RANK or rank, host)
  turns.topics[crawl].is_open = not turns.topics[crawl].is_full
end

local function unpark(crawl, host)
  redis.call('ZREM', 'cc:due:' .. crawl, host)
  redis.call('ZREM', 'cc:best:' .. crawl, host)
end

-- Which works of a host that may be asked now are served. look: 'time' (its time has come), 'drain' (the same, but
-- nothing is served), or the topic crawl that chose the host. probe_at: as of park.
-- Returns the works in their order, the next time ms, and what becomes of the host: 'parked' (no ordinary work),
-- 'kept' (an ordinary crawl has work), 'none' (no work of a topic).
local function works_of_turn(round, host, works, look, probe_at)
  local turns, ordinary, topical, next_at = round.turns, {}, {}, nil
  for _, work in ipairs(works) do
    local list = turns.topics[work.crawl] and topical or ordinary
    list[#list + 1] = work
  end
  if look ~= 'time' and look ~= 'drain' then
    if topical[2] and redis.call('HINCRBY', 'cc:g:' .. host, 'turns', 1) % BY_TURN ~= 0 then
      table.sort(topical, function(a, b) return (a.score or math.huge) < (b.score or math.huge) end)
    end
    return topical, nil, topical[1] and 'kept' or 'none'
  end
  for _, work in ipairs(topical) do
    local at = math.min(work.due and work.at or math.huge, work.again and work.again_at or math.huge)
    if work.first or at <= round.t then
      park(turns, work, host, round.t, probe_at)
    elseif at < (next_at or math.huge) then
      next_at = at
    end
  end
  if not ordinary[1] then
    return {}, next_at, 'parked'
  elseif look == 'drain' then
    return {}, nil, 'kept'
  elseif topical[1] and redis.call('HINCRBY', 'cc:g:' .. host, 'turns', 1) % BY_TURN == 0 then
    return works, next_at, 'kept'
  end
  return ordinary, next_at, 'kept'
end

-- Whether a host better than those that are due may be waited for: its time comes soon, or its answer does. Nothing
-- waits for a host that fails, is paused, or whose domain has had its share.
local function is_soon(crawl, host, t)
  local g = redis.call('HMGET', 'cc:g:' .. host, 'failures', 'paused', 'held', 'answer_ended')
  if g[1] or g[2] or is_over_share(crawl, host) then
    return false
  end
  local at = tonumber(redis.call('ZSCORE', 'cc:ready', host))
  if at then
    return at <= t + MOST_IDLE_MS
  end
  return (tonumber(g[3]) or 0) > 0 and (tonumber(g[4]) or 0) > t - MOST_IDLE_MS
end

-- The rank of the best host of a crawl that is due or will be soon; nil: there is none.
local function top_rank(crawl, t)
  local top = 'cc:top:' .. crawl
  for _ = 1, MOST_TOPS do
    local first = redis.call('ZRANGE', top, 0, 0, 'WITHSCORES')
    if not first[1] then
      return nil
    end
    local host, rank = first[1], tonumber(first[2])
    local due = tonumber(redis.call('ZSCORE', 'cc:best:' .. crawl, host))
    if due and is_over_share(crawl, host) or not due and not is_soon(crawl, host, t) then
      redis.call('ZREM', top, host) -- the host's next look notes it again
    elseif due and due > rank then
      redis.call('ZADD', top, due, host) -- the hint was out of date
    else
      return rank
    end
  end
end

-- The host of a lease that goes by waiting time, whatever the host's rank; nil: the lease goes by rank. Hosts that
-- were due before topic.looked have judged pages: they are not looked at again while they wait.
local function choose_by_time(topic, t)
  local turn, due = (topic.picks + 1) / BY_TIME, 'cc:due:' .. topic.crawl
  if turn % 1 ~= 0 then
    return nil
  end
  local longest = redis.call('ZRANGEBYSCORE', due, topic.looked, whole(t), 'WITHSCORES', 'LIMIT', 0, LOOKED_AT)
  for i = 1, #longest, 2 do
    if redis.call('HEXISTS', 'cc:cr:' .. topic.crawl .. ':' .. longest[i], 'judged_pages') == 0 then
      return longest[i]
    end
    topic.looked = longest[i + 1]
  end
  return turn % SELDOM == 0 and redis.call('ZRANGE', due, 0, 0)[1] or nil
end

-- The host with the best URL of those that are due, and its rank. A host whose domain has had its share comes behind all
-- others, also behind those that are due soon: its rank is infinite.
local function best_due(crawl)
  local best = 'cc:best:' .. crawl
  local first = redis.call('ZRANGE', best, 0, 0, 'WITHSCORES')
  if not first[1] or tonumber(first[2]) < LEAST_RANK or not is_over_share(crawl, first[1]) then
    return first[1], tonumber(first[2] or '')
  end
  local others = redis.call('ZRANGE', best, 1, LOOKED_AT, 'WITHSCORES')
  for i = 1, #others, 2 do
    if not is_over_share(crawl, others[i]) then
      return others[i], tonumber(others[i + 1])
    end
  end
  return first[1], math.huge
end

-- The host that a topic crawl is served next; nil: no host is due, or all are below the floor (topic.is_held).
local function choose_host(topic, t)
  local by_time = choose_by_time(topic, t)
  if by_time then
    return by_time
  end
  local host, rank = best_due(topic.crawl)
  if not host then
    return nil
  end
  local top = rank > RETRY_RANK and top_rank(topic.crawl, t)
  if top and rank > top + topic.floor then
    topic.is_held = true
    return nil
  end
  return host
end

-- Repairs hints that were lost.
local function attend(crawl, t)
  local asleep = 'cc:sleep:' .. crawl
  if redis.call('EXISTS', asleep) == 1 then -- of a version whose hosts slept
    for _, host in ipairs(redis.call('ZRANGE', asleep, 0, -1)) do
      join_group(crawl, host)
    end
    redis.call('DEL', asleep, 'cc:nap:' .. crawl)
  end
  local due, best = 'cc:due:' .. crawl, 'cc:best:' .. crawl
  if redis.call('ZCARD', due) ~= redis.call('ZCARD', best) then
    for _, host in ipairs(redis.call('ZRANGE', due, 0, HEAL - 1)) do
      unpark(crawl, host)
      redis.call('ZADD', 'cc:ready', 'NX', t, host)
    end
  end
end

-- Whether a topic crawl may fetch a page now. While another topic fetches the page, the URL waits as a retry; a page
-- that the crawl has adopted ends here. role: of the URL, if known.
local function may_fetch(round, crawl, host, pid, role)
  local key, lock = page_key(crawl, pid), 'cc:fl:' .. pid
  if (role or redis.call('HGET', key, 'role')) ~= 'page' then
    return true
  end
  if redis.call('SREM', 'cc:ad:' .. crawl, pid) == 1 then
    redis.call('DEL', key)
    count(crawl, 'done', 1)
    settle(crawl)
    round.crawls[crawl] = nil -- its state may have changed
    return false
  end
  local holder = not redis.call('SET', lock, crawl, 'NX', 'PX', HOLD_MS) and redis.call('GET', lock)
  if not holder or holder == crawl then
    return true
  end
  -- The holder has done the page, and this crawl did not adopt it; or the holder was stopped before its next attempt.
  local state = redis.call('HGET', page_key(holder, pid), 'state')
  local rests = state == 'retry' and redis.call('HGET', 'cc:c:' .. holder, 'state') ~= 'running'
  if not state or rests then
    redis.call('SET', lock, crawl, 'PX', HOLD_MS)
    return true
  end
  append_log(key, log_line(round.at, 'held', message('held', holder)))
  redis.call('HSET', key, 'state', 'retry', 'attempt', redis.call('HGET', key, 'attempt') or 0)
  redis.call('ZADD', 'cc:r:' .. crawl .. ':' .. host, round.t + HELD_MS, pid)
  count(crawl, 'pending', 1)
  return false
end
