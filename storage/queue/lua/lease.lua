-- Leases up to n URLs to a spider's session, at most one per free slot of a host.
-- ARGV: session, n, session ttl ms, limit of pages in flight, limit of bytes in flight, patience with an
-- unreachable host ms.
-- Returns {state, wait ms or -1, lease...}; a lease is {crawl, page id, url, host, token, attempt,
-- role, depth, allow_private, robots version, marks, pause of the host ms (robots only: it may redirect),
-- version of the stopped classes, page that an image is on, digest of the crawl's patterns}; state is 'ok' or 'full' (back-pressure). Marks,
-- separated by spaces: known (the host has answered before), gone (no request: end the URL), locate
-- (the address must be given to locate.lua first), verify (the host's certificate must be right).
local FULL_MS = 2000 -- waits.lua reads it; every call of a spider renews it, and a spider calls each 100 ms
local session, n, patience = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[6])
local t = now()
local round = { t = t, at = wall(), session = session, patience = patience }
redis.call('ZADD', 'cc:spiders', t + tonumber(ARGV[3]), session)

local flight = redis.call('HMGET', 'cc:flight', 'pages', 'bytes', 'memory', 'disk')
local too_many = (tonumber(flight[1]) or 0) >= tonumber(ARGV[4]) and 'pages'
  or (tonumber(flight[2]) or 0) >= tonumber(ARGV[5]) and 'bytes'
if too_many then
  redis.call('SET', 'cc:full', too_many, 'PX', FULL_MS)
end
if too_many or flight[3] or flight[4] then
  return { 'full', 100 }
end

local looks, limit = 0, n + 256

-- Returns the first member of a sorted set whose time has come, or nil.
local function first_due(key)
  return redis.call('ZRANGEBYSCORE', key, '-inf', '(' .. whole(t + 1), 'LIMIT', 0, 1)[1]
end

-- Gives a host its next place in a sorted set: after a lease (got) behind the hosts that have waited longer
-- and those served earlier in this millisecond; else at its next time (next_at, ms); else removes the host.
local function place(key, host, got, next_at)
  if got then
    redis.call('ZADD', key, t + looks / (limit + 1), host)
  elseif next_at then
    redis.call('ZADD', key, next_at, host)
  else
    redis.call('ZREM', key, host)
  end
end

-- Leases one URL of the hosts at an address, which share a clock; returns a row, or nil and the next time.
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
    local got, next_at, is_shared = serve(round, host)
    if is_shared then
      return nil, next_at -- the host keeps its place
    end
    place(key, host, got, next_at)
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
  local ip = string.match(host, '^@(.*)$') or redis.call('HGET', 'cc:g:' .. host, 'address')
  if ip and string.sub(host, 1, 1) ~= '@' then
    redis.call('ZREM', 'cc:ready', host)
    touch(host)
  else
    local got, next_at
    if ip then
      got, next_at = serve_address(ip)
    else
      got, next_at = serve(round, host)
    end
    place('cc:ready', host, got, next_at)
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
