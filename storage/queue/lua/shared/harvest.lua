-- What the hosts of a topic crawl brought, by registered domain. A part of ack.lua and lease.lua, after topics.
--
-- Hosts cost a link farm nothing: while a domain of several hosts has more than its share of the pages and is no better
-- than the others together, its hosts are asked when no other host is due or soon will be.
local SHARE, LEAST_PAGES = 10, 50 -- a tenth of the pages, once there are 50

-- Returns the pages of a domain ('.': of all), relevant ones among them, and its hosts that had pages.
local function harvest_of(crawl, domain)
  local found = redis.call('HGET', 'cc:df:' .. crawl, domain) or ''
  local pages, relevant, hosts = string.match(found, '^(%d+) (%d+) (%d+)$')
  return tonumber(pages) or 0, tonumber(relevant) or 0, tonumber(hosts) or 0
end

-- Counts pages of a host that a topic crawl has judged, relevant ones among them (reprints do not count), records among
-- them (the others could not be had); domain: the host's registered domain.
local function count_harvest(crawl, host, domain, pages, relevant, records)
  if not is_topic(crawl) then
    return
  end
  local key = 'cc:cr:' .. crawl .. ':' .. host
  local new_hosts = redis.call('HINCRBY', key, 'judged_pages', pages) == pages and 1 or 0
  redis.call('HSET', key, 'domain', domain)
  for _, name in ipairs({ '.', domain }) do
    local p, r, hosts = harvest_of(crawl, name)
    redis.call('HSET', 'cc:df:' .. crawl, name,
      string.format('%.0f %.0f %.0f', p + pages, r + relevant, hosts + new_hosts))
  end
  redis.call('HINCRBY', 'cc:c:' .. crawl, 'judged', records)
  redis.call('HINCRBY', 'cc:c:' .. crawl, 'relevant', relevant)
end

-- Whether a host's domain has had its share of the pages: hosts of all other domains go first.
local function is_over_share(crawl, host)
  local domain = redis.call('HGET', 'cc:cr:' .. crawl .. ':' .. host, 'domain')
  if not domain then
    return false
  end
  local own, own_relevant, hosts = harvest_of(crawl, domain)
  local all, all_relevant = harvest_of(crawl, '.')
  local others = all - own
  return hosts > 1 and all >= LEAST_PAGES and own * SHARE > all
    and own_relevant * others <= own * (all_relevant - own_relevant)
end
