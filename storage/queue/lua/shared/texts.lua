-- The set of fingerprints of page texts of a crawl (of the URL where a page has no text); after seen_set.lua.

local function text_buckets(crawl)
  return tonumber(redis.call('HGET', 'cc:c:' .. crawl, 'text_buckets') or FIRST_BUCKETS)
end

local function text_bucket(crawl, fingerprint, buckets, full)
  return 'cc:tx:' .. crawl .. ':' .. bucket_of(fingerprint, buckets, full)
end
