-- Buckets: token_bucket, leaky_bucket, gcra. `used` credits are taken, `credits` come back each tick, a cost unit is
-- `price` credits and a full bucket `room`. What is stored says `used` as of the tick `at`; where the time is earlier
-- the bucket seems emptier by the difference until the clock has caught up. A bucket that was fresh is charged as of the
-- next whole tick, and read as of the last one.
local function used_at(meter, stored)
  local last, next = floor(now / meter.tick), ceil(now / meter.tick)
  if not stored then return 0, next, false end
  local used, at = stored.used, stored.at
  local changed = stored.credits ~= meter.credits or stored.tick ~= meter.tick
  if changed then
    local fresh = ceil((at + ceil(used / stored.credits)) * stored.tick / meter.tick)
    rebuilt = rebuilt + 1
    at, used = next, max(0, min(meter.room, (fresh - next) * meter.credits))
  end
  local base = at == next and next or last
  used = used + (at - base) * meter.credits
  local most = meter.room + meter.wait
  if used > most + meter.credits * ceil(1000000 / meter.tick) then return most, last, true end
  if used <= 0 then return 0, next, changed end
  return used, base, changed
end

local function wait_until_tick(meter, tick)
  return max(1, tick * meter.tick - now)
end

local function least_wait(meters, cost)
  local wait = 0
  for _, meter in ipairs(meters) do
    local missing = meter.used + cost * meter.limit.price - meter.limit.room
    if missing > 0 then
      wait = max(wait, wait_until_tick(meter.limit, meter.base + ceil(missing / meter.limit.credits)))
    end
  end
  return wait
end

local function may_wait(limit, meters, cost, wait)
  if wait > limit.max_wait then return false end
  for _, meter in ipairs(meters) do
    local missing = meter.used + cost * meter.limit.price - meter.limit.room
    if missing > meter.limit.wait + meter.limit.credits then return false end
  end
  return true
end

local function debit_bucket(meters, cost)
  local charged = false
  for _, meter in ipairs(meters) do
    local left = meter.limit.room - meter.used
    if cost > 0 and left > 0 then
      meter.used = meter.used + min(cost * meter.limit.price, left)
      charged = true
    end
  end
  return charged
end

local function refund_bucket(meters, cost)
  local charged = false
  for _, meter in ipairs(meters) do
    if cost > 0 and meter.used > 0 then
      meter.used = max(0, meter.used - min(cost * meter.limit.price, meter.limit.room))
      charged = true
    end
  end
  return charged
end

-- Outcome, charged, retry after.
local function charge_bucket(limit, meters, ask)
  if ask.verb == REFUND then return ALLOWED, refund_bucket(meters, ask.cost), 0 end
  if ask.verb == DEBIT then return ALLOWED, debit_bucket(meters, ask.cost), 0 end
  local least = max(ask.cost, 1)
  local never = least > limit.amount
  local wait = never and 0 or least_wait(meters, least)
  if not never and (wait == 0 or (ask.waits and may_wait(limit, meters, least, wait))) then
    if ask.verb == LOOK or ask.cost == 0 then return ALLOWED, false, wait end
    for _, meter in ipairs(meters) do meter.used = meter.used + ask.cost * meter.limit.price end
    return ALLOWED, true, wait
  end
  local charged = limit.counts_refused and ask.verb == DECIDE and debit_bucket(meters, ask.cost)
  if never then return NEVER, charged, NEVER_WAIT end
  return DENIED, charged, least_wait(meters, least)
end

local function apply_bucket(limit, state, ask)
  local meters, changed = {}, false
  for i, meter in ipairs(limit.meters) do
    -- A peak that is new to the counter starts from the debt of the other rate.
    local used, base, differs = used_at(meter, state and (state[i] or state[1]))
    if state and #state ~= #limit.meters then differs = true end
    meters[i] = {limit = meter, used = used, base = base}
    changed = changed or differs
  end
  local outcome, charged, retry = charge_bucket(limit, meters, ask)
  local remaining, reset, after = limit.amount, 0, {}
  for i, meter in ipairs(meters) do
    local rate = meter.limit
    remaining = max(0, min(remaining, floor((rate.room - meter.used) / rate.price)))
    if meter.used > 0 then
      reset = max(reset, wait_until_tick(rate, meter.base + ceil(meter.used / rate.credits)))
    end
    after[i] = {credits = rate.credits, tick = rate.tick, used = meter.used, at = meter.base}
  end
  after.reset, after.refill, after.expires = reset, 0, state and state.expires
  for _, rate in ipairs(limit.meters) do
    after.refill = max(after.refill, ceil(rate.room / rate.credits) * rate.tick)
  end
  local kept = state
  if charged or changed then kept = reset > 0 and after or nil end
  return outcome, charged, remaining, retry, reset, 0, kept
end

local function read_bucket(value)
  local count = value:byte() == 49 and 1 or value:byte() == 50 and 2 or 0
  if count == 0 or #value ~= 9 + count * 32 then return nil end
  local _, expires = unpack_struct('<Bd', value)
  local state = {expires = expires}
  for i = 1, count do
    local credits, tick, used, at = unpack_struct('<dddd', value, 10 + (i - 1) * 32)
    if not (credits >= 1 and tick >= 1 and used >= 0 and at >= 0) then return nil end
    state[i] = {credits = credits, tick = tick, used = used, at = at}
  end
  return state
end

local function write_bucket(key, state)
  local rates = ''
  for _, meter in ipairs(state) do
    rates = rates .. pack('<dddd', meter.credits, meter.tick, meter.used, meter.at)
  end
  local expires = state.expires
  if expires and expires * 1000000 >= now + state.reset + 1000000 then
    return call('SET', key, pack('<Bd', 48 + #state, expires) .. rates, 'KEEPTTL')
  end
  local seconds, text = ttl_seconds(state.reset + state.refill)
  call('SET', key, pack('<Bd', 48 + #state, floor(now / 1000000) + seconds) .. rates, 'EX', text)
end
