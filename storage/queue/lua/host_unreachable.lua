-- leased -> pending without losing the attempt, when the host or our network is unreachable (ADR 6).
-- ARGV: crawl, page id, token, the party that may have failed: 'host' (no connection was made), 'name' (its name is
-- unknown here), 'url' (a connection may have been made), 'connection' (one that was kept was closed) or 'network'
-- (our own), patience with a host ms, log detail.
-- Returns 'waits' (given back, no attempt lost), 'elsewhere' (given back to other machines, no attempt lost, the host
-- does not wait), 'counts' (the attempt counts; the lease is still held),
-- 'gone' (the patience is spent: give the URL up; the lease is still held) or 'stale' (an old token).
local FIRST_WAIT_MS, LONGEST_WAIT_MS = 1000, 256000
local BEHIND_MS = 500 -- another URL of the host goes first after the wait: the failed URL may be at fault
local PROBE_MS = 60000 -- between two requests to a gone host
local NAME_PROBE_MS = 3600000 -- between two look-ups of a gone name: it may be registered tomorrow, not in a minute
local NAME_AGAIN_MS = 10000 -- until the second look-up: the name server may have failed for a moment
local UNKNOWN_FAILURES = 9 -- in a row, after which a host that never answered is gone
local ROBOTS_FAILURES = 3 -- of a known host in a row, after which failures of its robots.txt count
local MOST_EXCUSES = 2 -- of a URL whose requests get a connection but no response

local crawl, pid, suspect, patience = ARGV[1], ARGV[2], ARGV[4], tonumber(ARGV[5])
local key = page_key(crawl, pid)
local p = redis.call('HMGET', key, 'state', 'token', 'host', 'role', 'answers_at_lease', 'excuses', 'blamed',
  'answers_at_failure', 'session')
if p[1] ~= 'leased' or p[2] ~= ARGV[3] then
  return 'stale'
end
local t, host, is_robots = now(), p[3], p[4] == 'robots'
local g = 'cc:g:' .. host
if suspect == 'connection' and (is_robots or (tonumber(p[6]) or 0) >= MOST_EXCUSES) then
  suspect = 'url' -- closed too often for a chance: the URL may end the connections
end
if suspect == 'host' or suspect == 'name' then
  local own, known = machine_of(p[9]), redis.call('HMGET', g, 'by', 'unable')
  if may_be_reached_elsewhere(own, known[1], known[2], t) then
    note_unable(host, own, known[2], t)
    count(crawl, 'fetched', 1)
    if is_robots then
      drop_robots_lease(crawl, pid, host)
      redis.call('HINCRBY', g, 'robots_attempts', -1)
    else
      redis.call('HINCRBY', key, 'attempt', -1)
      local is_message, why = pcall(cjson.decode, ARGV[6]) -- else a text that was cut
      append_log(key, log_line(wall(), 'elsewhere', message('not_reached', own, is_message and why or ARGV[6])))
      back_to_pending(crawl, pid, t, t)
    end
    release(crawl, host, t, 0, 'none', nil, nil, ARGV[6])
    wake()
    return 'elsewhere'
  elseif suspect == 'name' and redis.call('HEXISTS', g, 'answers') == 1 then
    return 'counts'
  end
end
local wait = FIRST_WAIT_MS
if suspect == 'connection' then
  wait = 0 -- the host's pause is enough
elseif suspect == 'name' then
  -- A name that was never known is looked up once more; then all its URLs end without a request.
  local f = redis.call('HMGET', g, 'failures', 'wait_until')
  local until_ms = tonumber(f[2]) or 0
  if not f[1] then
    wait = NAME_AGAIN_MS
    redis.call('HSET', g, 'failures', 1, 'wait_until', whole(t + wait))
  elseif until_ms > t then
    wait = until_ms - t -- this look-up began before the first one ended
  else
    redis.call('HSET', g, 'next_probe', whole(t + NAME_PROBE_MS))
    return 'gone'
  end
elseif suspect ~= 'network' then
  local f = redis.call('HMGET', g, 'answers', 'failures', 'waited_ms', 'wait_until')
  local failures, waited, until_ms = tonumber(f[2]) or 0, tonumber(f[3]) or 0, tonumber(f[4]) or 0
  if not f[1] then
    redis.call('HSET', g, 'failures', failures + 1)
    if failures + 1 < UNKNOWN_FAILURES then
      return 'counts'
    end
    redis.call('HSET', g, 'next_probe', whole(t + PROBE_MS))
    return 'gone'
  end
  local to_blame
  if suspect == 'url' then
    -- The host has answered other requests since the lease, or this URL was excused often enough.
    to_blame = p[7] or is_robots or p[5] ~= f[1] or (tonumber(p[6]) or 0) >= MOST_EXCUSES
  elseif is_robots then
    to_blame = failures >= ROBOTS_FAILURES -- the scheme of robots.txt may be at fault: pages are better evidence
  else
    to_blame = p[8] and p[8] ~= f[1] -- other requests were answered since the last failure of this URL
  end
  if not is_robots then
    redis.call('HSET', key, 'answers_at_failure', f[1])
  end
  if to_blame then
    if suspect == 'url' and not is_robots then
      redis.call('HSET', key, 'blamed', 1)
    end
    return 'counts'
  end
  if until_ms > t then
    wait = until_ms - t -- this request was sent before another request to the host failed
  elseif waited >= patience then
    redis.call('HSET', g, 'next_probe', whole(t + PROBE_MS))
    return 'gone'
  else
    wait = math.min(FIRST_WAIT_MS * 4 ^ failures, LONGEST_WAIT_MS, patience - waited)
    redis.call('HSET', g, 'failures', failures + 1, 'waited_ms', whole(waited + wait), 'wait_until', whole(t + wait))
    if suspect == 'host' then
      redis.call('HSET', g, 'unconnected', 1)
    end
  end
end
count(crawl, 'fetched', 1)
if is_robots then
  drop_robots_lease(crawl, pid, host)
  redis.call('HINCRBY', g, 'robots_attempts', -1)
else
  redis.call('HINCRBY', key, 'attempt', -1)
  redis.call('HINCRBY', key, 'excuses', 1)
  append_log(key, log_line(wall(), 'away', ARGV[6]))
  back_to_pending(crawl, pid, t, t + wait + BEHIND_MS)
end
release(crawl, host, t, wait, 'none', nil, nil, ARGV[6])
return 'waits'
