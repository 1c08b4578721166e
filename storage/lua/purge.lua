-- Forgets pages of a crawl: gives back their slots and their share of what is in flight.
-- ARGV: crawl, host ('' = every host), page keys. Returns how many were forgotten.
local crawl, only, t, gone = ARGV[1], ARGV[2], now(), 0
for i = 3, #ARGV do
  local key = ARGV[i]
  local p = redis.call('HMGET', key, 's', 'h', 'sp', 'ro')
  if p[1] and (only == '' or p[2] == only) then
    local pid = string.sub(key, #('cc:p:' .. crawl .. ':') + 1)
    local alive = redis.call('EXISTS', 'cc:c:' .. crawl) == 1
    if p[1] == 'leased' then
      redis.call('SREM', 'cc:l:' .. p[3], crawl .. ' ' .. pid)
      if p[4] == 'robots' then
        redis.call('HDEL', 'cc:g:' .. p[2], 'rb')
      end
      release(crawl, p[2], t)
      if alive then count(crawl, 'leased', -1) end
    elseif p[1] == 'retry' then
      redis.call('ZREM', 'cc:r:' .. crawl .. ':' .. p[2], pid)
      if alive then count(crawl, 'pending', -1) end
    else
      redis.call('HINCRBY', 'cc:flight', 'pages', -1)
      redis.call('HINCRBY', 'cc:flight', 'bytes', -redis.call('HSTRLEN', key, 'b'))
      redis.call('LREM', 'cc:b:' .. crawl .. ':' .. p[2], 1, pid)
      if alive then count(crawl, 'queued', -1) end
    end
    redis.call('DEL', key)
    gone = gone + 1
  end
end
return gone
