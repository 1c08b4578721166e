-- Shared by every script (prepended when it is loaded). Names the keys and holds the few moves
-- that several scripts make. A page's states: leased -> queued -> claimed -> (gone);
-- 'retry' is a pending URL that already has a history.
--
-- cc:c:<crawl>            hash  spec, state, limits, counters        cc:crawls  set of crawl ids
-- cc:h:<crawl>            set   hosts seen                           cc:bg:<crawl>  hosts held back by the budget
-- cc:seen:<crawl>:<n>     set   intset of fingerprints, bucket n of the crawl's sb
-- cc:tx:<crawl>:<n>       set   intset of fingerprints of what pages say, bucket n of the crawl's tb
-- cc:k:<crawl>:<host>     hash  class of URLs -> what it brought (weigh.lua)
-- cc:ts:<crawl>:<host>    hash  stopped class -> why; the host's tv counts the changes
--                               =template: refused class, +template: followed inside one
-- cc:u:<crawl>:<host>     hash  pages ended, rules of the URL classes   cc:up:<host>  hash template -> what operators said
-- cc:q:<crawl>:<host>     zset  pending entries by rank and order    cc:r:<crawl>:<host>  zset page id -> due
-- cc:t:<crawl>:<host>     zset  parcels in the store by least rank: the tail of the host's queue
-- cc:tn:<crawl>           hash  parcel -> URLs                       cc:th:<crawl>  set of hosts with a tail
-- cc:cuts                 hash  parcel -> "crawl host", not yet stored   cc:cut:<parcel>  its entries
-- cc:tg                   zset  parcel -> came back at; the store forgets it
-- cc:p:<crawl>:<page id>  hash  a URL that is leased, queued, claimed or waits for a retry
-- cc:g:<host>             hash  clock, held slots, robots            cc:gc:<host>  zset crawl -> last served
-- cc:ready                zset  host -> earliest next request         cc:i:, cc:ir:  politeness.lua
-- cc:spiders              zset  session -> alive until               cc:l:<session>  set of "crawl page_id"
-- cc:b:<crawl>:<host>     list  pages waiting for companions         cc:bt, cc:bb  opened at, bytes
-- cc:bj                   hash  "crawl host" -> job of a batch that no worker has yet: it takes more pages
-- cc:x:<crawl>            set   hosts its seeds redirect to           cc:sm:<crawl>  hosts whose sitemaps were offered
-- cc:flight               hash  pages and bytes in flight; memory, disk (set: running out)
-- cc:nr:<crawl>:<host>    key   this crawl may not ask the host for robots.txt (a private address)
-- cc:j:<job>              hash  crawl, host, ids, mark, worker       cc:jobs, cc:claims  zset job -> time
-- cc:learn, cc:learn:*    hosts that are learned (learn.lua)

local function now()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- Counts only for a crawl that exists: a purged one must not come back as a lone counter.
local function count(crawl, field, by)
  local key = 'cc:c:' .. crawl
  if redis.call('EXISTS', key) == 1 then
    redis.call('HINCRBY', key, field, by)
  end
end

-- A crawl is finished when none of its URLs is left, or none that its budget allows: images of pages
-- that are stored are no part of it.
local function settle(crawl)
  local c = redis.call('HMGET', 'cc:c:' .. crawl, 'state', 'pending', 'leased', 'queued', 'max', 'used', 'images')
  if c[1] ~= 'running' or (tonumber(c[3]) or 0) + (tonumber(c[4]) or 0) > 0 then
    return
  end
  local max = tonumber(c[5] or '')
  local is_spent = max and (tonumber(c[6]) or 0) >= max and (tonumber(c[7]) or 0) == 0
  if (tonumber(c[2]) or 0) == 0 or is_spent then
    redis.call('HSET', 'cc:c:' .. crawl, 'state', 'finished')
  end
end

local function page_key(crawl, pid)
  return 'cc:p:' .. crawl .. ':' .. pid
end

-- One line of a page's decision log: milliseconds, step, detail.
local function log_line(t, step, detail)
  return string.format('%.0f\t%s\t%s\n', t, step, detail or '')
end

local LOG_LIMIT = 8192

local function append_log(key, line)
  local log = redis.call('HGET', key, 'lg') or ''
  if #log < LOG_LIMIT then
    redis.call('HSET', key, 'lg', log .. line)
  end
