-- Replaces the rules of a host's URL classes and the templates that the rules refuse, unless rules or
-- operators' pins have changed since the read.
-- ARGV: crawl, host, version that was read ('3 1'), rules, then name, why, ... of the templates: '=template' is
-- refused, '+template' is followed inside a refused one (why: '').
-- Returns 1, or 0: read again. Stores nothing for a crawl that was purged.
local crawl, host = ARGV[1], ARGV[2]
if redis.call('EXISTS', 'cc:c:' .. crawl) == 0 then
  return 1
end
local classes, stopped = 'cc:u:' .. crawl .. ':' .. host, 'cc:ts:' .. crawl .. ':' .. host
local kept = redis.call('HGET', classes, 'rules_version') or '0'
local pinned = redis.call('HGET', 'cc:up:' .. host, '') or '0'
if kept .. ' ' .. pinned ~= ARGV[3] then
  return 0
end
redis.call('HSET', classes, 'rules', ARGV[4])
redis.call('HINCRBY', classes, 'rules_version', 1)
local changed = #ARGV > 4
for _, name in ipairs(redis.call('HKEYS', stopped)) do
  local mark = string.sub(name, 1, 1)
  if mark == '=' or mark == '+' then
    redis.call('HDEL', stopped, name)
    changed = true
  end
end
for i = 5, #ARGV, 2 do
  redis.call('HSET', stopped, ARGV[i], ARGV[i + 1])
end
if changed then
  redis.call('HINCRBY', 'cc:g:' .. host, 'stopped_version', 1)
end
return 1
