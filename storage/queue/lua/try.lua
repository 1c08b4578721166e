-- Lets one URL of a host be fetched as soon as its clock and robots.txt permit, also while the host is paused (trial_of in
-- shared/choose.lua). ARGV: crawl, page id, host, life of the trial, ms.
-- The URL has to wait with a history, as reopen.lua leaves it. Returns 1; 0 when it is fetched or cleaned at this
-- moment; -1 when no such URL waits. A trial replaces the one before it.
local crawl, pid, host = ARGV[1], ARGV[2], ARGV[3]
local key, retry, t = page_key(crawl, pid), 'cc:r:' .. crawl .. ':' .. host, now()
local state = redis.call('HGET', key, 'state')
if state == 'revisit' then
  redis.call('ZREM', 'cc:v:' .. crawl .. ':' .. host, pid)
  redis.call('HSET', key, 'state', 'retry')
  count(crawl, 'revisits', -1, 'pending', 1)
elseif state ~= 'retry' then
  return state and 0 or -1
end
redis.call('ZADD', retry, whole(t), pid)
redis.call('HSET', key, 'tried', 1)
append_log(key, log_line(wall(), 'to be tried', 'alone'))
redis.call('HDEL', 'cc:g:' .. host, 'failures', 'waited_ms', 'wait_until', 'unconnected', 'next_probe')
redis.call('HSET', 'cc:g:' .. host, 'trial', crawl .. ' ' .. pid .. ' ' .. whole(t + tonumber(ARGV[4])))
join_group(crawl, host)
wake()
return 1
