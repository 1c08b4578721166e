-- What ended pages of a host brought, and which classes of URLs that stops or lifts.
-- ARGV: crawl, host, limit of barren pages in a row, then four values a page:
--   its text ('' = it says nothing): a fingerprint, and after a space the bare one of a thin page;
--   its marks: fingerprints of its own address, of the address it was found on, and of its path with
--     its text, with '+' (kept: the path has no query) or '?' (looked up) before it;
--   its patterns (tab between): its class, then its groups;
--   patterns of the URLs of other classes that were new (a URL a line); a line '=': of its own.
-- Returns pattern, why, ... of what is stopped by this call.
--
-- A page that says what was said before, and leads to no new URL of another class that is alive, is
-- barren when it makes more of its kind: it brought new URLs, or was found on a page that said
-- nothing new itself, or is another query to a path that says the same without. What is found on a
-- page with news and leads nowhere is finite: it neither counts nor ends the row. A thin page counts
-- a quarter, for it may be like others by design.
-- A pattern's state: pages, those that brought something, barren ones in a row in quarters, those
-- without new text in a row in quarters.
local crawl, host, limit = ARGV[1], ARGV[2], 4 * tonumber(ARGV[3])
local states, stopped = 'cc:k:' .. crawl .. ':' .. host, 'cc:ts:' .. crawl .. ':' .. host
if redis.call('EXISTS', 'cc:c:' .. crawl) == 0 then
  return {}
end
-- A group holds what its classes bring together: it is stopped later, and only when next to nothing
-- ever came from it.
local GROUP_ROWS, GROUP_SHARE = 4, 0.05
local MOST_CLASSES, MOST_PATTERNS = 1000, 1500

local kept, held = {}, redis.call('HLEN', states)
local function state_of(pattern, is_class)
  local s = kept[pattern]
  if s == nil then
    local packed = redis.call('HGET', states, pattern)
    if packed then
      local pages, novel, row, dull = string.match(packed, '^(%d+) (%d+) (%d+) (%d+)$')
      s = { pages = tonumber(pages), novel = tonumber(novel), row = tonumber(row), dull = tonumber(dull) }
    elseif held < (is_class and MOST_CLASSES or MOST_PATTERNS) then
      held = held + 1
      s = { pages = 0, novel = 0, row = 0, dull = 0 }
    else
      s = false
    end
    kept[pattern] = s
  end
  return s
end

local function split(text, separator)
  local parts = {}
  for part in string.gmatch(text, '[^' .. separator .. ']+') do
    parts[#parts + 1] = part
  end
  return parts
end

local buckets, texts = tonumber(redis.call('HGET', 'cc:c:' .. crawl, 'text_buckets') or FIRST_BUCKETS), 0
local full = full_of(buckets)
local function bucket_key(fingerprint)
  return 'cc:tx:' .. crawl .. ':' .. bucket_of(fingerprint, buckets, full)
end

local function is_new(fingerprint)
  local added = redis.call('SADD', bucket_key(fingerprint), fingerprint)
  texts = texts + added
  return added == 1
end

local function is_known(fingerprint)
  return redis.call('SISMEMBER', bucket_key(fingerprint), fingerprint) == 1
end

-- (whether a page says something new, how much it counts if not)
local function read_text(text)
  local whole, bare = string.match(text, '^(%S+) ?(%S*)$')
  if not whole then
    return false, 1
  end
  local new = is_new(whole)
  if bare ~= '' then
    return is_new(bare) and new, 1
  end
  return new, 4
end

-- Whether a new URL is worth something: its class still says something new, and is not stopped.
local function is_alive(patterns)
  local class = kept[patterns[1]]
  if class == nil then
    local packed = redis.call('HGET', states, patterns[1])
    class = packed and { dull = tonumber(string.match(packed, '%d+$')) }
  end
  if class and class.dull >= limit then
    return false
  end
  for _, pattern in ipairs(patterns) do
    if redis.call('HEXISTS', stopped, pattern) == 1 then
      return false
    end
  end
  return true
end

local function leads_out(pattern, targets)
  for _, target in ipairs(targets) do
    local inside = false
    for _, one in ipairs(target) do
      inside = inside or one == pattern
    end
    if not inside then
      return true
    end
  end
  return false
end

local news, changed = {}, false
for i = 4, #ARGV, 4 do
  local new_text, weight = read_text(ARGV[i])
  local own, finder, kind, variant = string.match(ARGV[i + 1], '^(%S+) (%S+) ([+?])(%S+)$')
  local targets, multiplies = {}, ARGV[i + 3] ~= ''
  if kind == '+' then
    is_new(variant)
  end
  if not new_text then
    is_new(own)
    multiplies = multiplies or is_known(finder) or kind == '?' and is_known(variant)
    for _, line in ipairs(split(ARGV[i + 3], '\n')) do
      local patterns = split(line, '\t')
      if patterns[1] ~= '=' and is_alive(patterns) then
        targets[#targets + 1] = patterns
      end
    end
  end
  for n, pattern in ipairs(split(ARGV[i + 2], '\t')) do
    local s = state_of(pattern, n == 1)
    if s then
      s.pages, s.touched = s.pages + 1, true
      s.dull = new_text and 0 or s.dull + weight
      if new_text or leads_out(pattern, targets) then
        s.novel, s.row = s.novel + 1, 0
        if redis.call('HDEL', stopped, pattern) == 1 then
          changed = true
        end
      elseif multiplies then
        s.row = s.row + weight
        local is_over = s.row >= limit
        if n > 1 then
          is_over = s.row >= limit * GROUP_ROWS and s.novel <= s.pages * GROUP_SHARE
        end
        local why = 'brought nothing new for long: ' .. s.novel .. ' of ' .. s.pages .. ' pages did'
        if is_over and redis.call('HSETNX', stopped, pattern, why) == 1 then
          changed = true
          news[#news + 1] = pattern
          news[#news + 1] = why
        end
      end
    end
  end
end

for pattern, s in pairs(kept) do
  if s and s.touched then
    redis.call('HSET', states, pattern, string.format('%d %d %d %d', s.pages, s.novel, s.row, s.dull))
  end
end
if texts > 0 then
  local all = redis.call('HINCRBY', 'cc:c:' .. crawl, 'texts', texts)
  grow_buckets(crawl, 'cc:tx:', 'text_buckets', all, buckets)
end
if changed then
  redis.call('HINCRBY', 'cc:g:' .. host, 'stopped_version', 1)
end
return news
