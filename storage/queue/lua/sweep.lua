-- The reaper, the only script that redoes work: leases of dead spiders become pending URLs, claims of
-- dead workers new jobs.
-- ARGV: limit of crashes of a page, limit of attempts of a URL whose spiders died, chunk.
-- Returns {leases put back, claims broken, pages found poisonous, ms that the server's clock was set back or 0}.
local STEP_BACK_MS = 1000 -- a smaller step costs a wait of a second at most
local GAP_MS = 60000 -- since the last sweep: the clock was set forward, or nothing was swept
local LIFE_MS = 20000 -- of sessions and claims without a renewal

local t, at = now()
local set_back = 0
local last = tonumber(redis.call('HGET', 'cc:clock', 'last'))
if last and t < last - STEP_BACK_MS then
  set_back = last - t
  redis.call('HINCRBY', 'cc:clock', 'ahead', set_back)
  t = last
end
if set_back > 0 or (last and t > last + GAP_MS) then
  -- By the clock all spiders and workers have been silent for long. Those that live renew their lives in this time.
  for _, key in ipairs({ 'cc:spiders', 'cc:claims' }) do
    for _, each in ipairs(redis.call('ZRANGEBYSCORE', key, '(0', '+inf')) do -- 0: declared dead
      redis.call('ZADD', key, t + LIFE_MS, each)
    end
  end
end
redis.call('HSET', 'cc:clock', 'last', whole(t))
local max_crashes, max_attempts, chunk = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local leases, claims, poison = 0, 0, 0

for _, session in ipairs(redis.call('ZRANGEBYSCORE', 'cc:spiders', '-inf', t, 'LIMIT', 0, chunk)) do
  if leases >= chunk then
    break -- the next sweep continues; one call must stay short
  end
  for _, member in ipairs(redis.call('SRANDMEMBER', 'cc:l:' .. session, chunk)) do
    local crawl, pid = string.match(member, '^(%S+) (.*)$')
    local key = page_key(crawl, pid)
    local p = redis.call('HMGET', key, 'state', 'host', 'role', 'attempt')
    if p[1] ~= 'leased' then
      redis.call('SREM', 'cc:l:' .. session, member)
    elseif p[3] == 'robots' then
      drop_robots_lease(crawl, pid, p[2])
      release(crawl, p[2], t)
    else
      append_log(key, log_line(at, 'lease_lost', message('spider_died')))
      -- a URL whose leases so many spiders lost may be the cause of their deaths: longer waits each time
      local patience = tonumber(p[4]) > max_attempts and 60000 * (tonumber(p[4]) - max_attempts) or 0
      back_to_pending(crawl, pid, t, t + patience)
      release(crawl, p[2], t)
    end
    leases = leases + 1
  end
  if redis.call('SCARD', 'cc:l:' .. session) == 0 then
    redis.call('ZREM', 'cc:spiders', session)
  end
end

for _, job in ipairs(redis.call('ZRANGEBYSCORE', 'cc:claims', '-inf', t, 'LIMIT', 0, chunk)) do
  local j = redis.call('HMGET', 'cc:j:' .. job, 'crawl', 'host', 'ids', 'why')
  redis.call('ZREM', 'cc:claims', job)
  local has_blame = j[4] ~= '!'
  local mark = has_blame and redis.call('GET', 'cc:m:' .. job)
  redis.call('DEL', 'cc:j:' .. job, 'cc:m:' .. job)
  claims = claims + 1
  local rest = {}
  for pid in string.gmatch(j[3] or '', '%S+') do
    local key = page_key(j[1], pid)
    local p = redis.call('HMGET', key, 'state', 'job')
    if p[1] == 'claimed' and p[2] == job then
      redis.call('HSET', key, 'state', 'queued')
      append_log(key, log_line(at, 'claim_lost', pid == mark and (j[4] or message('died_on_page')) or message('worker_died')))
      local alone = pid == mark
      if alone or has_blame and not mark then
        -- a worker that died between two pages counts as a quarter of a crash of each page of the job
        local crashes = redis.call('HINCRBYFLOAT', key, 'crashes', alone and 1 or 0.25)
        if tonumber(crashes) >= max_crashes then
          redis.call('HSET', key, 'poison', '1')
          poison = poison + 1
        end
        alone = alone or tonumber(crashes) >= 1
      end
      if alone then
        new_job(j[1], j[2], { pid }, t)
      else
        rest[#rest + 1] = pid
      end
    end
  end
  if #rest > 0 then
    new_job(j[1], j[2], rest, t)
  end
end
if leases > 0 or set_back > 0 then
  wake()
end
return { leases, claims, poison, set_back }
