-- Resets the URL classes of a host: deletes their accounts and stops; refused templates stay.
-- ARGV: crawl, host. Returns how many classes were stopped.
local crawl, host = ARGV[1], ARGV[2]
local stopped, lifted = 'cc:ts:' .. crawl .. ':' .. host, 0
for _, name in ipairs(redis.call('HKEYS', stopped)) do
  local mark = string.sub(name, 1, 1)
  if mark ~= '=' and mark ~= '+' then
    lifted = lifted + redis.call('HDEL', stopped, name)
    redis.call('HDEL', 'cc:traps', crawl .. ' ' .. host .. ' ' .. name)
  end
end
redis.call('DEL', 'cc:k:' .. crawl .. ':' .. host)
if redis.call('EXISTS', 'cc:c:' .. crawl) == 1 then
  redis.call('HINCRBY', 'cc:u:' .. crawl .. ':' .. host, 'judged', 1)
end
redis.call('HINCRBY', 'cc:g:' .. host, 'stopped_version', 1)
return lifted
