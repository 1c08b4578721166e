-- Changes the cookie jar of a host in a crawl: what an answer has set and deleted.
-- ARGV: crawl, page id, token, most cookies, most bytes of all values, number of deleted fields, these fields, then
-- field, value, ... of the cookies. A cookie beyond the limits is not kept: the first ones are those of the session.
-- Returns how many were kept; an old token changes nothing.
local crawl, p = ARGV[1], redis.call('HMGET', page_key(ARGV[1], ARGV[2]), 'state', 'token', 'host')
if p[1] ~= 'leased' or p[2] ~= ARGV[3] then
  return 0
end
local jar, kept, bytes = 'cc:ck:' .. crawl .. ':' .. p[3], 0, 0
local first = 7 + tonumber(ARGV[6])
for i = 7, first - 1 do
  redis.call('HDEL', jar, ARGV[i])
end
for _, value in ipairs(redis.call('HVALS', jar)) do
  bytes = bytes + #value
end
for i = first, #ARGV, 2 do
  local more = #ARGV[i + 1] - redis.call('HSTRLEN', jar, ARGV[i])
  local is_new = redis.call('HEXISTS', jar, ARGV[i]) == 0
  if bytes + more <= tonumber(ARGV[5]) and not (is_new and redis.call('HLEN', jar) >= tonumber(ARGV[4])) then
    redis.call('HSET', jar, ARGV[i], ARGV[i + 1])
    bytes, kept = bytes + more, kept + 1
  end
end
return kept
