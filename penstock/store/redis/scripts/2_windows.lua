-- Counters whose name carries the window are plain integers, so that others can count in them with INCRBY. The caller
-- knows when the window ends and fills in the waits.
local function fits_window(limit, count, cost)
  if cost == 0 and not limit.counts_refused then return count < limit.amount end
  return count <= limit.amount and cost <= limit.amount - count
end

-- Whether waiting never helps.
local function beyond_window(limit, cost)
  local asked = limit.counts_refused and cost or max(cost, 1)
  return asked > limit.amount
end

local function counted(limit, count, ask)
  local verb, cost = ask.verb, ask.cost
  if verb == REFUND then return ALLOWED, max(0, count - cost) end
  if verb == DEBIT then return ALLOWED, count + cost end
  local outcome = ALLOWED
  if not fits_window(limit, count, cost) then outcome = beyond_window(limit, cost) and NEVER or DENIED end
  if verb == LOOK or (outcome ~= ALLOWED and not limit.counts_refused) then return outcome, count end
  return outcome, count + cost
end

local function apply_counter(limit, state, ask)
  local count = max(0, state or 0)
  local outcome, after = counted(limit, count, ask)
  local kept = after ~= count and after or state
  return outcome, after ~= count, max(0, limit.amount - after), outcome == NEVER and NEVER_WAIT or 0, 0, count, kept
end

-- Fixed window: the count of one aligned window. A clock that stepped back stays in the stored window; what is stored
-- two windows ahead or more was written by a clock that had run away, and counts now.
local function apply_window(limit, state, ask)
  local time, length = now + ask.offset, limit.window
  local index, count, back = floor(time / length), 0, false
  if state and state.count > 0 and state.index >= index then
    count = state.count
    if state.index > index + 1 then back = true else index = state.index end
  end
  local outcome, after = ALLOWED, count
  if ask.verb == REFUND then
    if count > 0 and (ask.at < 0 or floor((ask.at + ask.offset) / length) == index) then
      after = max(0, count - ask.cost)
    end
  else
    outcome, after = counted(limit, count, ask)
    after = min(after, MOST_COUNTED)
  end
  local left = (index + 1) * length - time
  local retry = outcome == NEVER and NEVER_WAIT or outcome == DENIED and left or 0
  local kept = state
  if after ~= count or back then kept = after > 0 and {index = index, count = after, reset = left, lives = count > 0 and not back} or nil end
  return outcome, after ~= count, max(0, limit.amount - after), retry, after == 0 and 0 or left, count, kept
end

local function read_window(value)
  if #value ~= 17 or value:byte() ~= 17 then return nil end
  local _, index, count = unpack_struct('<Bdd', value)
  return index >= 0 and count >= 0 and {index = index, count = count} or nil
end

local function write_window(key, state)
  local value = pack('<Bdd', 17, state.index, state.count)
  if state.lives then return call('SET', key, value, 'KEEPTTL') end
  local _, text = ttl_seconds(state.reset)
  call('SET', key, value, 'EX', text)
end

-- Sliding window: the former window counts in proportion to what of it is still within reach.
-- allowed <=> former * reach + (current + cost) * parts <= amount * parts, reach being so many of the window's parts.
local function sliding_windows_at(limit, state, time)
  local at_now = floor(time / limit.window)
  if not state or state.index + 1 < at_now then return at_now, 0, 0, false end
  if state.index + 1 == at_now then return at_now, 0, state.current, false end
  if state.index > at_now + 1 then return at_now, state.current, state.former, true end
  return state.index, state.current, state.former, false
end

local function sliding_wait(limit, index, current, former, cost, time)
  local room = limit.amount - cost
  local here = current <= room
  local reach = floor((here and room - current or room) * limit.parts / (here and former or current))
  local start = (here and index or index + 1) * limit.window
  return max(1, start + limit.window - reach * limit.tick - time)
end

local function sliding_charge(limit, index, current, former, ask, fits)
  local verb, cost = ask.verb, ask.cost
  if verb == REFUND then
    local charged_in = ask.at < 0 and index or floor((ask.at + ask.offset) / limit.window)
    if charged_in == index then return max(0, current - cost), former end
    if charged_in + 1 == index then return current, max(0, former - cost) end
    return current, former
  end
  local charges = verb == DEBIT or (verb == DECIDE and (fits or limit.counts_refused))
  return charges and min(MOST_COUNTED, current + cost) or current, former
end

local function apply_sliding_window(limit, state, ask)
  local time = now + ask.offset
  local index, current, former, back = sliding_windows_at(limit, state, time)
  local reach = ceil((limit.window - max(0, time - index * limit.window)) / limit.tick)
  local least = max(ask.cost, 1)
  local fits = least <= limit.amount - current and
      former * reach <= (limit.amount - least - current) * limit.parts
  local after, former_after = sliding_charge(limit, index, current, former, ask, fits)
  local outcome, retry = ALLOWED, 0
  if not fits and ask.verb <= LOOK then
    outcome = least > limit.amount and NEVER or DENIED
    retry = outcome == NEVER and NEVER_WAIT or sliding_wait(limit, index, after, former_after, least, time)
  end
  local reached = ceil(former_after * reach / limit.parts)
  local charged = after ~= current or former_after ~= former
  local reset = 0
  if after > 0 or former_after > 0 then reset = (index + (after > 0 and 2 or 1)) * limit.window - time end
  local kept = state
  if charged or back then
    -- Its key lives long enough where it was written in this window already.
    local lives = state ~= nil and not back and state.index == index and state.current > 0
    kept = reset > 0 and {index = index, current = after, former = former_after, reset = reset, lives = lives} or nil
  end
  local before = current + (former == former_after and reached or ceil(former * reach / limit.parts))
  return outcome, charged, max(0, limit.amount - after - reached), retry, reset, before, kept
end

local function read_sliding_window(value)
  if #value ~= 25 or value:byte() ~= 33 then return nil end
  local _, index, current, former = unpack_struct('<Bddd', value)
  if not (index >= 0 and current >= 0 and former >= 0) then return nil end
  return {index = index, current = current, former = former}
end

local function write_sliding_window(key, state)
  local value = pack('<Bddd', 33, state.index, state.current, state.former)
  if state.lives then return call('SET', key, value, 'KEEPTTL') end
  local _, text = ttl_seconds(state.reset)
  call('SET', key, value, 'EX', text)
end
