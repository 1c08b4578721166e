-- Forgets URLs that wait to be visited again; the store knows when they are due. ARGV: crawl, hosts. Returns how many.
local crawl, n = ARGV[1], 0
for i = 2, #ARGV do
  local waiting = 'cc:v:' .. crawl .. ':' .. ARGV[i]
  for _, pid in ipairs(redis.call('ZRANGE', waiting, 0, -1)) do
    redis.call('DEL', page_key(crawl, pid))
    n = n + 1
  end
  redis.call('DEL', waiting)
  redis.call('SREM', 'cc:vh:' .. crawl, ARGV[i])
end
count(crawl, 'revisits', -n)
return n
