-- Wakes hosts of a topic crawl. ARGV: crawl, hosts. Returns how many slept.
local n = 0
for i = 2, #ARGV do
  if is_asleep(ARGV[1], ARGV[i]) then
    wake_host(ARGV[1], ARGV[i])
    n = n + 1
  end
end
if n > 0 then
  wake()
end
return n
