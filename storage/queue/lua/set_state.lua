-- Sets a crawl's state. ARGV: crawl, state ('' = unchanged). A running crawl with nothing left to do
-- is finished at once. Returns 1, or 0 when there is no such crawl.
local crawl = ARGV[1]
if redis.call('EXISTS', 'cc:c:' .. crawl) == 0 then
  return 0
end
if ARGV[2] ~= '' then
  redis.call('HSET', 'cc:c:' .. crawl, 'state', ARGV[2])
end
settle(crawl)
return 1
