-- Returns 1 when a URL was ever offered to a crawl, else 0. ARGV: crawl, fingerprint.
local buckets = seen_buckets(ARGV[1])
local bucket = bucket_of(ARGV[2], buckets, full_of(buckets))
return redis.call('SISMEMBER', 'cc:seen:' .. ARGV[1] .. ':' .. bucket, ARGV[2])
