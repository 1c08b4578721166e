-- Marks URLs that ended before the queue was lost as seen, so that no spider fetches them. ARGV: crawl, then
-- three values a URL: host, fingerprint, final state. Returns how many were new to the queue, -1 when
-- there is no such crawl. A URL counts once, however often it is marked.
local crawl = ARGV[1]
if redis.call('EXISTS', 'cc:c:' .. crawl) == 0 then
  return -1
end
local buckets, added, ends, hosts = seen_buckets(crawl), 0, {}, {}
local full = full_of(buckets)
for i = 2, #ARGV, 3 do
  local seen = 'cc:seen:' .. crawl .. ':' .. bucket_of(ARGV[i + 1], buckets, full)
  if redis.call('SADD', seen, ARGV[i + 1]) == 1 then
    added = added + 1
    ends[ARGV[i + 2]] = (ends[ARGV[i + 2]] or 0) + 1
    hosts[ARGV[i]] = true
  end
end
if added > 0 then
  grow_buckets(crawl, 'cc:seen:', 'seen_buckets', redis.call('HINCRBY', 'cc:c:' .. crawl, 'seq', added), buckets)
  for host in pairs(hosts) do
    redis.call('SADD', 'cc:h:' .. crawl, host)
  end
  local records = ends['record'] or 0
  count(crawl, 'done', added, 'stored', records, 'used', records, 'failed', ends['failed'] or 0)
end
return added
