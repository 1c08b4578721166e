-- claimed -> done: the results of pages are stored, and their outlinks are in the frontier.
-- ARGV: job, registered domain of its host, then five values a page: page id, token, final state (record, redirect,
-- failed, ...), time of its response as stored, ms, and relevant or not if the crawl's topic has judged the page, else ''.
-- Returns how many pages counted; an old token changes nothing. The job ends with its last page, and the last page
-- that counted leaves a receipt (ownership.py). A revisit leaves none, because the store keeps the older record of an
-- unchanged page; of the counters of URLs it changes those in which the URL ended otherwise than before.
local RECEIPTS = 64 -- more than workers of one crawl that are between save and ack at a time

local job = ARGV[1]
local crawl, host = unpack(redis.call('HMGET', 'cc:j:' .. job, 'crawl', 'host'))
if not crawl then
  return 0
end
local TRIED_S = 3600 -- how long the log of a page that was tried (try.lua) outlives the page's end
local done, freed, judged, relevant, records, receipt = 0, 0, 0, 0, 0, nil
for i = 3, #ARGV, 5 do
  local key = page_key(crawl, ARGV[i])
  local p = redis.call('HMGET', key, 'state', 'token', 'role', 'rv', 'tried', 'log')
  if p[1] == 'claimed' and p[2] == ARGV[i + 1] then
    local bytes = redis.call('HSTRLEN', key, 'body')
    freed = freed + bytes
    count(crawl, 'bodies', bytes > 0 and -1 or 0)
    count_unjudged(crawl, host, key, -1)
    redis.call('DEL', key)
    if p[5] then
      local line = log_line(wall(), 'ended', ARGV[i + 2])
      redis.call('SET', 'cc:tried:' .. crawl .. ':' .. ARGV[i], (p[6] or '') .. line, 'EX', TRIED_S)
    end
    count(crawl, 'queued', -1)
    local was, state = p[4] or '', ARGV[i + 2]
    count(crawl, was == '' and 'done' or 'revisited', 1)
    count(crawl, 'stored', (state == 'record' and 1 or 0) - (was == 'record' and 1 or 0))
    count(crawl, 'failed', (state == 'failed' and 1 or 0) - (was == 'failed' and 1 or 0))
    if p[3] == 'page' and was ~= '' and was ~= 'record' and state == 'record' then
      count(crawl, 'used', 1)
    elseif p[3] == 'page' and state ~= 'record' and (was == '' or was == 'record') then
      refund(crawl)
    end
    done = done + 1
    judged = judged + (ARGV[i + 4] ~= '' and 1 or 0)
    records = records + (ARGV[i + 4] ~= '' and state == 'record' and 1 or 0)
    relevant = relevant + (ARGV[i + 4] == 'relevant' and 1 or 0)
    receipt = was == '' and ARGV[i] .. ' ' .. ARGV[i + 3] or receipt
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
if judged > 0 then
  -- damaged figures of a host keep no page from its end
  pcall(count_harvest, crawl, host, ARGV[2], judged, relevant, records)
end
settle(crawl)
if done > 0 then
  if redis.call('HDEL', 'cc:u:' .. crawl .. ':' .. host, 'awaited') == 1 then
    touch(host)
  end
  wake()
end
return done
