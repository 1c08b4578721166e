-- Stores that a process lives. ARGV: role, name, machine, pid, what it works on, s that it is remembered; of a
-- spider also the ms that its session lives.
local name = ARGV[2]
local key = 'cc:who:' .. name
redis.call('HSETNX', key, 'since', whole(wall()))
redis.call('HDEL', key, 'told')
redis.call('HSET', key, 'machine', ARGV[3], 'pid', ARGV[4], 'work', ARGV[5])
redis.call('EXPIRE', key, ARGV[6])
redis.call('ZADD', 'cc:who', now(), ARGV[1] .. ' ' .. name)
if ARGV[7] then
  redis.call('ZADD', 'cc:spiders', now() + tonumber(ARGV[7]), name)
end
return 1
