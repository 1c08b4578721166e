-- Shared by every script (clients.py prepends it): the names of the keys and of their fields, and
-- functions that several scripts use.
--
-- Keys: <crawl> is a crawl's id (news), <host> an authority (www.example.com:8080), <page> a page id
-- (32 hex digits), <ip> an address (192.0.2.7), <job> j17, <session> machine.4711.0a1b2c3d. A spill is up
-- to 1,000 of the worst entries of a host's queue that wait in the store (overflow.py).
--
-- cc:queue                 key   the id of this queue, made once (frontier.py)
-- cc:crawls                set   crawl ids
-- cc:purging               zset  crawl whose keys are being deleted -> since, ms
-- cc:c:<crawl>             hash  a crawl, see below
-- cc:h:<crawl>             set   hosts seen
-- cc:bg:<crawl>            set   hosts held back by the budget
-- cc:x:<crawl>             set   hosts that seeds redirect to
-- cc:sm:<crawl>            set   hosts whose sitemaps were offered
-- cc:turn                  zset  topic crawl, " ordinary" (all others), " now" -> pass (turns.lua)
-- cc:due:<crawl>           zset  host that is due in a topic crawl alone or beside ordinary crawls -> since, ms
-- cc:best:<crawl>          zset  the same hosts -> rank of the best URL; cc:top:<crawl>  zset  host, due or not -> the same
-- cc:rank:<crawl>          zset  host whose URLs are to be ranked anew -> held until, ms (0, 1: free, heads first)
-- cc:ranker:<crawl>        hash  " version", " at" (ms) of the ranking; host -> heads, or cursor of its scan
-- cc:ad:<crawl>            set   pages that a topic crawl adopted while they waited in it: they end unasked
-- cc:fl:<page>             key   topic crawl that fetches the page; expires after 10 minutes
-- cc:tw:<crawl>            hash  weights, version: the link model of a topic crawl, packed
-- cc:dn:<crawl>            hash  registered domain -> hosts of a topic crawl; "." -> 0. Counted anew when missing
-- cc:a:<crawl>             list  receipts, the newest first: "<page> 1700000000000", the last page of an ack and the
--                                time of its response as stored, ms (ownership.py)
-- cc:seen:<crawl>:<n>      set   fingerprints of URLs (-42), bucket n; cc:tx:<crawl>:<n> of texts
-- cc:k:<crawl>:<host>      hash  URL class (/cal/*) -> account "120 3 48 200 9": pages, with_news, barren, dull, leading;
--                                barren in quarters of a page
-- cc:ts:<crawl>:<host>     hash  stopped URL class (/cal/*) -> why; =template (=/reply.php?id={n}): refused,
--                                +template: followed inside a refused one
-- cc:u:<crawl>:<host>      hash  pages ended; rules of the URL classes, rules_version; judged: changes of accounts;
--                                unjudged: pages from lease to ack, but dull ones; awaited 1: others wait for these
-- cc:cr:<crawl>:<host>     hash  turn: revisit or new, which of the two was served last; of a topic crawl
--                                judged_pages, domain (shared/harvest.lua)
-- cc:df:<crawl>            hash  registered domain, "." for all -> "120 30 4": pages of a topic crawl, relevant ones,
--                                hosts that had pages
-- cc:ck:<crawl>:<host>     hash  the host's cookies: ["sid", "/"] -> ["sid", "3f9a", "/", false, 0] (entries.py)
-- cc:up:<host>             hash  template -> an operator's pin (forbid, thread); field '': number of changes
-- cc:q:<crawl>:<host>      zset  pending entry (entries.py) -> rank * 10^12 + order of discovery, 50000000000007
-- cc:r:<crawl>:<host>      zset  page -> due, ms: pending URLs with a history (retries)
-- cc:v:<crawl>:<host>      zset  page -> due, ms: ended URLs that wait to be visited again; cc:vh:<crawl>  set  such hosts
-- cc:t:<crawl>:<host>      zset  spill in the store -> its least score; cc:th:<crawl>  set of such hosts
-- cc:tn:<crawl>            hash  spill in the store -> URLs in it; cc:tg  zset  spill -> came back at, ms
-- cc:tv:<crawl>            hash  spill in the store -> version of the model that ranked it last (topic crawls)
-- cc:spill:<spill>          key   entries on their way to the store; cc:spills  hash  spill -> "news www.example.com"
-- cc:p:<crawl>:<page>      hash  a URL with a history, see below
-- cc:g:<host>              hash  a host, see below
-- cc:paused                hash  host that an operator paused (its hash has the field paused) -> JSON, since (us),
--                                who, why: [1772366400123456, "root@machine", "too slow"]
-- cc:troubled              zset  host whose requests fail (field trouble) -> newest failure, ms; forgotten after a day
-- cc:traps                 hash  "news www.example.com /cal/*", a stopped URL class -> since, ms
-- cc:who                   zset  "worker machine.4711" -> heard, ms; cc:who:<process>  hash  machine, pid, since (ms),
--                                work, told 1: its silence is an event; expires six hours after the process was
--                                heard (beat.lua); heard 0: declared dead
-- cc:replace               set   processes that their supervisors have to replace
-- cc:gc:<host>             zset  crawl -> turn in which it was served last
-- cc:ready                 zset  host or @<ip> -> next request, ms
-- cc:ruled                 zset  host whose rules were just read -> its next request, ms: it goes first, once
-- cc:i:<ip>                hash  held, clock, answer_ended of all hosts at an address
-- cc:ir:<ip>               zset  host -> next request, ms; '@<ip>' stands for these hosts in cc:ready
-- cc:nr:<crawl>:<host>     key   this crawl may not ask the host for robots.txt (a private address)
-- cc:tried:<crawl>:<page>  key   log of a page that was tried and has ended; expires after an hour (ack.lua)
-- cc:spiders               zset  session -> alive until, ms; cc:l:<session>  set  "news <page>"
-- cc:b:<crawl>:<host>      list  pages that wait for companions; cc:bt, cc:bb: opened at (ms), bytes, by
--                                "news www.example.com"
-- cc:bj                    hash  "news www.example.com" -> job that no worker has taken: it takes more pages
-- cc:j:<job>               hash  see below
-- cc:m:<job>               key   the page that is being cleaned; expires after an hour
-- cc:jobs, cc:claims       zset  job -> made, ms; claimed job -> alive until, ms
-- cc:flight                hash  pages, bytes: in flight; memory, disk: set while they run out;
--                                damage: why the store's database cannot be read
-- cc:full                  key   pages or bytes: leasing is held back, because more than permitted are in flight
-- cc:learn, cc:learn:*     hosts that are learned or re-cleaned (learn.lua, jobs.py)
-- cc:clock                 hash  ahead: ms of the queue's clock before the server's; last: the queue's clock at the last
--                                sweep
-- cc:drained               key   1700000000000: hosts of cc:ready up to here were looked at for topic crawls
-- cc:keeper                key   token of the keeper that works (keeper.py)
-- cc:wake                  channel: new work is possible
-- cc:tally, cc:tally:*, cc:totals: what was fetched and cleaned by crawl and host (live.py)
-- cc:token, cc:jobseq, cc:served: numbers given out; cc:metrics  hash  process counters
--
-- Fields of cc:g:<host>, one hash a host (times are ms of the queue's clock):
--   clock 1700000000000            no request before             held 2            requests under way
--   answer_ended 1700000000000     end of the last answer        answers 41        answers so far
--   smoothed_ms 80.5, best_ms 61.0 smoothed, best answer time    paused 1          by an operator
--   slowed "5000 -"                least pause ms, most slots that an operator set for all crawls (slow.lua)
--   slots 2.50                     slots while it is slow        next_cut 1700..   no cut of slots before
--   refusal_share 0.125            smoothed share of 429, 503    stopped_version 3 changes of cc:ts
--   failures 2                     in a row                      waited_ms 5000    waited for these failures
--   wait_until 1700000000000       end of that wait              unconnected 1     one request at a time probes
--   next_probe 1700000000000       gone: no request before       address 192.0.2.7 whose clock it shares
--   address_until 1700000000000    address is valid              crawl_delay 5000  of robots.txt, ms
--   robots_rules "User-agent: .."  rules that were read          robots_until 1700..  rules are valid
--   robots_override "Disallow: /"  forbids all while 5xx last    robots_version 2  changes of the rules
--   robots_attempts 1              requests in a row             robots_errors 1   verdicts 5xx in a row
--   robots_leased 1                robots.txt is on its way      sitemaps [...]    offers of robots.txt, JSON
--   turns 7                        leases while several crawls, one of them a topic crawl, had work
--   by web1                        machine that had its last answer
--   unable "web1 1700..;"          machines that do not reach it, until then (reach.lua)
--   trial "news <page> 1700000000000"              the URL that is tried alone, also while paused; until (try.lua)
--   trouble "slow_down 1700000000000 12 3 status 503": how requests fail, since when, how many, good answers since the
--   last one, what was logged of it (note_trouble)
--   clock_by slow_down             outcome that made the clock longer than the pause; '': the pause made it
--
-- Fields of cc:p:<crawl>:<page>, a URL that is leased, queued, claimed or waits for a retry or a revisit:
--   url, host, depth 3, via link, referrer, text, hops 0, role page, found_ms: as discovered;
--   ft AAB_: features of the link, in a topic crawl (feature_ids.py)
--   state leased | queued | claimed | retry | revisit; token 4711; session (leased); job j17; attempt 1
--   log "1700000000000\tleased\tattempt 1\n..."; meta (JSON), body (zstd), fetched_ms: the answer
--   crashes 0.25: workers that died while they cleaned the page; poison 1: the page must not be cleaned
--   answers_at_lease 41, answers_at_failure 40, excuses 1, blamed 1: host_unreachable.lua
--   adopted <crawl> 1: this topic crawl has adopted the page (adopt.lua)
--   dull 1: of a class that brought nothing (choose.lua)
--   tried 1: somebody looks at what comes of it (try.lua)
--   rv record: a revisit, and how the URL ended before; etag, last_modified: for its conditional request
--
-- Fields of cc:j:<job>: crawl, host, ids "<page> <page>", pages 2, bytes 4096, worker,
--   why: a claim is lost (heartbeat.lua)
--
-- Fields of cc:c:<crawl>: spec (JSON), state running, rebuilding 1, and of the spec delay 1000, slots 8, max 500
--   ('' no limit), private 0, verify_tls 0, traps 50, patterns 9f86d081884c7d65, sitemaps 1,
--   politeness host, factor 1.0, hosts (politeness.lua), fresh 1 (it visits URLs again);
--   of a topic crawl floor 35 (ranks), picks: leases by rank; looked 1700000000000: hosts that are due since
--   before have judged pages (turns.lua); steered_ms, steered_fetched: steer.lua;
--   judged: records; relevant: those on the topic (harvest.lua);
--   counters pending, leased, queued, bodies (queued answers with a text), done, stored, failed, fetched, used,
--   images, spilled, revisits (that wait), revisited (that ended);
--   seq: URLs ever offered; texts; seen_buckets, text_buckets: buckets of cc:seen, of cc:tx

-- Scores of pending images: no other URL has their rank (storage/store/pictures.py).
local IMAGES_FROM, IMAGES_TO = '1000000000000', '(2000000000000'

-- Returns the server's clock, ms: for what is recorded (logs, times of discovery and of responses).
local function wall()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- Returns the queue's clock, ms, for all waits and lives: the server's, but never set back. Where the server's clock
-- is set back, the housekeeper lets the queue's clock go on from where it was (sweep.lua, ADR 32). Returns that of the
-- server, too.
local function now()
  local at = wall()
  return at + (tonumber(redis.call('HGET', 'cc:clock', 'ahead')) or 0), at
end

-- Counts, 'pending', 1, 'done', -1, only for a crawl that exists: a purged crawl must not come back as a lone counter.
local function count(crawl, ...)
  local key, added = 'cc:c:' .. crawl, { ... }
  if redis.call('EXISTS', key) == 1 then
    for i = 1, #added, 2 do
      if added[i + 1] ~= 0 then
        redis.call('HINCRBY', key, added[i], added[i + 1])
      end
    end
  end
end

-- Finishes a running crawl without open URLs, or with no open URL that its budget allows. Images of stored
-- pages do not count for the budget. A crawl that is kept fresh does not end.
local function settle(crawl)
  local c = redis.call('HMGET', 'cc:c:' .. crawl, 'state', 'pending', 'leased', 'queued', 'max', 'used', 'images',
    'fresh')
  if c[1] ~= 'running' or c[8] == '1' or (tonumber(c[3]) or 0) + (tonumber(c[4]) or 0) > 0 then
    return
  end
  local max = tonumber(c[5] or '')
  local is_spent = max and (tonumber(c[6]) or 0) >= max and (tonumber(c[7]) or 0) == 0
  if (tonumber(c[2]) or 0) == 0 or is_spent then
    redis.call('HSET', 'cc:c:' .. crawl, 'state', 'finished')
  end
end

local function page_key(crawl, pid)
  return 'cc:p:' .. crawl .. ':' .. pid
end

-- One line of a page's decision log: milliseconds of the server's clock, step, detail; '' at 0, when the time is not
-- known, as that of the discovery of an imported page.
local function log_line(t, step, detail)
  return t == 0 and '' or string.format('%.0f\t%s\t%s\n', t, step, detail or '')
end

-- A line of cleaning/messages.toml as it is stored, '["attempt",1]': its key, and its values in the order of their places.
local function message(key, ...)
  return cjson.encode({ key, ... })
end

local LOG_LIMIT = 8192

local function with_line(log, line)
  log = log or ''
  return #log < LOG_LIMIT and log .. line or log
end

local function append_log(key, line)
  redis.call('HSET', key, 'log', with_line(redis.call('HGET', key, 'log'), line))
end

local function join_group(crawl, host)
  redis.call('ZADD', 'cc:gc:' .. host, 'NX', 0, crawl)
  touch(host)
end

local function wake()
  redis.call('PUBLISH', 'cc:wake', '1')
end

-- Gives the budget of pages without a record back; makes some hosts that the budget held back visible.
local function refund(crawl, pages)
  count(crawl, 'used', -pages)
  for _, host in ipairs(redis.call('SPOP', 'cc:bg:' .. crawl, 16 * pages)) do
    join_group(crawl, host)
  end
  wake()
end

-- Counts a host's pages from lease to judgement (choose.lua). Dull ones do not count: none waits for another.
local function count_unjudged(crawl, host, is_dull, by)
  if not is_dull and redis.call('EXISTS', 'cc:c:' .. crawl) == 1 then
    redis.call('HINCRBY', 'cc:u:' .. crawl .. ':' .. host, 'unjudged', by)
  end
end

-- leased -> retry: the URL waits until due, with its history. A revisit of a crawl that is kept fresh waits with the
-- other revisits; one that was asked for (reopen.lua) in any other crawl waits with the retries.
local function back_to_pending(crawl, pid, t, due)
  local key = page_key(crawl, pid)
  local p = redis.call('HMGET', key, 'host', 'session', 'role', 'rv', 'dull')
  local host = p[1]
  count_unjudged(crawl, host, p[5], -1)
  local is_visit = p[4] and redis.call('HGET', 'cc:c:' .. crawl, 'fresh') == '1'
  redis.call('HSET', key, 'state', is_visit and 'revisit' or 'retry')
  redis.call('SREM', 'cc:l:' .. p[2], crawl .. ' ' .. pid)
  count(crawl, 'leased', -1)
  redis.call('ZADD', 'cc:gc:' .. host, 'NX', 0, crawl)
  if is_visit then
    count(crawl, 'revisits', 1)
    redis.call('ZADD', 'cc:v:' .. crawl .. ':' .. host, due, pid)
    return
  end
  count(crawl, 'pending', 1)
  redis.call('ZADD', 'cc:r:' .. crawl .. ':' .. host, due, pid)
  if p[4] then
    return -- no revisit is counted among the pages of the budget
  elseif p[3] == 'page' then
    refund(crawl, 1)
  elseif p[3] == 'image' then
    count(crawl, 'images', 1)
  end
end

-- Ends a lease of robots.txt and deletes its page hash: the host's attempts alone remain.
local function drop_robots_lease(crawl, pid, host)
  local key = page_key(crawl, pid)
  redis.call('SREM', 'cc:l:' .. (redis.call('HGET', key, 'session') or ''), crawl .. ' ' .. pid)
  redis.call('DEL', key)
  redis.call('HDEL', 'cc:g:' .. host, 'robots_leased')
  count(crawl, 'leased', -1)
  settle(crawl)
end

-- The number of images among pending entries at every second place of a list, from 'first' on.
local function images_among(list, first)
  local n = 0
  for i = first, #list, 2 do
    n = n + (string.sub(list[i], 17, 17) == 'i' and 1 or 0)
  end
  return n
end
