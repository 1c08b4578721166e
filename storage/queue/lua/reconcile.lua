-- Makes the leases pending again that a spider does not hold because an answer of the queue was lost.
-- ARGV: session, tokens that the spider holds. Returns how many leases became pending.
local t, held, lost = now(), {}, 0
for i = 2, #ARGV do
  held[ARGV[i]] = true
end
for _, member in ipairs(redis.call('SMEMBERS', 'cc:l:' .. ARGV[1])) do
  local crawl, pid = string.match(member, '^(%S+) (.*)$')
  local p = redis.call('HMGET', page_key(crawl, pid), 'state', 'token', 'host', 'role')
  if p[1] == 'leased' and not held[p[2]] then
    if p[4] == 'robots' then
      drop_robots_lease(crawl, pid, p[3])
    else
      append_log(page_key(crawl, pid), log_line(wall(), 'lease_lost', message('not_heard')))
      back_to_pending(crawl, pid, t, t)
    end
    release(crawl, p[3], t)
    lost = lost + 1
  elseif p[1] ~= 'leased' then
    redis.call('SREM', 'cc:l:' .. ARGV[1], member)
  end
end
return lost
