-- Deletes pages of a crawl: gives back their slots and their pages and bytes in flight.
-- ARGV: crawl, host ('' = every host), page keys. With a host, its pending URLs are deleted, too, and its
-- spills are no longer expected back. Returns how many URLs were deleted; -1 without a host when the crawl is there:
-- it has been created anew since its purge began.
local crawl, only, t, gone = ARGV[1], ARGV[2], now(), 0
if only == '' and redis.call('EXISTS', 'cc:c:' .. crawl) == 1 then
  return -1
end
if only ~= '' then
  local pending = 'cc:q:' .. crawl .. ':' .. only
  gone = redis.call('ZCARD', pending)
  count(crawl, 'images', -redis.call('ZCOUNT', pending, IMAGES_FROM, IMAGES_TO))
  redis.call('UNLINK', pending)
  local waiting, spilled = 'cc:t:' .. crawl .. ':' .. only, 0
  for _, spill in ipairs(redis.call('ZRANGE', waiting, 0, -1)) do
    spilled = spilled + (tonumber(redis.call('HGET', 'cc:tn:' .. crawl, spill)) or 0)
    redis.call('HDEL', 'cc:tn:' .. crawl, spill)
    redis.call('HDEL', 'cc:tv:' .. crawl, spill)
    redis.call('HDEL', 'cc:spills', spill)
    redis.call('DEL', 'cc:spill:' .. spill)
  end
  redis.call('DEL', waiting)
  redis.call('SREM', 'cc:th:' .. crawl, only)
  count(crawl, 'spilled', -spilled)
  gone = gone + spilled
  count(crawl, 'pending', -gone)
  redis.call('SREM', 'cc:bg:' .. crawl, only)
  redis.call('DEL', 'cc:ck:' .. crawl .. ':' .. only)
end
for i = 3, #ARGV do
  local key = ARGV[i]
  local p = redis.call('HMGET', key, 'state', 'host', 'session', 'role', 'rv', 'dull')
  if p[1] and (only == '' or p[2] == only) then
    local pid = string.sub(key, #('cc:p:' .. crawl .. ':') + 1)
    if p[1] == 'leased' then
      if p[4] == 'robots' then
        drop_robots_lease(crawl, pid, p[2])
      else
        redis.call('SREM', 'cc:l:' .. p[3], crawl .. ' ' .. pid)
        count_unjudged(crawl, p[2], p[6], -1)
        count(crawl, 'leased', -1)
        gone = gone + 1
      end
      release(crawl, p[2], t)
    elseif p[1] == 'revisit' then
      redis.call('ZREM', 'cc:v:' .. crawl .. ':' .. p[2], pid)
      count(crawl, 'revisits', -1)
    elseif p[1] == 'retry' then
      redis.call('ZREM', 'cc:r:' .. crawl .. ':' .. p[2], pid)
      count(crawl, 'pending', -1, 'images', p[4] == 'image' and -1 or 0)
      gone = gone + 1
    else
      redis.call('HINCRBY', 'cc:flight', 'pages', -1)
      redis.call('HINCRBY', 'cc:flight', 'bytes', -redis.call('HSTRLEN', key, 'body'))
      redis.call('LREM', 'cc:b:' .. crawl .. ':' .. p[2], 1, pid)
      count_unjudged(crawl, p[2], p[6], -1)
      count(crawl, 'queued', -1, 'bodies', redis.call('HSTRLEN', key, 'body') > 0 and -1 or 0)
      gone = gone + 1
    end
    if p[4] == 'page' and p[1] ~= 'retry' and not p[5] then
      refund(crawl, 1)
    end
    redis.call('DEL', key)
  end
end
settle(crawl)
return gone
