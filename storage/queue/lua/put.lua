-- leased -> queued: the response (or the final failure) of one lease, in one step.
-- ARGV: crawl, page id, token, meta (JSON), body (zstd), flush pages, flush bytes, flush ms,
-- log step, log detail, outcome of the request (see release), wait ms of the host, duration in ms, most
-- pages of a job that waits for a worker. Returns {1 or 0 (an old token), job id to enqueue or ''}.
local crawl, pid = ARGV[1], ARGV[2]
local key = page_key(crawl, pid)
local p = redis.call('HMGET', key, 'state', 'token', 'host', 'session', 'role', 'log')
if p[1] ~= 'leased' or p[2] ~= ARGV[3] then
  return { 0, '' }
end
if p[5] == 'robots' then
  return redis.error_reply('ERR a lease of robots.txt ends by its rules or by a nack')
end
local host, t, at = p[3], now()
redis.call('HSET', key, 'state', 'queued', 'meta', ARGV[4], 'body', ARGV[5], 'fetched_ms', whole(at), 'log',
  with_line(p[6], log_line(at, ARGV[9], ARGV[10])))
redis.call('SREM', 'cc:l:' .. p[4], crawl .. ' ' .. pid)
count(crawl, 'leased', -1, 'queued', 1, 'bodies', ARGV[5] ~= '' and 1 or 0, 'fetched', ARGV[11] == 'unasked' and 0 or 1)
redis.call('HINCRBY', 'cc:flight', 'pages', 1)
redis.call('HINCRBY', 'cc:flight', 'bytes', #ARGV[5])
local held, clock = release(crawl, host, t, tonumber(ARGV[12]), ARGV[11], tonumber(ARGV[13]), p[4], ARGV[10])

if join_job(crawl, host, pid, #ARGV[5], tonumber(ARGV[14]), tonumber(ARGV[7])) then
  return { 1, '' }
end
local batch, member = 'cc:b:' .. crawl .. ':' .. host, crawl .. ' ' .. host
local size = redis.call('RPUSH', batch, pid)
local bytes = redis.call('HINCRBY', 'cc:bb', member, #ARGV[5])
-- A page waits for companions only while another request to the host is under way or about to start: else
-- none can come in time, and waiting would delay the links of this page.
local companions = held > 0
if not companions and clock - t < tonumber(ARGV[8]) then
  local c = redis.call('HMGET', 'cc:c:' .. crawl, 'state', 'max', 'used')
  local leasable = c[1] == 'running' and (not c[2] or c[2] == '' or tonumber(c[3] or 0) < tonumber(c[2]))
  leasable = leasable and not redis.call('HGET', 'cc:u:' .. crawl .. ':' .. host, 'awaited')
  companions = leasable and (redis.call('ZCARD', 'cc:q:' .. crawl .. ':' .. host) > 0
    or redis.call('ZCARD', 'cc:v:' .. crawl .. ':' .. host) > 0)
end
if size >= tonumber(ARGV[6]) or bytes >= tonumber(ARGV[7]) or not companions then
  return { 1, flush(crawl, host, t) }
end
redis.call('ZADD', 'cc:bt', 'NX', t, member)
return { 1, '' }
