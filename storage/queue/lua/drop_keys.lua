-- Deletes keys of a purged crawl, at most 500 a call. ARGV: crawl, then names of keys.
-- Returns 1, or 0 when the crawl has been created anew meanwhile: its keys are not the purge's to delete.
local crawl = ARGV[1]
if redis.call('EXISTS', 'cc:c:' .. crawl) == 1 then
  return 0
end
for i = 2, #ARGV do
  redis.call('UNLINK', ARGV[i])
end
return 1
