-- queued -> claimed: a worker takes a job's pages, each with a new token.
-- ARGV: job, worker, ttl ms. Returns {crawl, page id, token, ...}; no page when another worker has the
-- job, or the job has ended.
local job, t, at = ARGV[1], now()
local j = redis.call('HMGET', 'cc:j:' .. job, 'crawl', 'ids', 'worker', 'host')
if not j[1] or j[3] then
  return { '' }
end
local member = j[1] .. ' ' .. j[4]
if redis.call('HGET', 'cc:bj', member) == job then
  redis.call('HDEL', 'cc:bj', member)
end
redis.call('ZREM', 'cc:jobs', job)
local out = { j[1] }
for pid in string.gmatch(j[2], '%S+') do
  local key = page_key(j[1], pid)
  local p = redis.call('HMGET', key, 'state', 'job', 'log')
  if p[1] == 'queued' and p[2] == job then
    local token = redis.call('INCR', 'cc:token')
    redis.call('HSET', key, 'state', 'claimed', 'token', token, 'log', with_line(p[3], log_line(at, 'claimed', ARGV[2])))
    out[#out + 1] = pid
    out[#out + 1] = tostring(token)
  end
end
if #out == 1 then
  redis.call('DEL', 'cc:j:' .. job)
else
  redis.call('HSET', 'cc:j:' .. job, 'worker', ARGV[2])
  redis.call('ZADD', 'cc:claims', t + tonumber(ARGV[3]), job)
end
return out
