-- Reads why hosts are not asked at this moment; changes nothing. ARGV: crawl, host, crawl, host, ...
-- Returns {now ms, spiders alive, pages in flight, bytes in flight, what holds all leasing back, row...};
-- what holds back: words of pages, bytes (more in flight than permitted), memory, disk, separated by spaces.
-- A row: {reason (WaitReason in waits.py), until ms or 0, pause ms of the host, URLs that wait in memory,
-- requests under way at the host}, in the order of ARGV.
local t = now()
local MORE = { 'wait_until', 'clock_by' } -- fields of cc:g:<host> that HOST lacks

-- The pause of a host in ms, its component (delay, slowed, crawl_delay, slow_answers) and the slots, of all crawls
-- with work there.
local function pause_of(host, g)
  local asked, smoothed = tonumber(g.crawl_delay) or 0, tonumber(g.smoothed_ms) or 0
  local pause, by, slots = 0, 'delay', math.huge
  for _, crawl in ipairs(redis.call('ZRANGE', 'cc:gc:' .. host, 0, -1)) do
    local c = read('cc:c:' .. crawl, CRAWL)
    if c.state == 'running' then
      local p, s = policy(c, host, asked, smoothed, g.slowed)
      slots = math.min(slots, s)
      if p > pause then
        local own = policy(c, host, 0, 0)
        pause = p
        by = p > math.max(own, asked) and 'slow_answers' or asked > own and 'crawl_delay' or 'delay'
        by = p > policy(c, host, asked, smoothed) and 'slowed' or by
      end
    end
  end
  if g.slots and slots > 1 then
    slots = math.min(slots, math.max(1, math.floor(tonumber(g.slots))))
  end
  return { ms = pause, by = by, slots = g.unconnected and 1 or slots }
end

-- Why the clock of a host is in the future.
local CAUSES = { slow_down = 'slow_down', error = 'robots', none = 'away' }

-- Why a crawl leases nothing at any host; nil: the crawl leases.
local function held_by_crawl(c)
  local is_spent = c.max and c.max ~= '' and (tonumber(c.used) or 0) >= tonumber(c.max)
  if is_spent and (tonumber(c.images) or 0) <= 0 then
    return 'limit'
  elseif c.state ~= 'running' then
    return c.state == 'paused' and 'crawl_paused' or 'crawl_stopped'
  end
end

-- Returns the reason and until when, ms; 0: not known. waiting: URLs of the host in memory, by queue.
local function reason_of(crawl, host, c, g, pause, waiting)
  local clock, held = tonumber(g.clock) or 0, tonumber(g.held) or 0
  local rested = (tonumber(g.answer_ended) or 0) + pause.ms
  local by_crawl = held_by_crawl(c)
  if by_crawl == 'limit' and waiting.revisit > 0 then
    by_crawl = nil -- the budget does not hold revisits back
  end
  if by_crawl or g.paused then
    return by_crawl or 'paused', 0
  elseif (tonumber(g.next_probe) or 0) > t then
    return 'gone', tonumber(g.next_probe)
  elseif clock > t then
    local is_away = (tonumber(g.wait_until) or 0) > t
    return is_away and 'away' or CAUSES[g.clock_by or ''] or pause.by, clock
  elseif waiting.pending + waiting.retry + waiting.revisit == 0 then
    return 'in_store', 0
  elseif held > 0 and (held >= pause.slots or g.robots_leased) then
    return 'in_flight', 0
  elseif rested > t then
    return pause.by, rested
  end
  local free_at = g.address and address_free_at(g.address, pause.ms, pause.slots)
  if g.address and (not free_at or free_at > t) then
    return 'address', free_at or 0
  end
  local due = tonumber(redis.call('ZRANGE', 'cc:r:' .. crawl .. ':' .. host, 0, 0, 'WITHSCORES')[2])
  if waiting.pending + waiting.revisit == 0 and due and due > t then
    return 'retry', due
  end
  return redis.call('ZSCORE', 'cc:due:' .. crawl, host) and 'rank' or 'ready', 0
end

local function row_of(crawl, host)
  local c, g = read('cc:c:' .. crawl, CRAWL), read('cc:g:' .. host, HOST)
  local more = read('cc:g:' .. host, MORE)
  g.wait_until, g.clock_by = more.wait_until, more.clock_by
  local at = crawl .. ':' .. host
  local waiting = { pending = redis.call('ZCARD', 'cc:q:' .. at), retry = redis.call('ZCARD', 'cc:r:' .. at),
    revisit = c.fresh == '1' and redis.call('ZCARD', 'cc:v:' .. at) or 0 }
  local in_memory, held = waiting.pending + waiting.retry + waiting.revisit, tonumber(g.held) or 0
  if not c.state or in_memory == 0 and redis.call('EXISTS', 'cc:t:' .. at) == 0 then
    return { 'nothing_left', '0', '0', 0, held }
  end
  local pause = pause_of(host, g)
  local reason, till = reason_of(crawl, host, c, g, pause, waiting)
  return { reason, whole(till), whole(pause.ms), in_memory, held }
end

local flight = redis.call('HMGET', 'cc:flight', 'pages', 'bytes', 'memory', 'disk')
local held_back = { redis.call('GET', 'cc:full') or '', flight[3] and 'memory' or '', flight[4] and 'disk' or '' }
local out = { whole(t), redis.call('ZCOUNT', 'cc:spiders', '(' .. whole(t), '+inf'), flight[1] or 0, flight[2] or 0,
  table.concat(held_back, ' ') }
for i = 1, #ARGV, 2 do
  out[#out + 1] = row_of(ARGV[i], ARGV[i + 1])
end
return out
