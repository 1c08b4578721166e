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
local done, again, stored, failed, used, refunded, bodies, unjudged = 0, 0, 0, 0, 0, 0, 0, 0
local freed, judged, relevant, records, ended, receipt = 0, 0, 0, 0, {}, nil
for i = 3, #ARGV, 5 do
  local key = page_key(crawl, ARGV[i])
  local p = redis.call('HMGET', key, 'state', 'token', 'role', 'rv', 'tried', 'log', 'dull')
  if p[1] == 'claimed' and p[2] == ARGV[i + 1] then
    local bytes = redis.call('HSTRLEN', key, 'body')
    freed = freed + bytes
    bodies = bodies + (bytes > 0 and 1 or 0)
    unjudged = unjudged + (p[7] and 0 or 1)
    ended[ARGV[i]] = true
    redis.call('DEL', key)
    if p[5] then
      local line = log_line(wall(), 'ended', ARGV[i + 2])
      redis.call('SET', 'cc:tried:' .. crawl .. ':' .. ARGV[i], (p[6] or '') .. line, 'EX', TRIED_S)
    end
    local was, state = p[4] or '', ARGV[i + 2]
    again = again + (was == '' and 0 or 1)
    stored = stored + (state == 'record' and 1 or 0) - (was == 'record' and 1 or 0)
    failed = failed + (state == 'failed' and 1 or 0) - (was == 'failed' and 1 or 0)
    if p[3] == 'page' and was ~= '' and was ~= 'record' and state == 'record' then
      used = used + 1
    elseif p[3] == 'page' and state ~= 'record' and (was == '' or was == 'record') then
      refunded = refunded + 1
    end
    done = done + 1
    judged = judged + (ARGV[i + 4] ~= '' and 1 or 0)
    records = records + (ARGV[i + 4] ~= '' and state == 'record' and 1 or 0)
    relevant = relevant + (ARGV[i + 4] == 'relevant' and 1 or 0)
    receipt = was == '' and ARGV[i] .. ' ' .. ARGV[i + 3] or receipt
  end
end
count(crawl, 'queued', -done, 'bodies', -bodies, 'done', done - again, 'revisited', again, 'stored', stored,
  'failed', failed, 'used', used)
if refunded > 0 then
  refund(crawl, refunded)
end
count_unjudged(crawl, host, unjudged == 0, -unjudged)
if receipt and redis.call('EXISTS', 'cc:c:' .. crawl) == 1 then
  redis.call('LPUSH', 'cc:a:' .. crawl, receipt)
  redis.call('LTRIM', 'cc:a:' .. crawl, 0, RECEIPTS - 1)
end
redis.call('HINCRBY', 'cc:flight', 'pages', -done)
redis.call('HINCRBY', 'cc:flight', 'bytes', -freed)
local left = 0
for pid in string.gmatch(redis.call('HGET', 'cc:j:' .. job, 'ids'), '%S+') do
  if not ended[pid] and redis.call('HGET', page_key(crawl, pid), 'job') == job then
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
