-- Ends a lease of robots.txt (ADR 5). ARGV: crawl, page id, token, verdict, wait ms of the host, duration
-- of the request in ms, and by verdict
-- 'read':    rules, Crawl-delay ms, sitemaps (JSON list, six values each), time to live ms
-- 'errors' (5xx), 'unanswered' (reset, timeout): wait ms after the first one, longest wait ms, errors in a row that end the wait, the rules
--            that then forbid all, their time to live ms
-- 'missed':  ms until the next request
-- 'refused': ms until the next request of this crawl (the life of cc:nr:<crawl>:<host>), 1 when a
--            request was made, else 0
-- Rules that were read (robots_rules, crawl_delay, sitemaps) stay until others are read. Without any, all
-- is allowed after 'missed', and forbidden (robots_override) when errors do not end. Returns 1, or 0 for
-- an old token.
local crawl, pid, outcome, wait = ARGV[1], ARGV[2], ARGV[4], tonumber(ARGV[5])
local key = page_key(crawl, pid)
local p = redis.call('HMGET', key, 'state', 'token', 'host', 'session')
if p[1] ~= 'leased' or p[2] ~= ARGV[3] then
  return 0
end
local t, host = now(), p[3]
local g = 'cc:g:' .. host
local unasked = outcome == 'refused' and ARGV[8] == '0'

drop_robots_lease(crawl, pid, host)
count(crawl, 'fetched', unasked and 0 or 1)
redis.call('HSET', g, 'robots_attempts', 0)
local valid, changed -- how long the rules are valid from now on, ms; whether they have changed
if outcome == 'read' then
  redis.call('HDEL', g, 'robots_errors', 'robots_override')
  redis.call('HSET', g, 'robots_rules', ARGV[7], 'crawl_delay', ARGV[8], 'sitemaps', ARGV[9])
  valid, changed = tonumber(ARGV[10]), true
elseif outcome == 'errors' or outcome == 'unanswered' then
  local errors = redis.call('HINCRBY', g, 'robots_errors', 1)
  local hold = math.min(tonumber(ARGV[7]) * 2 ^ (errors - 1), tonumber(ARGV[8]))
  if redis.call('HEXISTS', g, 'robots_rules') == 1 then
    valid = hold
  elseif errors >= tonumber(ARGV[9]) then
    redis.call('HDEL', g, 'robots_errors') -- when these rules expire, errors count from 0
    redis.call('HSET', g, 'robots_override', ARGV[10])
    valid, changed = tonumber(ARGV[11]), true
  else
    changed = redis.call('HDEL', g, 'robots_override') == 1
    wait = math.max(wait, hold)
  end
elseif outcome == 'missed' then
  changed = redis.call('HDEL', g, 'robots_override') == 1
  valid = tonumber(ARGV[7])
end
if changed then
  redis.call('HINCRBY', g, 'robots_version', 1)
end
redis.call('HSETNX', g, 'clock', 0) -- the clock is read below, also of a host without a request
local OUTCOMES = { read = 'answered', errors = 'error', unanswered = 'none', missed = 'none' }
release(crawl, host, t, wait, unasked and 'unasked' or OUTCOMES[outcome], tonumber(ARGV[6]), p[4])

-- The time to live begins with the host's next request: else a long delay would let the rules expire before
-- every page.
local from = math.max(t, tonumber(redis.call('HGET', g, 'clock')))
if valid then
  redis.call('HSET', g, 'robots_until', string.format('%.0f', from + valid))
  redis.call('ZADD', 'cc:ruled', whole(from), host)
elseif outcome == 'refused' then
  -- The address may be permitted to another crawl: the fields of the host stay.
  redis.call('SET', 'cc:nr:' .. crawl .. ':' .. host, '1', 'PX', string.format('%.0f', from - t + tonumber(ARGV[7])))
end
wake() -- other spiders may have waited for this host
return 1
