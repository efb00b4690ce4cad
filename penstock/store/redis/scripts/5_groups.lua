-- Limits, charges, and how the charges of a group depend on each other.
local function read_meter(credits, price, room, tick, wait)
  return {credits = credits, price = price, room = room, tick = tick, wait = wait}
end

local function read_limits(packed)
  local limits, at = {}, 1
  while at <= #packed do
    local kind, refused, amount, window, tick, parts, c1, p1, r1, t1, w1, c2, p2, r2, t2, w2
    kind, refused, amount, window, tick, parts, c1, p1, r1, t1, w1, c2, p2, r2, t2, w2, at =
        unpack_struct(kLimit, packed, at)
    local limit = {kind = kind, counts_refused = refused == 1, amount = amount, window = window, tick = tick,
                   parts = parts, max_wait = window}
    if kind >= BUCKET then limit.meters = {read_meter(c1, p1, r1, t1, w1)} end
    if kind == BUCKET_WITH_PEAK then limit.meters[2] = read_meter(c2, p2, r2, t2, w2) end
    limits[#limits + 1] = limit
  end
  return limits
end

local apply_kind = {apply_counter, apply_window, apply_sliding_window, apply_log, apply_bucket, apply_bucket}
local read_kind = {tonumber, read_window, read_sliding_window, nil, read_bucket, read_bucket}

local limits = read_limits(ARGV[2])
local values                -- of all keys that hold strings
local states, stored = {}, {}  -- by place of the key; false: fresh
local limit_of_key = {}
local charges = {}

local function state_of(place, limit)
  local state = states[place]
  if state ~= nil then return state or nil end
  limit_of_key[place] = limit
  if limit.kind == LOG then
    state = read_log(KEYS[place])
  else
    values = values or call('MGET', unpack(KEYS))
    local value = values[place]
    state = value and read_kind[limit.kind](value) or nil
    if value and not state then mistaken = mistaken + 1 end
  end
  states[place], stored[place] = state or false, state or false
  return state
end

-- Answers `charge` as `verb`, and says what its counter would then be.
local function try(charge, verb, cost)
  local limit = charge.limit
  charge.verb, charge.cost = verb, cost
  local answer = {apply_kind[limit.kind](limit, state_of(charge.place, limit), charge)}
  charge.verb, charge.cost = nil, charge.asked
  return answer
end

local function apply_to(charge, verb)
  local answer = try(charge, verb, charge.asked)
  charge.answer = answer
  if verb ~= LOOK then states[charge.place] = answer[7] or false end
  return answer
end

local function refuses(answer)
  return answer[1] ~= ALLOWED
end

local function restore(group, before)
  for _, charge in ipairs(group) do states[charge.place] = before[charge.place] end
end

local function remember(group)
  local before = {}
  for _, charge in ipairs(group) do
    state_of(charge.place, charge.limit)
    before[charge.place] = states[charge.place]
  end
  return before
end

local function counted_though_refused(group, charge)
  return group.mode == SPARE_OTHERS and charge.limit.counts_refused
end

local function charge_refused_alone(group)
  local any = false
  for _, charge in ipairs(group) do
    charge.refused = not charge.observer and refuses(try(charge, LOOK, charge.asked))
    any = any or charge.refused
  end
  for _, charge in ipairs(group) do
    apply_to(charge, any and not charge.refused and LOOK or DECIDE)
  end
end

-- Charges everything that may veto; false if any was refused.
local function charge_members(group)
  local passes = true
  for _, charge in ipairs(group) do
    charge.refused = false
    if not charge.observer then
      state_of(charge.place, charge.limit)
      local unchanged = states[charge.place]
      charge.refused = refuses(apply_to(charge, DECIDE))
      if charge.refused then
        passes = false
        if not counted_though_refused(group, charge) then states[charge.place] = unchanged end
      end
    end
  end
  return passes
end

-- The refusal of a charge that alone would pass: what it and the earlier ones on its counter would get together.
local function explain_by_earlier(group, i, tentative, before)
  local charge, together = group[i], group[i].asked
  for earlier = 1, i - 1 do
    local other = group[earlier]
    local took_effect = not other.refused or counted_though_refused(group, other)
    if not other.observer and other.place == charge.place and took_effect then together = together + other.asked end
  end
  local kept = states[charge.place]
  states[charge.place] = before[charge.place]
  local joint = try(charge, LOOK, together)
  states[charge.place] = kept
  local reason = refuses(joint) and joint or tentative
  charge.answer[1], charge.answer[4] = reason[1], reason[4]
end

local function report_refused(group, i, before)
  local charge = group[i]
  local tentative = charge.answer
  if charge.refused and counted_though_refused(group, charge) then
    apply_to(charge, refuses(try(charge, LOOK, charge.asked)) and DECIDE or DEBIT)
  else
    apply_to(charge, LOOK)
  end
  if charge.refused and not refuses(charge.answer) then explain_by_earlier(group, i, tentative, before) end
end

local function decided_singly(group)
  if group.mode == EACH or group.verb ~= DECIDE then return true end
  if #group ~= 1 then return false end
  return group.mode ~= ALL_OR_NOTHING or group[1].observer or not group[1].limit.counts_refused
end

local function decide(group)
  if decided_singly(group) then
    for _, charge in ipairs(group) do apply_to(charge, group.verb) end
    return
  end
  if group.mode == REFUSED_ALONE then return charge_refused_alone(group) end
  local before = remember(group)
  if charge_members(group) then
    for _, charge in ipairs(group) do
      if charge.observer then apply_to(charge, DECIDE) end
    end
    return
  end
  restore(group, before)
  for i = 1, #group do report_refused(group, i, before) end
end
