-- The seen set of a crawl, and offering URLs to its frontier; after lib.lua.

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
  return tonumber(redis.call('HGET', 'cc:c:' .. crawl, 'seen_buckets') or FIRST_BUCKETS)
end

-- Splits buckets of a crawl's set of fingerprints until they hold members_count members; stores the number
-- of buckets in the crawl's field 'field' (seen_buckets).
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
-- entries.py packed (url, depth, how it was found); shared/serve.lua reads it.
local ROLE_LETTERS = { page = 'p', sitemap = 's', image = 'i' }

local function pending_entry(pid, role, stamp, packed)
  local sub = string.sub
  local a, b = tonumber(sub(pid, 1, 8), 16), tonumber(sub(pid, 9, 16), 16)
  local c, d = tonumber(sub(pid, 17, 24), 16), tonumber(sub(pid, 25, 32), 16)
  return struct.pack('>I4I4I4I4', a, b, c, d) .. (ROLE_LETTERS[role] or 'p') .. stamp .. packed
end

-- Offers URLs; returns how many are new, and a list of 1 (new) or 0 for each. From values[first] on
-- there are six values a URL: host, fingerprint, page id, role, rank, packed entry; at: their time of
-- discovery by the server's clock, ms. A URL costs one command, a host a few: a page has some 150 links.
local function offer(crawl, values, first, at)
  local hosts, found, marks, added, images, stamp = {}, {}, {}, 0, 0, struct.pack('>I6', at)
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
  grow_buckets(crawl, 'cc:seen:', 'seen_buckets', seq + added, buckets)
  local topical = is_topic(crawl)
  for _, host in ipairs(hosts) do
    local new, best = found[host], math.huge
    for i = 1, #new, 2 do
      best = math.min(best, new[i])
      new[i] = string.format('%.0f', new[i] + seq)
    end
    for i = 1, #new, 1000 do
      redis.call('ZADD', 'cc:q:' .. crawl .. ':' .. host, unpack(new, i, math.min(i + 999, #new)))
    end
    redis.call('SADD', 'cc:h:' .. crawl, host)
    if topical then
      welcome(crawl, host, rank_of(best))
    else
      join_group(crawl, host)
    end
  end
  count(crawl, 'pending', added, 'images', images)
  return added, marks
end
