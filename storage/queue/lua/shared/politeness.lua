-- Politeness: how long a host is left alone and how many requests it gets at a time. Prepended to
-- every script, before lib.lua, which names the keys and fields.
--
-- A crawl's field hosts: a line for each exception, newlines at both ends: host or *.domain, delay ms or -,
-- slots or -; "\n*.example.com 2500 -\nforum.example.com - 2\n".

local HOST_TTL_S = 172800 -- longer than robots rules are valid; renewed by every answer
-- The clock cuts to whole milliseconds, and a host may log the end of its answer after we have read the answer.
local END_MARGIN_MS = 5
local LONGEST_PAUSE_MS = 30000 -- that slow answers alone may cause
local SMOOTHING = 0.25
local SLOW_MS, SLOW_TIMES = 1000, 4 -- slower than both: too many requests at a time
local REFUSAL_SMOOTHING, REFUSALS = 0.125, 0.2 -- reached by two close refusals; a single one may be the page's

-- A crawl's exceptions for a host: delay ms and slots, each or nil. The most specific pattern wins.
local function exception(lines, host)
  local name = string.gsub(host, ':%d+$', '')
  local names, rest = { host, name }, name
  while rest do
    names[#names + 1] = '*.' .. rest
    rest = string.match(rest, '^[^.]*%.(.+)$')
  end
  local delay, slots
  for _, each in ipairs(names) do
    local _, found = string.find(lines, '\n' .. each .. ' ', 1, true)
    if found then
      local d, s = string.match(lines, '^(%S+) (%S+)\n', found + 1)
      delay, slots = delay or tonumber(d), slots or tonumber(s)
    end
  end
  return delay, slots
end

local function is_loopback(host)
  local name = string.gsub(host, ':%d+$', '')
  return string.match(name, '^127%.%d+%.%d+%.%d+$') or name == 'localhost' or name == '[::1]'
end

-- The policy of a crawl at a host: pause between a response and the next request (ms), slots.
-- c: its delay, slots, factor and exceptions; asked: robots.txt's Crawl-delay, ms;
-- smoothed: the host's smoothed response time, ms; slowed: the host's field, "5000 -", or nil. The longest of the
-- pauses wins, and the fewest slots.
local function policy(c, host, asked, smoothed, slowed)
  local own, slots = tonumber(c.delay) or 1000, tonumber(c.slots) or 1
  local own_slots
  if c.hosts and c.hosts ~= '' then
    local delay
    delay, own_slots = exception(c.hosts, host)
    own = delay or own
  end
  if own < 0 then
    own = is_loopback(host) and 0 or 1000
  end
  local least, most = string.match(slowed or '', '^(%S+) (%S+)$')
  own = math.max(own, tonumber(least) or 0)
  local pause = math.max(own, asked)
  if own > 0 then
    local slow = (tonumber(c.factor) or 0) * smoothed
    pause = math.max(pause, math.floor(math.min(slow, LONGEST_PAUSE_MS)))
  end
  if asked == 0 and own_slots then
    slots = own_slots
  elseif pause > 0 then
    slots = 1
  end
  return pause, math.min(slots, tonumber(most) or slots)
end

local POLICY = { 'delay', 'slots', 'factor', 'hosts' }

local function policy_of(crawl, host, asked, smoothed, slowed)
  local c = redis.call('HMGET', 'cc:c:' .. crawl, unpack(POLICY))
  return policy({ delay = c[1], slots = c[2], factor = c[3], hosts = c[4] or nil }, host, asked, smoothed, slowed)
end

-- The machine of a spider's session or of a process: both names begin with it.
local function machine_of(name)
  return string.match(name, '^[^.]*')
end

-- Calls visit(machine, until) for each entry of a host's field unable, "web1 1700000000000;web2 1700000000000;".
local function each_unable(unable, visit)
  for machine, till in string.gmatch(unable or '', '([^; ]+) (%d+);') do
    visit(machine, tonumber(till))
  end
end

local function whole(n)
  return string.format('%.0f', n)
end

-- Makes a host visible to lease.lua, because the host may have work and a free slot. lease.lua removes a host
-- without them, so a needless call costs one read.
local function show(host, clock, ip)
  if not ip then
    redis.call('ZADD', 'cc:ready', clock, host)
    return
  end
  redis.call('ZADD', 'cc:ir:' .. ip, clock, host)
  local at = math.max(clock, tonumber(redis.call('HGET', 'cc:i:' .. ip, 'clock')) or 0)
  local known = tonumber(redis.call('ZSCORE', 'cc:ready', '@' .. ip))
  if not known or known > at then
    redis.call('ZADD', 'cc:ready', at, '@' .. ip)
  end
end

local function touch(host)
  local g = redis.call('HMGET', 'cc:g:' .. host, 'clock', 'address')
  show(host, tonumber(g[1]) or 0, g[2])
end

-- Gives a slot of an address back; its clock restarts unless no request was made.
local function release_address(ip, t, pause, unasked)
  local key = 'cc:i:' .. ip
  local i = redis.call('HMGET', key, 'held', 'clock')
  local held = math.max(0, (tonumber(i[1]) or 0) - 1)
  if unasked then
    redis.call('HSET', key, 'held', held)
  else
    local clock = math.max(tonumber(i[2]) or 0, t + pause)
    redis.call('HSET', key, 'held', held, 'clock', whole(clock), 'answer_ended', whole(t))
  end
  redis.call('EXPIRE', key, HOST_TTL_S)
end

local GOOD = 10 -- answers in a row, or as many as requests had failed, end a trouble
local TROUBLE_MS = 86400000 -- so long a trouble that nobody ends is remembered

-- Notes how requests to a host fail: field trouble, and the time of the newest failure in cc:troubled. 429, 503 and
-- no answer are one row; other errors make one only where there is none of these. why: the last failure, as logged.
local function note_trouble(host, t, known, outcome, why)
  local key = 'cc:g:' .. host
  local kind, since, n, good, said = string.match(known or '', '^(%S+) (%d+) (%d+) (%d+) (.*)$')
  if outcome == 'answered' then
    if not kind or good + 1 >= math.min(GOOD, tonumber(n)) then
      redis.call('HDEL', key, 'trouble')
      redis.call('ZREM', 'cc:troubled', host)
    else
      redis.call('HSET', key, 'trouble', table.concat({ kind, since, n, good + 1, said }, ' '))
    end
    return
  elseif kind and kind ~= 'error' and outcome == 'error' then
    return
  elseif not kind or (kind == 'error') ~= (outcome == 'error') then
    since, n, said = whole(t), 0, ''
  end
  redis.call('HSET', key, 'trouble', table.concat({ outcome, since, n + 1, 0, why or said }, ' '))
  redis.call('ZADD', 'cc:troubled', whole(t), host)
  redis.call('ZREMRANGEBYSCORE', 'cc:troubled', '-inf', '(' .. whole(t - TROUBLE_MS))
end

-- Gives a host's slot back; its clock restarts now, when the answer has ended. outcome: 'answered',
-- 'error' (a status that is no evidence of how fast pages are), 'slow_down' (429, 503), 'none' (no answer),
-- 'unasked' (no request was made, the clock stays) or nil (unknown). elapsed: duration of the request, ms.
-- session: of the spider that had the answer. why: what went wrong, as logged. Returns the requests to the host that
-- are under way, and its clock.
local function release(crawl, host, t, wait, outcome, elapsed, session, why)
  local key = 'cc:g:' .. host
  local g = redis.call('HMGET', key, 'held', 'clock', 'crawl_delay', 'smoothed_ms', 'best_ms', 'slots', 'next_cut',
    'paused', 'address', 'failures', 'refusal_share', 'unable', 'trouble', 'slowed')
  local held = math.max(0, (tonumber(g[1]) or 0) - 1)
  if outcome == 'unasked' then
    redis.call('HSET', key, 'held', held)
    if g[9] then
      release_address(g[9], t, 0, true)
    end
    touch(host)
    return held, tonumber(g[2]) or 0
  end
  local set = { 'held', held }
  local function put(field, value)
    set[#set + 1] = field
    set[#set + 1] = value
  end
  local smoothed = tonumber(g[4])
  local is_answer = outcome == 'answered' or outcome == 'error' or outcome == 'slow_down'
  if is_answer and elapsed and (outcome == 'answered' or elapsed > (smoothed or 0)) then
    elapsed = math.min(elapsed, LONGEST_PAUSE_MS) -- one large page must not stop the host for long
    smoothed = smoothed and smoothed + SMOOTHING * (elapsed - smoothed) or elapsed
    put('smoothed_ms', string.format('%.1f', smoothed))
  end
  local pause, slots = policy_of(crawl, host, tonumber(g[3]) or 0, smoothed or 0, g[14])
  if outcome and slots > 1 then
    -- Half the slots when the host is slow or refuses again, at most once a second; one more for every two
    -- responses. A request without a response is no evidence: its URL alone may hang.
    local best = math.min(smoothed or math.huge, (tonumber(g[5]) or math.huge) * 1.001)
    local limit = math.min(slots, tonumber(g[6]) or slots)
    local slow = smoothed and smoothed > math.max(SLOW_MS, SLOW_TIMES * best)
    local refusals = tonumber(g[11]) or 0
    if is_answer and (refusals > 0 or outcome == 'slow_down') then
      refusals = refusals + REFUSAL_SMOOTHING * ((outcome == 'slow_down' and 1 or 0) - refusals)
      put('refusal_share', refusals > 0.01 and string.format('%.3f', refusals) or 0)
    end
    if is_answer and (slow or (outcome == 'slow_down' and refusals > REFUSALS)) then
      if t >= (tonumber(g[7]) or 0) then
        put('slots', string.format('%.2f', math.max(1, limit / 2)))
        put('next_cut', whole(t + math.max(1000, smoothed or 0)))
      end
    elseif is_answer and limit < slots then
      put('slots', string.format('%.2f', limit + 0.5))
    end
    if best < math.huge then
      put('best_ms', string.format('%.1f', best))
    end
  end
  local rest = math.max(pause, wait or 0)
  local ended = rest > 0 and t + END_MARGIN_MS or t
  local clock = math.max(tonumber(g[2]) or 0, ended + rest)
  if clock > (tonumber(g[2]) or 0) then
    put('clock_by', rest > pause and outcome or '')
  end
  if is_answer and session then
    put('by', machine_of(session))
    if g[12] then
      local others = ''
      each_unable(g[12], function(machine, till)
        others = others .. (machine == machine_of(session) and '' or machine .. ' ' .. whole(till) .. ';')
      end)
      put('unable', others)
    end
  end
  put('clock', whole(clock))
  put('answer_ended', whole(ended))
  redis.call('HSET', key, unpack(set))
  if outcome and (outcome ~= 'answered' or g[13]) then
    note_trouble(host, t, g[13], outcome, why)
  end
  if is_answer then
    redis.call('HINCRBY', key, 'answers', 1)
    if g[10] then
      redis.call('HDEL', key, 'failures', 'waited_ms', 'wait_until', 'unconnected', 'next_probe')
    end
  end
  if not (g[8] or g[14]) then
    redis.call('EXPIRE', key, HOST_TTL_S)
  end
  if g[9] then
    release_address(g[9], ended, pause)
  end
  show(host, clock, g[9])
  return held, clock
end
