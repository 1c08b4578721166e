-- A crawl's budget where hosts are split over several servers: each has a share, the field max of its cc:c (shares.py).
-- ARGV: crawl, step, number of the round, value. Steps: begin: the field total is the limit of the whole crawl (value,
-- '' for none); a crawl that had none has a share of what it has used. look: opens a round; set: makes the share
-- as large as the value, at least as large as what is used of it. Of two rounds the older one changes nothing.
-- Returns {'1' if the round is open, max ('' for none), used, pending}; nothing without the crawl.
local crawl, step, round, value = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local key = 'cc:c:' .. crawl
if redis.call('EXISTS', key) == 0 then
  return false
end
local c = redis.call('HMGET', key, 'total', 'max', 'used', 'round')
local used, known = tonumber(c[3]) or 0, tonumber(c[4]) or 0
local is_open = step == 'begin' or (step == 'look' and round > known) or (step == 'set' and round == known)

if step == 'begin' then
  redis.call('HSET', key, 'total', value)
  if value == '' then
    redis.call('HSET', key, 'max', '')
  elseif not c[1] or (c[2] or '') == '' then
    redis.call('HSET', key, 'max', used)
  end
elseif step == 'look' and is_open then
  redis.call('HSET', key, 'round', round)
elseif step == 'set' and is_open then
  local old = tonumber(c[2]) or 0
  local new = math.max(tonumber(value), math.min(used, old))
  redis.call('HSET', key, 'max', new)
  if new > old then
    -- Each host that the budget held back has a URL at least.
    for _, host in ipairs(redis.call('SPOP', 'cc:bg:' .. crawl, math.min(4096, 16 * (new - old)))) do
      join_group(crawl, host)
    end
    wake()
  end
end

c = redis.call('HMGET', key, 'max', 'used', 'pending')
return { is_open and '1' or '', c[1] or '', tonumber(c[2]) or 0, tonumber(c[3]) or 0 }
