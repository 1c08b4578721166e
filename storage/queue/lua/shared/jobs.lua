-- Batches of fetched pages and the jobs that workers take; after lib.lua.

local function new_job(crawl, host, ids, t)
  local job = 'j' .. redis.call('INCR', 'cc:jobseq')
  redis.call('HSET', 'cc:j:' .. job, 'crawl', crawl, 'host', host, 'ids', table.concat(ids, ' '))
  redis.call('ZADD', 'cc:jobs', t, job)
  for _, pid in ipairs(ids) do
    redis.call('HSET', page_key(crawl, pid), 'job', job)
  end
  return job
end

-- Turns a host's open batch into one job; '' when there is none.
local function flush(crawl, host, t)
  local batch = 'cc:b:' .. crawl .. ':' .. host
  local member = crawl .. ' ' .. host
  local ids, bytes = redis.call('LRANGE', batch, 0, -1), redis.call('HGET', 'cc:bb', member)
  redis.call('DEL', batch)
  redis.call('ZREM', 'cc:bt', member)
  redis.call('HDEL', 'cc:bb', member)
  if #ids == 0 then
    return ''
  end
  local job = new_job(crawl, host, ids, t)
  redis.call('HSET', 'cc:j:' .. job, 'pages', #ids, 'bytes', bytes or 0)
  redis.call('HSET', 'cc:bj', member, job)
  return job
end

-- Adds a page to the host's job that waits for a worker; false when there is none with room (ADR 11).
-- Otherwise every page of a host with pauses would be a separate job, and late workers would fall further
-- behind.
local function join_job(crawl, host, pid, bytes, most_pages, most_bytes)
  local member = crawl .. ' ' .. host
  local job = redis.call('HGET', 'cc:bj', member)
  if not job then
    return false
  end
  local key = 'cc:j:' .. job
  local j = redis.call('HMGET', key, 'ids', 'pages', 'bytes')
  if not j[1] or tonumber(j[2]) >= most_pages or tonumber(j[3]) + bytes > most_bytes then
    redis.call('HDEL', 'cc:bj', member)
    return false
  end
  redis.call('HSET', key, 'ids', j[1] .. ' ' .. pid, 'pages', j[2] + 1, 'bytes', string.format('%.0f', j[3] + bytes))
  redis.call('HSET', page_key(crawl, pid), 'job', job)
  return true
end
