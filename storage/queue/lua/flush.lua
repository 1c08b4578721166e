-- Turns batches that were opened at least 'age' ms ago into jobs. ARGV: age ms. Returns job ids, {'j17', ...}.
local t, jobs = now(), {}
for _, member in ipairs(redis.call('ZRANGEBYSCORE', 'cc:bt', '-inf', t - tonumber(ARGV[1]), 'LIMIT', 0, 100)) do
  local crawl, host = string.match(member, '^(%S+) (.*)$')
  local job = flush(crawl, host, t)
  if job ~= '' then
    jobs[#jobs + 1] = job
  end
end
return jobs
