-- Topic crawls: their hosts by the rank of the best URL, hosts that sleep; after lib.lua (ADR 34).
--
-- A host that is due and has URLs of topic crawls alone is not in cc:ready but in cc:due of each such crawl, where
-- it waits to be chosen. cc:best and cc:top are hints: a wrong one costs a look, a lost one is made again.

local LEAST_RANK = 101 -- of a URL that a model has ranked; seeds and images are better
local RETRY_RANK = 101 -- of a host with a retry that is due: the URL was chosen once
local REVISIT_RANK = 350 -- of a host with a revisit that is due: p = .98, yet the best new URLs go first
local WAKE_RANK = 550 -- a URL at least as good, p >= .5, wakes its host at once
local WAKE_CREDIT = 3 -- pages of a host that wakes, at least

local function is_topic(crawl)
  return redis.call('ZSCORE', 'cc:turn', crawl) and true
end

local function rank_of(score)
  return math.floor(tonumber(score) / 1e12)
end

-- Notes that a host has a URL of this rank, if the rank is the host's best: for the floor of the crawl.
local function hint_top(crawl, host, rank)
  local key = 'cc:top:' .. crawl
  local known = rank >= LEAST_RANK and tonumber(redis.call('ZSCORE', key, host))
  if rank >= LEAST_RANK and (not known or rank < known) then
    redis.call('ZADD', key, rank, host)
  end
end

-- Notes the rank of a host's first URL after a change of its queue.
local function renew_top(crawl, host)
  local first = redis.call('ZRANGE', 'cc:q:' .. crawl .. ':' .. host, 0, 0, 'WITHSCORES')
  local rank = first[2] and rank_of(first[2])
  if rank and rank >= LEAST_RANK then
    redis.call('ZADD', 'cc:top:' .. crawl, rank, host)
  else
    redis.call('ZREM', 'cc:top:' .. crawl, host)
  end
end

local function is_asleep(crawl, host)
  return redis.call('ZSCORE', 'cc:sleep:' .. crawl, host) and true
end

-- Notes the rank of the best URL of a sleeping host that may be called before its time; +inf: it has none.
local function renew_nap(crawl, host)
  local first = redis.call('ZRANGE', 'cc:q:' .. crawl .. ':' .. host, 0, 0, 'WITHSCORES')
  redis.call('ZADD', 'cc:nap:' .. crawl, first[2] and rank_of(first[2]) or '+inf', host)
end

local function put_to_sleep(crawl, host, wake_at, may_be_called)
  redis.call('ZADD', 'cc:sleep:' .. crawl, whole(wake_at), host)
  if may_be_called then
    renew_nap(crawl, host)
  end
  for _, kind in ipairs({ 'due', 'best', 'top' }) do
    redis.call('ZREM', 'cc:' .. kind .. ':' .. crawl, host)
  end
  touch(host) -- for other crawls, and for revisits
end

local function wake_host(crawl, host)
  if redis.call('ZREM', 'cc:sleep:' .. crawl, host) == 1 then
    redis.call('ZREM', 'cc:nap:' .. crawl, host)
    local key = 'cc:cr:' .. crawl .. ':' .. host
    local credit = math.max(WAKE_CREDIT, tonumber(redis.call('HGET', key, 'credit')) or 0)
    redis.call('HSET', key, 'credit', credit, 'misses', 0)
    join_group(crawl, host)
    renew_top(crawl, host)
  end
end

-- Makes a host with new URLs of a topic crawl visible, unless the host sleeps and its best new URL is not good.
local function welcome(crawl, host, rank)
  if not is_asleep(crawl, host) then
    hint_top(crawl, host, rank)
    join_group(crawl, host)
  elseif rank <= WAKE_RANK then
    wake_host(crawl, host)
  elseif redis.call('ZSCORE', 'cc:nap:' .. crawl, host) then
    renew_nap(crawl, host)
  end
end
