-- Offers URLs to a crawl. ARGV: crawl, then six values a URL: host, fingerprint, page id, role,
-- rank, packed entry (entries.py). Returns a 1 for each that is new and a 0 for each other, in their
-- order, or nothing when there is no such crawl.
-- Offering again changes nothing.
local crawl = ARGV[1]
if redis.call('EXISTS', 'cc:c:' .. crawl) == 0 then
  return false
end
local added, marks = offer(crawl, ARGV, 2, now())
if added > 0 then
  if redis.call('HGET', 'cc:c:' .. crawl, 'state') == 'finished' then
    redis.call('HSET', 'cc:c:' .. crawl, 'state', 'running')
    settle(crawl) -- a spent budget leaves it finished
  end
  wake()
end
return table.concat(marks)
