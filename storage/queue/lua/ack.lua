-- claimed -> done: the results of pages are stored, and their outlinks are in the frontier.
-- ARGV: job, then four values a page: page id, token, final state (record, redirect, failed, ...), time of its
-- response as stored, ms.
-- Returns how many pages counted; an old token changes nothing. The job ends with its last page, and the last page
-- that counted leaves a receipt (receipts.py).
local RECEIPTS = 64 -- more than workers of one crawl that are between save and ack at a time

local job = ARGV[1]
local crawl, host = unpack(redis.call('HMGET', 'cc:j:' .. job, 'crawl', 'host'))
if not crawl then
  return 0
end
local done, freed, receipt = 0, 0, nil
for i = 2, #ARGV, 4 do
  local key = page_key(crawl, ARGV[i])
  local p = redis.call('HMGET', key, 'state', 'token', 'role')
  if p[1] == 'claimed' and p[2] == ARGV[i + 1] then
    freed = freed + redis.call('HSTRLEN', key, 'body')
    redis.call('DEL', key)
    count(crawl, 'queued', -1)
    count(crawl, 'done', 1)
    if ARGV[i + 2] == 'record' then
      count(crawl, 'stored', 1)
    else
      if ARGV[i + 2] == 'failed' then
        count(crawl, 'failed', 1)
      end
      if p[3] == 'page' then
        refund(crawl)
      end
    end
    done = done + 1
    receipt = ARGV[i] .. ' ' .. ARGV[i + 3]
  end
end
if receipt and redis.call('EXISTS', 'cc:c:' .. crawl) == 1 then
  redis.call('LPUSH', 'cc:a:' .. crawl, receipt)
  redis.call('LTRIM', 'cc:a:' .. crawl, 0, RECEIPTS - 1)
end
redis.call('HINCRBY', 'cc:flight', 'pages', -done)
redis.call('HINCRBY', 'cc:flight', 'bytes', -freed)
local left = 0
for pid in string.gmatch(redis.call('HGET', 'cc:j:' .. job, 'ids'), '%S+') do
  if redis.call('HGET', page_key(crawl, pid), 'job') == job then
    left = left + 1
  end
end
if left == 0 then
  redis.call('DEL', 'cc:j:' .. job)
  redis.call('ZREM', 'cc:claims', job)
end
settle(crawl)
if done > 0 then
  wake()
end
return done
