-- Which machines reach a host (ADR 48); a part of lease.lua and host_unreachable.lua. A machine that got no connection
-- while another one had answers, or may have them, is unable for a while: the host is left to the others.

local UNABLE_MS = 600000

-- Returns the machines whose spiders live, as a set.
local function live_machines(t)
  local found = {}
  for _, session in ipairs(redis.call('ZRANGEBYSCORE', 'cc:spiders', '(' .. whole(t), '+inf')) do
    found[machine_of(session)] = true
  end
  return found
end

-- Returns the live machines that are unable to reach a host, as a set, and whether there is another live one
-- besides own.
local function reach(live, unable, own, t)
  local failed, is_other = {}, false
  each_unable(unable, function(machine, till)
    failed[machine] = till > t and live[machine] or nil
  end)
  for machine in pairs(live) do
    is_other = is_other or machine ~= own and not failed[machine]
  end
  return failed, is_other
end

-- Whether a host is left to other machines by the one whose call this is.
local function is_left_to_others(round, unable)
  local own = machine_of(round.session)
  round.live = round.live or live_machines(round.t)
  local failed, is_other = reach(round.live, unable, own, round.t)
  return failed[own] and is_other
end

-- Whether another machine is to be asked when this one got no connection: because it had the last answer, or, when
-- nobody had one who lives, for a second opinion.
local function may_be_reached_elsewhere(own, by, unable, t)
  local live = live_machines(t)
  local failed, is_other = reach(live, unable, own, t)
  if by == own or not is_other then
    return false
  end
  failed[own] = nil
  return by and live[by] and not failed[by] or not next(failed)
end

-- Notes that a machine does not reach a host.
local function note_unable(host, own, unable, t)
  local noted = own .. ' ' .. whole(t + UNABLE_MS) .. ';'
  each_unable(unable, function(machine, till)
    noted = noted .. (machine ~= own and till > t and machine .. ' ' .. whole(till) .. ';' or '')
  end)
  redis.call('HSET', 'cc:g:' .. host, 'unable', noted)
end