end

local function join_group(crawl, host)
  redis.call('ZADD', 'cc:gc:' .. host, 'NX', 0, crawl)
  touch(host)
end

local function wake()
  redis.call('PUBLISH', 'cc:wake', '1')
end

-- A page's budget comes back when it gave no record; hosts held back by it are looked at again.
local function refund(crawl)
  count(crawl, 'used', -1)
  for _, host in ipairs(redis.call('SPOP', 'cc:bg:' .. crawl, 16)) do
    join_group(crawl, host)
  end
  wake()
end

-- leased -> retry: the URL waits until due, with its history.
local function back_to_pending(crawl, pid, t, due)
  local key = page_key(crawl, pid)
  local p = redis.call('HMGET', key, 'h', 'sp', 'ro', 'at')
  local host = p[1]
  redis.call('HSET', key, 's', 'retry')
  redis.call('SREM', 'cc:l:' .. p[2], crawl .. ' ' .. pid)
  count(crawl, 'leased', -1)
  count(crawl, 'pending', 1)
  redis.call('ZADD', 'cc:r:' .. crawl .. ':' .. host, due, pid)
  redis.call('ZADD', 'cc:gc:' .. host, 'NX', 0, crawl)
  if p[3] == 'page' then
    refund(crawl)
  elseif p[3] == 'image' then
    count(crawl, 'images', 1)
  end
end

-- The robots.txt of a host is nobody's page: its lease ends without a trace but the attempt.
local function drop_robots_lease(crawl, pid, host)
  local key = page_key(crawl, pid)
  redis.call('SREM', 'cc:l:' .. (redis.call('HGET', key, 'sp') or ''), crawl .. ' ' .. pid)
  redis.call('DEL', key)
  redis.call('HDEL', 'cc:g:' .. host, 'rb')
  count(crawl, 'leased', -1)
  settle(crawl)
end

-- How many of a list's entries, at every second place from 'first' on, are images.
local function images_among(list, first)
  local n = 0
  for i = first, #list, 2 do
    n = n + (string.sub(list[i], 17, 17) == 'i' and 1 or 0)
  end
  return n
end

