-- Stores changes of a host's accounts, unless another worker has changed the accounts since the read.
-- ARGV: crawl, host, version that was read, then four lists, each after its length: new fingerprints;
-- pattern, account, ...; pattern, why, ... of stopped classes; patterns of lifted classes.
-- Returns 1, or 0: read again. Stores nothing for a crawl that was purged.
local crawl, host = ARGV[1], ARGV[2]
if redis.call('EXISTS', 'cc:c:' .. crawl) == 0 then
  return 1
end
local accounts, stopped = 'cc:k:' .. crawl .. ':' .. host, 'cc:ts:' .. crawl .. ':' .. host
local classes = 'cc:u:' .. crawl .. ':' .. host
if (redis.call('HGET', classes, 'judged') or '0') ~= ARGV[3] then
  return 0
end
local place = 4
local function next_list()
  local list, length = {}, tonumber(ARGV[place])
  for i = place + 1, place + length do
    list[#list + 1] = ARGV[i]
  end
  place = place + 1 + length
  return list
end
local fingerprints, changed, stops, lifted = next_list(), next_list(), next_list(), next_list()

-- Fingerprints belong to the crawl: a page of another host may have added one since the read.
local buckets = text_buckets(crawl)
local full = full_of(buckets)
for _, each in ipairs(fingerprints) do
  if redis.call('SISMEMBER', text_bucket(crawl, each, buckets, full), each) == 1 then
    return 0
  end
end
for _, each in ipairs(fingerprints) do
  redis.call('SADD', text_bucket(crawl, each, buckets, full), each)
end
if #fingerprints > 0 then
  local all = redis.call('HINCRBY', 'cc:c:' .. crawl, 'texts', #fingerprints)
  grow_buckets(crawl, 'cc:tx:', 'text_buckets', all, buckets)
end
for i = 1, #changed, 2 do
  redis.call('HSET', accounts, changed[i], changed[i + 1])
end
for i = 1, #stops, 2 do
  redis.call('HSET', stopped, stops[i], stops[i + 1])
  redis.call('HSETNX', 'cc:traps', crawl .. ' ' .. host .. ' ' .. stops[i], whole(wall()))
end
for _, each in ipairs(lifted) do
  redis.call('HDEL', stopped, each)
  redis.call('HDEL', 'cc:traps', crawl .. ' ' .. host .. ' ' .. each)
end
redis.call('HINCRBY', classes, 'judged', 1)
if #stops + #lifted > 0 then
  redis.call('HINCRBY', 'cc:g:' .. host, 'stopped_version', 1)
end
return 1
