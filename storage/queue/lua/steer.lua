-- Moves the floor of a topic crawl so that the crawl fetches about as many pages an hour as its user wants.
-- ARGV: crawl, pages an hour. Returns the floor, ranks. More than one call a minute changes nothing.
local EVERY_MS, STEP, HIGHEST = 60000, 5, 450 -- ranks; a floor of 450 holds back what no model would fetch
local FLOOR = 35 -- as in turns.lua
local crawl, wanted, t = ARGV[1], tonumber(ARGV[2]), now()
local key = 'cc:c:' .. crawl
local c = redis.call('HMGET', key, 'state', 'floor', 'steered_fetched', 'steered_ms', 'fetched')
local floor, fetched = tonumber(c[2] or '') or FLOOR, tonumber(c[5] or '') or 0
local since = t - (tonumber(c[4] or '') or 0)
if c[1] ~= 'running' or since < EVERY_MS then
  return floor
end
if c[4] and since < 2 * EVERY_MS then -- else the crawl stood still in between
  local rate = (fetched - tonumber(c[3])) * 3600000 / since
  if rate < 0.9 * wanted then
    floor = math.min(HIGHEST, floor + STEP)
  elseif rate > 1.1 * wanted then
    floor = math.max(0, floor - STEP)
  end
end
redis.call('HSET', key, 'floor', floor, 'steered_fetched', fetched, 'steered_ms', whole(t))
return floor
