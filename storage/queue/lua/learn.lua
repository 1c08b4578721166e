-- One step of a host's learning. ARGV: step, host, and what the step needs. Only the newest job of a
-- host counts: a step of an older one changes nothing and returns 0.
--   keep job [task]       it is being worked on; if it is lost, another does the task
--   next job new task n   the job 'new' replaces 'job' ('': any); n: records so far, or ''
--   lose job blame        its process died: the sweeper need not wait
--   redo job new most     the job 'new' repeats its task; returns -1 and deletes the host after most losses
--   done job              nothing is left to do
-- Keys: cc:learn zset host -> worked on at; by host the hashes cc:learn:jobs, :tasks, :tries, :asked
-- (records when it was last learned), :aside (the re-cleaning task that learning interrupted), :again (records of
-- models of many pages that were tried again).
local step, host, job = ARGV[1], ARGV[2], ARGV[3]
if job ~= '' and redis.call('HGET', 'cc:learn:jobs', host) ~= job then
  return 0
end

local function forget()
  redis.call('ZREM', 'cc:learn', host)
  for _, name in ipairs({'jobs', 'tasks', 'tries', 'aside'}) do
    redis.call('HDEL', 'cc:learn:' .. name, host)
  end
end

local function take(new)
  redis.call('ZADD', 'cc:learn', now(), host)
  redis.call('HSET', 'cc:learn:jobs', host, new)
end

if step == 'keep' then
  redis.call('ZADD', 'cc:learn', now(), host)
  if ARGV[4] then
    redis.call('HSET', 'cc:learn:tasks', host, ARGV[4])
  end
elseif step == 'next' then
  take(ARGV[4])
  local old = redis.call('HGET', 'cc:learn:tasks', host)
  if string.find(ARGV[5], 'reclean_host', 1, true) then
    redis.call('HDEL', 'cc:learn:aside', host)
  elseif old and string.find(old, 'reclean_host', 1, true) then
    redis.call('HSET', 'cc:learn:aside', host, old)
  end
  redis.call('HSET', 'cc:learn:tasks', host, ARGV[5])
  redis.call('HDEL', 'cc:learn:tries', host)
  if ARGV[6] ~= '' then
    redis.call('HSET', 'cc:learn:asked', host, ARGV[6])
  end
elseif step == 'lose' then
  redis.call('ZADD', 'cc:learn', 0, host)
  if ARGV[4] == '0' then
    redis.call('HINCRBY', 'cc:learn:tries', host, -1)
  end
elseif step == 'redo' then
  if redis.call('HINCRBY', 'cc:learn:tries', host, 1) > tonumber(ARGV[5]) then
    forget()
    return -1
  end
  take(ARGV[4])
elseif step == 'done' then
  forget()
end
return 1
