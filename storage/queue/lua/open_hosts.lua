-- Takes hosts into a topic crawl. ARGV: crawl, most hosts of a registered domain, then host, domain of each.
-- Returns the hosts that are in the crawl now; false: count the hosts of each domain first (cc:dn), or no such
-- crawl.
local crawl, most, out = ARGV[1], tonumber(ARGV[2]), {}
local hosts, domains = 'cc:h:' .. crawl, 'cc:dn:' .. crawl
if redis.call('EXISTS', 'cc:c:' .. crawl) == 0 or redis.call('EXISTS', domains) == 0 then
  return false
end
for i = 3, #ARGV, 2 do
  local host, domain = ARGV[i], ARGV[i + 1]
  local is_in = redis.call('SISMEMBER', hosts, host) == 1
  if not is_in and (tonumber(redis.call('HGET', domains, domain)) or 0) < most then
    redis.call('HINCRBY', domains, domain, 1)
    redis.call('SADD', hosts, host)
    is_in = true
  end
  if is_in then
    out[#out + 1] = host
  end
end
return out
