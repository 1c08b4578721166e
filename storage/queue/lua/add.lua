-- Offers URLs to a crawl. ARGV: crawl, then six values a URL: host, fingerprint, page id, role,
-- rank, packed entry (entries.py). Returns a digit a URL, '1' for a new one: '0110'; nothing when there is
-- no such crawl. Offering a URL again changes nothing.
local crawl = ARGV[1]
if redis.call('EXISTS', 'cc:c:' .. crawl) == 0 then
  return false
end
local added, marks = offer(crawl, ARGV, 2, wall())
if added > 0 then
  if redis.call('HGET', 'cc:c:' .. crawl, 'state') == 'finished' then
    redis.call('HSET', 'cc:c:' .. crawl, 'state', 'running')
    settle(crawl) -- a spent budget leaves it finished
  end
  wake()
end
return table.concat(marks)
