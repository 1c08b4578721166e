-- Topic crawls: their hosts by the rank of the best URL; after lib.lua (ADR 34).
--
-- A host that is due and has URLs of topic crawls alone is not in cc:ready but in cc:due of each such crawl, where
-- it waits to be chosen. cc:best and cc:top are hints: a wrong one costs a look, a lost one is made again.

local LEAST_RANK = 101 -- of a URL that a model has ranked; seeds and images are better
local RETRY_RANK = 101 -- of a host with a retry that is due: the URL was chosen once
local GONE_RANK = 2000 -- of a host that is gone: behind all ranks and any floor
local REVISIT_RANK = 350 -- of a host with a revisit that is due: p = .98, yet the best new URLs go first

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

-- Makes a host with new URLs of a topic crawl visible.
local function welcome(crawl, host, rank)
  hint_top(crawl, host, rank)
  join_group(crawl, host)
end
