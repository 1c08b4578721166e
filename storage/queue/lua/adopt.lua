-- Marks pages as done in a topic crawl, because another crawl has fetched them and their judgements are stored.
-- ARGV: crawl, the crawl that fetched them, then host, fingerprint, page id of each.
-- A URL that waits in a queue, or in the store, ends when its turn comes, without a request (cc:ad). What is adopted is
-- noted with the page, which lasts until the ack: the job may be done again. Returns 1.
-- A URL that has ended in the crawl looks like one that waits, and is never asked about: one that failed there, or was
-- adopted at an earlier visit. So cc:ad has no more members than URLs wait; the rest are of such URLs, mostly.
local crawl, fetched_by = ARGV[1], ARGV[2]
if not is_topic(crawl) or redis.call('EXISTS', 'cc:c:' .. crawl) == 0 then
  return 0
end
local buckets, added = seen_buckets(crawl), 0
local full = full_of(buckets)

local function end_unasked(pid)
  local adopted, waiting = 'cc:ad:' .. crawl, tonumber(redis.call('HGET', 'cc:c:' .. crawl, 'pending')) or 0
  redis.call('SADD', adopted, pid)
  local too_many = redis.call('SCARD', adopted) - waiting
  if too_many > 0 then
    redis.call('SPOP', adopted, too_many)
  end
end

for i = 3, #ARGV, 3 do
  local host, fingerprint, key = ARGV[i], ARGV[i + 1], page_key(crawl, ARGV[i + 2])
  local fetched = page_key(fetched_by, ARGV[i + 2])
  local is_known = redis.call('EXISTS', fetched) == 1 and redis.call('HSETNX', fetched, 'adopted ' .. crawl, 1) == 0
  local seen = 'cc:seen:' .. crawl .. ':' .. bucket_of(fingerprint, buckets, full)
  if not is_known and redis.call('SADD', seen, fingerprint) == 1 then
    added = added + 1
    redis.call('SADD', 'cc:h:' .. crawl, host)
  elseif not is_known and redis.call('HGET', key, 'state') == 'retry' then
    redis.call('ZREM', 'cc:r:' .. crawl .. ':' .. host, ARGV[i + 2])
    redis.call('DEL', key)
    count(crawl, 'pending', -1, 'done', 1)
  elseif not is_known and redis.call('EXISTS', key) == 0 then
    end_unasked(ARGV[i + 2])
  end
end
if added > 0 then
  grow_buckets(crawl, 'cc:seen:', 'seen_buckets', redis.call('HINCRBY', 'cc:c:' .. crawl, 'seq', added), buckets)
  count(crawl, 'done', added)
end
settle(crawl)
return 1
