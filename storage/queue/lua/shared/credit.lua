-- The credit of a topic crawl's hosts: a host begins with 8 pages, a relevant page gives 4 and each page takes 1. At 0,
-- or after 30 misses in a row, the host sleeps for 6 hours, then 12, at most 14 days. A part of ack.lua, after topics.
local FIRST_CREDIT, FOR_RELEVANT, MOST_CREDIT = 8, 4, 40 -- pages
local MOST_MISSES = 30 -- in a row: credit of better days does not pay for a host that has run dry
local FIRST_SLEEP_MS, LONGEST_SLEEP_MS = 6 * 3600000, 14 * 86400000
local SHARE, LEAST_PAGES = 10, 50 -- a domain of several hosts has a tenth of the pages, once there are 50
local SHARE_SLEEP_MS = 600000
-- Records without a relevant one among them after which a crawl calls no sleeping host: a third of its records, at
-- least 50. The longest such run before 30 % of the pages was 178 at 905 (make bench-topic, sec), a fifth.
local DRY, LEAST_DRY, MOST_DRY = 3, 50, 1000

-- Counts pages of a host that a topic crawl has judged, relevant ones among them (reprints do not count), records among
-- them (the others could not be had); domain: the host's registered domain.
local function credit_host(crawl, host, domain, pages, relevant, records)
  if not is_topic(crawl) then
    return
  end
  local key, t = 'cc:cr:' .. crawl .. ':' .. host, now()
  local u = redis.call('HMGET', key, 'credit', 'misses', 'sleeps', 'called')
  local credit = math.min(MOST_CREDIT, (tonumber(u[1]) or FIRST_CREDIT) + FOR_RELEVANT * relevant - pages)
  local misses = relevant > 0 and 0 or (tonumber(u[2]) or 0) + pages
  local sleeps = relevant > 0 and 0 or tonumber(u[3]) or 0
  local c = 'cc:c:' .. crawl
  local all_records = redis.call('HINCRBY', c, 'judged', records)
  local dry = relevant > 0 and 0 or (tonumber(redis.call('HGET', c, 'dry')) or 0) + records
  local is_dry = dry >= math.min(MOST_DRY, math.max(LEAST_DRY, all_records / DRY))
  -- A crawl with a budget of pages spends it: its user has said when it is enough.
  if (redis.call('HGET', c, 'max') or '') ~= '' then
    is_dry = false
  end
  redis.call('HSET', c, 'dry', dry, 'is_dry', is_dry and '1' or '')
  redis.call('HINCRBY', key, 'judged_pages', pages)
  redis.call('HINCRBY', key, 'relevant', relevant)

  -- A domain that is not better than the others together keeps to its share: hosts cost a link farm nothing.
  local function add(field)
    local f, r = string.match(redis.call('HGET', 'cc:df:' .. crawl, field) or '', '^(%d+) (%d+)$')
    f, r = (f or 0) + pages, (r or 0) + relevant
    redis.call('HSET', 'cc:df:' .. crawl, field, f .. ' ' .. r)
    return f, r
  end
  local all, all_relevant = add('.')
  local own, own_relevant = add(domain)
  local others = all - own
  local hosts = tonumber(redis.call('HGET', 'cc:dn:' .. crawl, domain) or '')
  local over = hosts ~= 1 and all >= LEAST_PAGES and others > 0 and own * SHARE > all
    and own_relevant * others <= own * (all_relevant - own_relevant)

  -- Pages that were in flight when the host fell asleep let it sleep neither longer nor again.
  if is_asleep(crawl, host) then
    redis.call('HSET', key, 'credit', credit, 'misses', misses, 'sleeps', sleeps)
    if relevant > 0 and credit > 0 then
      wake_host(crawl, host)
    end
    return
  end

  -- Images of its relevant pages, or seeds, keep a host awake: they are few, and requested first.
  local first = redis.call('ZRANGE', 'cc:q:' .. crawl .. ':' .. host, 0, 0, 'WITHSCORES')[2]
  local may_sleep = not (first and rank_of(first) < LEAST_RANK)
  local wakes_at = 0
  if may_sleep and (credit <= 0 or misses >= MOST_MISSES) then
    if u[4] then -- the nap that the call broke off goes on
      sleeps = math.max(0, sleeps - 1)
      redis.call('HDEL', key, 'called')
    end
    wakes_at = t + math.min(FIRST_SLEEP_MS * 2 ^ sleeps, LONGEST_SLEEP_MS)
    sleeps = sleeps + 1
  elseif may_sleep and over then
    wakes_at = t + SHARE_SLEEP_MS
  end
  redis.call('HSET', key, 'credit', credit, 'misses', misses, 'sleeps', sleeps)
  if wakes_at > 0 then
    put_to_sleep(crawl, host, wakes_at, not over)
  end
end
