-- Reads what spiders, workers and other processes do at this moment; changes nothing.
-- ARGV: most leases of a session, and most claims, that are read one by one.
-- Returns {server's clock ms, {pages, bytes, memory, disk, damage in flight, what holds leasing back}, {jobs, ms since
-- the oldest or -1}, sessions, claims, processes, {hosts ready, hosts, learning, paused, stopped classes}}:
-- session {name, 1 alive, leases, ms since the oldest or -1},
-- claim {job, worker, crawl, host, pages, page, ms since or -1, 1 alive},
-- process {"role name", machine, pid, since ms, work, ms since it was heard}; none that was declared dead.
local most, t, at = tonumber(ARGV[1]), now()

-- The time of the last line of a page's decision log that has this step, ms; nil without one.
local function last_time(key, step)
  local found
  for ms in string.gmatch(redis.call('HGET', key, 'log') or '', '(%d+)\t' .. step .. '\t') do
    found = tonumber(ms)
  end
  return found
end

local function ago(since)
  return since and whole(math.max(0, at - since)) or '-1'
end

local function session_of(name, till)
  local key, oldest = 'cc:l:' .. name, nil
  for _, member in ipairs(redis.call('SRANDMEMBER', key, most)) do
    local crawl, pid = string.match(member, '^(%S+) (.*)$')
    local since = last_time(page_key(crawl, pid), 'leased')
    if since and (not oldest or since < oldest) then
      oldest = since
    end
  end
  return { name, till > t and 1 or 0, redis.call('SCARD', key), ago(oldest) }
end

local function claim_of(job, till)
  local j = redis.call('HMGET', 'cc:j:' .. job, 'worker', 'crawl', 'host', 'ids')
  local pages, since = 0, nil
  for pid in string.gmatch(j[4] or '', '%S+') do
    pages = pages + 1
    since = since or last_time(page_key(j[2], pid), 'claimed')
  end
  local mark = redis.call('GET', 'cc:m:' .. job) or ''
  return { job, j[1] or '', j[2] or '', j[3] or '', pages, mark, ago(since), till > t and 1 or 0 }
end

local flight = redis.call('HMGET', 'cc:flight', 'pages', 'bytes', 'memory', 'disk', 'damage')
local holds = { redis.call('GET', 'cc:full') or '', flight[3] and 'memory' or '', flight[4] and 'disk' or '' }
local oldest = redis.call('ZRANGE', 'cc:jobs', 0, 0, 'WITHSCORES')[2]
local jobs = { redis.call('ZCARD', 'cc:jobs'), oldest and whole(math.max(0, t - oldest)) or '-1' }

local sessions, claims, processes = {}, {}, {}
local list = redis.call('ZRANGE', 'cc:spiders', 0, -1, 'WITHSCORES')
for i = 1, #list, 2 do
  sessions[#sessions + 1] = session_of(list[i], tonumber(list[i + 1]))
end
list = redis.call('ZRANGE', 'cc:claims', 0, most - 1, 'WITHSCORES')
for i = 1, #list, 2 do
  claims[#claims + 1] = claim_of(list[i], tonumber(list[i + 1]))
end
list = redis.call('ZRANGE', 'cc:who', 0, -1, 'WITHSCORES')
for i = 1, #list, 2 do
  local p = redis.call('HMGET', 'cc:who:' .. string.match(list[i], ' (.*)$'), 'machine', 'pid', 'since', 'work')
  if p[1] and list[i + 1] ~= '0' then
    processes[#processes + 1] = { list[i], p[1], p[2], p[3], p[4], whole(math.max(0, t - list[i + 1])) }
  end
end

return { whole(at), { flight[1] or '0', flight[2] or '0', flight[5] or '', table.concat(holds, ' ') }, jobs, sessions,
  claims, processes, { redis.call('ZCOUNT', 'cc:ready', '-inf', whole(t)), redis.call('ZCARD', 'cc:ready'),
  redis.call('ZCARD', 'cc:learn'), redis.call('HLEN', 'cc:paused'), redis.call('HLEN', 'cc:traps') } }
