-- Sliding log: a list of entries, oldest first: when, and the sum of all cost before it and with it. So the cost of any
-- stretch is a difference, and entries are found by halving. At most as many entries as the limit's amount count.
-- A state has `first`, the place in the list of the first entry that counts; `size`, how many do; `before`, the cost
-- before them; of the newest entry `newest`, `since` (cost before it) and `through` (with it); `pending` where that one
-- is not in the list yet; `alone` where it replaces the whole list.
local log_reads = {}  -- key -> place -> {when, before, through}

local function read_entry(key, place)
  local reads = log_reads[key]
  if reads[place] == nil then
    local value = redis.pcall('LINDEX', key, place)
    if type(value) ~= 'string' or #value ~= 24 then
      if value then
        mistaken = mistaken + 1
        reads.wrong = true
      end
      reads[place] = false
    else
      local when, before, through = unpack_struct('<ddd', value)
      reads[place] = {when = when, before = before, through = through}
    end
  end
  return reads[place]
end

local function read_log(key)
  log_reads[key] = {}
  local last = read_entry(key, -1)
  local first = last and read_entry(key, 0)
  if not first then return nil end
  return {key = key, first = 0, size = call('LLEN', key), before = first.before, newest = last.when,
          since = last.before, through = last.through}
end

local function log_with(state, changes)
  local copy = {}
  for name, value in pairs(state) do copy[name] = value end
  for name, value in pairs(changes) do copy[name] = value end
  return copy
end

local function log_when(state, i)
  if i == state.size - 1 then return state.newest end
  local entry = read_entry(state.key, state.first + i)
  return entry and entry.when or state.newest
end

local function log_cost_through(state, i)
  local through = state.through
  if i < state.size - 1 then
    local entry = read_entry(state.key, state.first + i)
    through = entry and entry.through or through
  end
  return through - state.before
end

-- The first entry for which `holds`, from where on it holds for all; the size if there is none. Mostly one of the first.
local function first_entry(state, holds)
  local low, high = 0, 1
  while high <= state.size and not holds(high - 1) do
    low, high = high, high * 2
  end
  high = min(high - 1, state.size)
  while low < high do
    local middle = floor((low + high) / 2)
    if holds(middle) then high = middle else low = middle + 1 end
  end
  return low
end

local function log_first_above(state, cost)
  return first_entry(state, function(i) return log_cost_through(state, i) > cost end)
end

-- Without so many of the oldest entries, and so much cost.
local function log_forget(state, entries, cost)
  if entries >= state.size then return nil end
  return log_with(state, {first = state.first + entries, size = state.size - entries, before = state.before + cost})
end

local function log_at_now(limit, state)
  if not state then return nil, false end
  local gone = first_entry(state, function(i) return log_when(state, i) > now - limit.window end)
  local live = state
  if gone > 0 then live = log_forget(state, gone, log_cost_through(state, gone - 1)) end
  if not live or live.newest <= now + limit.window then return live, false end
  return log_with(live, {alone = true, pending = true, size = 1, newest = now, since = live.before}), true
end

local function log_append(state, key, cost)
  if not state then
    return {key = key, first = 0, size = 1, before = 0, newest = now, since = 0, through = cost, pending = true,
            alone = true}
  end
  if state.newest >= now then return log_with(state, {through = state.through + cost}) end
  return log_with(state, {size = state.size + 1, newest = now, since = state.through, through = state.through + cost,
                          pending = true})
end

local function log_sum(state)
  return state and state.through - state.before or 0
end

-- What there is no room for takes the place of the oldest, so that who keeps asking keeps being refused.
local function log_charge_refused(limit, live, key, asked)
  local room = max(0, limit.amount - log_sum(live))
  if room == 0 and live.size == 1 and live.newest >= now then return live end
  local cost = min(asked, limit.amount)
  local appended = log_append(live, key, cost)
  local replaced = cost - min(cost, room)
  return log_forget(appended, log_first_above(appended, replaced), replaced)
end

local function log_charge(limit, live, key, cost)
  local charged = min(cost, max(0, limit.amount - log_sum(live)))
  return charged > 0 and log_append(live, key, charged) or live
end

local function log_refund(limit, live, ask)
  local at = ask.at < 0 and now or min(ask.at, now)
  if not live or ask.cost == 0 or at + limit.window <= now then return live end
  local cost = min(ask.cost, log_sum(live))
  return log_forget(live, log_first_above(live, cost), cost)
end

local function apply_log(limit, state, ask)
  local live, back = log_at_now(limit, state)
  local outcome, after = ALLOWED, live
  local least = max(ask.cost, 1)
  if ask.verb == REFUND then
    after = log_refund(limit, live, ask)
  elseif ask.verb == DEBIT then
    after = log_charge(limit, live, ask.key, ask.cost)
  elseif log_sum(live) + least <= limit.amount then
    if ask.verb == DECIDE and ask.cost > 0 then after = log_append(live, ask.key, ask.cost) end
  else
    outcome = least > limit.amount and NEVER or DENIED
    local counts = ask.verb == DECIDE and ask.cost > 0 and limit.counts_refused
    if counts then after = log_charge_refused(limit, live, ask.key, ask.cost) end
  end
  local sum, charged = log_sum(after), after ~= live
  local retry = outcome == NEVER and NEVER_WAIT or 0
  if outcome == DENIED and sum + least > limit.amount then
    local last = log_first_above(after, sum + least - limit.amount - 1)
    retry = max(1, log_when(after, last) + limit.window - now)
  end
  local reset = after and max(1, after.newest + limit.window - now) or 0
  local kept = (charged or back) and after or (not charged and state) or nil
  if charged and after then after.reset = reset end
  if back and kept then kept.reset = reset end
  return outcome, charged, max(0, limit.amount - sum), retry, reset, 0, kept
end

local function write_log(key, state)
  local before = state.size == 1 and state.before or state.since
  local newest = pack('<ddd', state.newest, before, state.through)
  if state.pending then
    if log_reads[key].wrong then call('DEL', key) end
    call('RPUSH', key, newest)
  else
    call('LSET', key, -1, newest)
  end
  if state.alone then
    call('LTRIM', key, -1, -1)
  else
    local first = state.size > 1 and read_entry(key, state.first)
    if first and first.before ~= state.before then
      call('LSET', key, state.first, pack('<ddd', first.when, state.before, first.through))
    end
    if state.first > 0 then call('LTRIM', key, state.first, -1) end
  end
  local _, text = ttl_seconds(state.reset)
  call('EXPIRE', key, text)
end
