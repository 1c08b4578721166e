-- Returns a digit a URL, '1' for one that was ever offered to a crawl: '0110'. ARGV: crawl, fingerprints.
local crawl, marks = ARGV[1], {}
local buckets = seen_buckets(crawl)
local full = full_of(buckets)
for i = 2, #ARGV do
  local bucket = bucket_of(ARGV[i], buckets, full)
  marks[#marks + 1] = redis.call('SISMEMBER', 'cc:seen:' .. crawl .. ':' .. bucket, ARGV[i])
end
return table.concat(marks)
