-- Leases up to n URLs to a spider's session, at most one per free slot of a host.
-- ARGV: session, n, session ttl ms, limit of pages in flight, limit of bytes in flight, patience with an
-- unreachable host ms.
-- Returns {state, wait ms or -1, lease...}; a lease is {crawl, page id, url, host, token, attempt,
-- role, depth, allow_private, robots version, marks, pause of the host ms (robots only: it may redirect),
-- version of the stopped classes, page that an image is on, digest of the crawl's patterns, how it was found, ETag,
-- Last-Modified, cookies of the host in lines}; state is 'ok' or 'full' (back-pressure). Marks,
-- separated by spaces: known (the host has answered before), gone (no request: end the URL), nameless (gone, as its
-- name has no address), locate (its address must be given to locate.lua first), verify (its certificate must be right).
local LOOK_AGAIN_MS = 250 -- at hosts that are left to other machines
local HELD_BACK_MS = 500 -- a topic whose due hosts are below its floor: its better host may not come
local FULL_MS = 2000 -- waits.lua reads it; every call of a spider renews it, and a spider calls each 100 ms
local session, n, patience = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[6])
local t, at = now()
local turns = read_turns(t)
local round = { t = t, at = at, session = session, patience = patience, turns = turns, crawls = {} }
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
    local got, next_at, fate = serve(round, host)
    if fate == 'shared' then
      return nil, next_at -- the host keeps its place
    elseif fate == 'unable' then
      return nil, next_at, fate
    end
    place(key, host, got, next_at)
    if got then
      return got
    end
  end
  return nil, t
end

-- A host whose rules were just read, and whose pause is over, goes before all others, once: else the robots.txt of
-- thousands of hosts would come before the first page.
local function first_host()
  local host = first_due('cc:ruled')
  if host then
    redis.call('ZREM', 'cc:ruled', host)
  end
  return host or first_due('cc:ready')
end

local out = { 'ok', -1 }
local left = {} -- hosts that are left to other machines keep their places: true

-- Looks at a host whose time has come; leases a URL of an ordinary crawl.
local function look_at(host)
  looks = looks + 1
  local ip = string.match(host, '^@(.*)$') or redis.call('HGET', 'cc:g:' .. host, 'address')
  if ip and string.sub(host, 1, 1) ~= '@' then
    redis.call('ZREM', 'cc:ready', host)
    touch(host)
  else
    local got, next_at, fate
    if ip then
      got, next_at, fate = serve_address(ip)
    else
      got, next_at, fate = serve(round, host, 'time')
    end
    left[host] = fate == 'unable' or nil
    place('cc:ready', host, got, next_at)
    if got then
      out[#out + 1] = got
    end
    if got and turns then
      charge(turns, got[1])
    end
  end
end

-- Looks at a host that a topic crawl has chosen; leases a URL of a topic crawl.
local function look_for(crawl, host)
  looks = looks + 1
  unpark(crawl, host)
  local got, next_at, fate = serve(round, host, crawl)
  if fate == 'unable' then
    left[host], turns.topics[crawl].is_open = true, false
  end
  if not got and fate then
    renew_top(crawl, host)
    redis.call('ZADD', 'cc:ready', t, host) -- another crawl may have work, or the topic later
    return
  end
  if fate == 'busy' then
    redis.call('ZREM', 'cc:ready', host) -- all its slots are in use: the end of a lease shows the host
  else
    place('cc:ready', host, got, next_at)
  end
  if got then
    out[#out + 1] = got
    charge(turns, got[1])
    renew_top(got[1], host)
  end
end

-- The topic crawl whose turn it is, of those that may have a host to serve; or nil.
local function next_topic()
  local found
  for _, topic in pairs(turns.topics) do
    local is_less = not found or topic.pass < found.pass or topic.pass == found.pass and topic.crawl < found.crawl
    if topic.is_open and is_less then
      found = topic
    end
  end
  return found
end

-- Parks hosts whose time has come since the last call: else hosts of ordinary crawls that wait would delay them.
local function drain()
  local from = redis.call('GET', 'cc:drained') or '0'
  local hosts = redis.call('ZRANGEBYSCORE', 'cc:ready', '(' .. from, t, 'WITHSCORES', 'LIMIT', 0, DRAIN)
  redis.call('SET', 'cc:drained', hosts[2 * DRAIN] or whole(t))
  for i = 1, #hosts, 2 do
    local host, topical = hosts[i], false
    for crawl in pairs(turns.topics) do
      topical = topical or redis.call('ZSCORE', 'cc:gc:' .. host, crawl)
    end
    if topical then
      looks = looks + 1
      local _, next_at, fate = serve(round, host, 'drain')
      if fate ~= 'kept' then
        place('cc:ready', host, nil, next_at)
      end
    end
  end
end

if turns then
  for _, topic in pairs(turns.topics) do
    if topic.is_running then
      attend(topic.crawl, t)
    end
  end
  drain()
end
while looks < limit and #out - 2 < n do
  local host = first_host()
  if left[host or ''] then
    host = nil -- all others were looked at
  end
  local topic = turns and next_topic()
  if host and not (topic and math.max(topic.pass, turns.now) < math.max(turns.ordinary, turns.now)) then
    look_at(host)
  elseif topic then
    local chosen = choose_host(topic, t)
    if chosen then
      look_for(topic.crawl, chosen)
    else
      topic.is_open = false -- until a host is parked
    end
  else
    break
  end
end

if turns and out[3] then
  note_charges(turns)
end

local nearest = redis.call('ZRANGE', 'cc:ready', 0, 0, 'WITHSCORES')
if nearest[2] then
  out[2] = math.max(0, tonumber(nearest[2]) - t)
end
for _, topic in pairs(turns and turns.topics or {}) do
  local wait = topic.is_open and 0 or topic.is_held and HELD_BACK_MS
  if wait and (out[2] < 0 or wait < out[2]) then
    out[2] = wait
  end
end
if next(left) then
  out[2] = math.max(out[2], LOOK_AGAIN_MS)
end
return out
