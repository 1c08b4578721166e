-- Stores the address of a lease's host: hosts at one address share its clock and slots (ADR 10).
-- ARGV: crawl, page id, token, address, time to live ms.
-- Returns 1, or 0 when the lease has ended: the token is old; or another host uses the address, or the time of
-- the address has not come, and the URL is pending again without counting the attempt.
local crawl, pid, ip = ARGV[1], ARGV[2], ARGV[4]
local key = page_key(crawl, pid)
local p = redis.call('HMGET', key, 'state', 'token', 'host', 'role')
if p[1] ~= 'leased' or p[2] ~= ARGV[3] then
  return 0
end
local t, host = now(), p[3]
local g = redis.call('HMGET', 'cc:g:' .. host, 'address', 'crawl_delay', 'smoothed_ms', 'slowed')
redis.call('HSET', 'cc:g:' .. host, 'address', ip, 'address_until', whole(t + tonumber(ARGV[5])))
if g[1] == ip then
  return 1
end
if g[1] then
  release_address(g[1], t, 0, true)
  redis.call('ZREM', 'cc:ir:' .. g[1], host)
end
redis.call('ZREM', 'cc:ready', host)
local pause, slots = policy_of(crawl, host, tonumber(g[2]) or 0, tonumber(g[3]) or 0, g[4])
local i = redis.call('HMGET', 'cc:i:' .. ip, 'held', 'clock', 'answer_ended')
local free_at = math.max(tonumber(i[2]) or 0, (tonumber(i[3]) or 0) + pause)
redis.call('HINCRBY', 'cc:i:' .. ip, 'held', 1)
if (tonumber(i[1]) or 0) < slots and free_at <= t then
  touch(host)
  return 1
end
if p[4] == 'robots' then
  drop_robots_lease(crawl, pid, host)
  redis.call('HINCRBY', 'cc:g:' .. host, 'robots_attempts', -1)
else
  redis.call('HINCRBY', key, 'attempt', -1)
  append_log(key, log_line(wall(), 'given_back', message('address_taken')))
  back_to_pending(crawl, pid, t, t)
end
release(crawl, host, t, 0, 'unasked')
return 0