local function new_job(crawl, host, ids, t)
  local job = 'j' .. redis.call('INCR', 'cc:jobseq')
  redis.call('HSET', 'cc:j:' .. job, 'c', crawl, 'h', host, 'ids', table.concat(ids, ' '))
  redis.call('ZADD', 'cc:jobs', t, job)
  for _, pid in ipairs(ids) do
    redis.call('HSET', page_key(crawl, pid), 'j', job)
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
  redis.call('HSET', 'cc:j:' .. job, 'n', #ids, 'by', bytes or 0)
  redis.call('HSET', 'cc:bj', member, job)
  return job
end

-- Adds a page to the host's job that waits for a worker; false when there is none with room. Under
-- clocks every page would else be a job of its own, and workers that are behind fall further behind.
local function join_job(crawl, host, pid, bytes, most_pages, most_bytes)
  local member = crawl .. ' ' .. host
  local job = redis.call('HGET', 'cc:bj', member)
  if not job then
    return false
  end
  local key = 'cc:j:' .. job
  local j = redis.call('HMGET', key, 'ids', 'n', 'by')
  if not j[1] or tonumber(j[2]) >= most_pages or tonumber(j[3]) + bytes > most_bytes then
    redis.call('HDEL', 'cc:bj', member)
    return false
  end
  redis.call('HSET', key, 'ids', j[1] .. ' ' .. pid, 'n', j[2] + 1, 'by', string.format('%.0f', j[3] + bytes))
  redis.call('HSET', page_key(crawl, pid), 'j', job)
  return true
end

-- The seen set: 64-bit fingerprints in buckets that stay integer sets (a server's limit is 512) and
-- hold 160 on average, so that a small crawl has few keys and a large one about 9 bytes a URL. It
-- grows by linear hashing: every 160 new URLs one bucket is split in two, and no URL waits for a
-- rehash. A fingerprint is a signed decimal string, Lua would round the number; its last digits
-- choose the bucket: a power of two is 'full' when every bucket below it is split. A crawl begins
-- with enough buckets for its first offer of 1,000.
local SEEN_LOAD, FIRST_BUCKETS = 160, 16

local function full_of(buckets)
  local full = 1
  while full * 2 <= buckets do
    full = full * 2
  end
  return full
end

local function bucket_of(fingerprint, buckets, full)
  local n = string.sub(fingerprint, -9) % (full * 2)
  return n < buckets and n or n - full
end

local function seen_buckets(crawl)
  return tonumber(redis.call('HGET', 'cc:c:' .. crawl, 'sb') or FIRST_BUCKETS)
end

-- Splits buckets of a crawl's set of fingerprints until there are enough for so many members;
-- field of the crawl keeps how many there are.
local function grow_buckets(crawl, prefix, field, members_count, buckets)
  local before, name = buckets, prefix .. crawl .. ':'
  while buckets * SEEN_LOAD < members_count do
    local full = full_of(buckets)
    local old = name .. (buckets - full)
    local members, moved, sub, double = redis.call('SMEMBERS', old), {}, string.sub, full * 2
    for i = 1, #members do
      if sub(members[i], -9) % double == buckets then
        moved[#moved + 1] = members[i]
      end
    end
    for i = 1, #moved, 1000 do
      redis.call('SADD', name .. buckets, unpack(moved, i, math.min(i + 999, #moved)))
      redis.call('SREM', old, unpack(moved, i, math.min(i + 999, #moved)))
    end
    buckets = buckets + 1
  end
  if buckets > before then
    redis.call('HSET', 'cc:c:' .. crawl, field, buckets)
  end
end

-- A pending entry: 16 bytes of page id, 'p', 's' or 'i' for its role, 6 bytes of milliseconds, and what
-- entries.py packed (url, depth, how it was found); lease.lua reads it.
local ROLE_LETTERS = { page = 'p', sitemap = 's', image = 'i' }

local function pending_entry(pid, role, stamp, packed)
  local sub = string.sub
  local a, b = tonumber(sub(pid, 1, 8), 16), tonumber(sub(pid, 9, 16), 16)
  local c, d = tonumber(sub(pid, 17, 24), 16), tonumber(sub(pid, 25, 32), 16)
  return struct.pack('>I4I4I4I4', a, b, c, d) .. (ROLE_LETTERS[role] or 'p') .. stamp .. packed
end

-- Scores of the images that wait: their rank is no one else's (storage/store/images.py).
local IMAGES_FROM, IMAGES_TO = '1000000000000', '(2000000000000'

-- Offers URLs; returns how many are new, and a list of 1 (new) or 0 for each. From values[first] on
-- there are six values a URL: host, fingerprint, page id, role, rank, packed entry. A URL costs one
-- command, a host a few: a page has some 150 links.
local function offer(crawl, values, first, t)
  local hosts, found, marks, added, images, stamp = {}, {}, {}, 0, 0, struct.pack('>I6', t)
  local buckets = seen_buckets(crawl)
  local full = full_of(buckets)
  for i = first, #values, 6 do
    local seen = 'cc:seen:' .. crawl .. ':' .. bucket_of(values[i + 1], buckets, full)
    local is_new = redis.call('SADD', seen, values[i + 1])
    marks[#marks + 1] = is_new
    if is_new == 1 then
      local host = values[i]
      local new = found[host]
      if not new then
        new = {}
        found[host] = new
        hosts[#hosts + 1] = host
      end
      new[#new + 1] = tonumber(values[i + 4]) * 1e12 + added
      new[#new + 1] = pending_entry(values[i + 2], values[i + 3], stamp, values[i + 5])
      added = added + 1
      images = images + (values[i + 3] == 'image' and 1 or 0)
    end
  end
  if added == 0 then
    return 0, marks
  end
  local seq = redis.call('HINCRBY', 'cc:c:' .. crawl, 'seq', added) - added
  grow_buckets(crawl, 'cc:seen:', 'sb', seq + added, buckets)
  for _, host in ipairs(hosts) do
    local new = found[host]
    for i = 1, #new, 2 do
      new[i] = string.format('%.0f', new[i] + seq)
    end
    for i = 1, #new, 1000 do
      redis.call('ZADD', 'cc:q:' .. crawl .. ':' .. host, unpack(new, i, math.min(i + 999, #new)))
    end
    redis.call('SADD', 'cc:h:' .. crawl, host)
    join_group(crawl, host)
  end
  count(crawl, 'pending', added)
  if images > 0 then
    count(crawl, 'images', images)
  end
  return added, marks
end
