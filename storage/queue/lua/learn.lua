-- One step of a host's learning or re-cleaning. ARGV: step, host, then the arguments of the step. Only the
-- newest job of a host counts: a step of an older job changes nothing and returns 0. Else returns 1.
--   keep job [task]       the job is being worked on; its task, from now on, is 'task'
--   next job new task n   the job 'new' replaces 'job' ('': any); n: records so far, or ''
--   lose job blame        the job's process died: the housekeeper need not wait; blame 0: no try is counted
--   redo job new most     the job 'new' repeats the task; after 'most' tries deletes the host and returns -1
--   done job              the work on the host has ended
-- Keys: cc:learn, zset, host -> last work, ms; hashes by host:
--   cc:learn:jobs    newest job      cc:learn:tasks  task, '["workers.tasks.learn_site", 100]'
--   cc:learn:tries   losses so far   cc:learn:aside  re-cleaning task that learning interrupted
--   cc:learn:asked   records at the last learning; for the other hashes see storage/queue/jobs.py
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
