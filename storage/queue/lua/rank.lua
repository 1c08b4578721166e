-- Hands out the waiting URLs of a topic crawl to the processes that rank them anew (ranking.py).
-- ARGV: crawl, version of the weights, ms that a host is held, most URLs of a host's head, most URLs of a slice, then
-- of the hosts that were worked on: host, its state as returned.
-- Returns {'done'} when all is ranked, {'wait'} while other processes hold the last hosts, {'old'} when a newer version
-- is being ranked; or {time of the ranking ms, host, its state when these URLs have their ranks, the URLs, host, ...}:
-- the heads of several hosts (all URLs of a short queue), or the next slice of one host. URLs are packed as MessagePack:
-- entry, score in decimals, entry, ... A host whose process dies is handed out again at its last state: '' (nothing is
-- ranked), 'heads', or the cursor of a scan; 'done' ends a host.
local crawl, version, held, head, slice = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local hosts, cursors, t = 'cc:rank:' .. crawl, 'cc:ranker:' .. crawl, now()
local LOOKS = 200 -- hosts a call
if redis.call('EXISTS', 'cc:c:' .. crawl) == 0 then
  return { 'old' }
end

-- Notes how far a host is; brings the hints up to date.
local function note(host, state)
  if state == 'done' then
    redis.call('ZREM', hosts, host)
    redis.call('HDEL', cursors, host)
  else
    redis.call('ZADD', hosts, 'XX', state == 'heads' and 1 or whole(t + held), host)
    redis.call('HSET', cursors, host, state)
  end
  renew_top(crawl, host)
  local rank = redis.call('ZSCORE', 'cc:top:' .. crawl, host)
  if rank and tonumber(redis.call('ZSCORE', 'cc:best:' .. crawl, host)) ~= GONE_RANK then
    redis.call('ZADD', 'cc:best:' .. crawl, 'XX', rank, host)
  end
end

-- Returns how many URLs of a host are handed out at first, and whether there are more.
local function size_of_head(host)
  local n = redis.call('ZCARD', 'cc:q:' .. crawl .. ':' .. host)
  local is_long = n > slice
  return is_long and head or n, is_long
end

-- Returns the next URLs of a host after a head, and the state after them.
local function scan(host, state)
  local queue = 'cc:q:' .. crawl .. ':' .. host
  local found = redis.call('ZSCAN', queue, state == 'heads' and '0' or state, 'COUNT', slice)
  return found[2], found[1] == '0' and 'done' or found[1]
end

local known, going_on = tonumber(redis.call('HGET', cursors, ' version')) or -1, nil
if known > version then
  return { 'old' }
elseif known < version then
  redis.call('DEL', cursors)
  redis.call('HSET', cursors, ' version', version, ' at', whole(wall()))
  redis.call('ZUNIONSTORE', hosts, 1, 'cc:h:' .. crawl, 'WEIGHTS', 0)
else
  for i = 6, #ARGV, 2 do
    note(ARGV[i], ARGV[i + 1])
    going_on = tonumber(ARGV[i + 1]) and ARGV[i]
  end
end
local out, urls = { redis.call('HGET', cursors, ' at') }, 0
local free = going_on and { going_on } or redis.call('ZRANGEBYSCORE', hosts, '-inf', t, 'LIMIT', 0, LOOKS)
for _, host in ipairs(free) do
  local state, n, is_long = redis.call('HGET', cursors, host) or '', slice, nil
  if state == '' then
    n, is_long = size_of_head(host)
  end
  if #out > 1 and urls + n > slice then
    break
  end
  if n == 0 then
    note(host, 'done')
  else
    local list, after
    if state == '' then
      list = redis.call('ZRANGE', 'cc:q:' .. crawl .. ':' .. host, 0, n - 1, 'WITHSCORES')
      after = is_long and 'heads' or 'done'
    else
      list, after = scan(host, state)
    end
    redis.call('ZADD', hosts, whole(t + held), host)
    out[#out + 1], out[#out + 2], out[#out + 3] = host, after, cmsgpack.pack(list)
    urls = urls + n
  end
end
if out[2] then
  return out
end
return { redis.call('EXISTS', hosts) == 1 and 'wait' or 'done' }
