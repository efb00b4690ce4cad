-- The usual case, told by ARGV[4] = 'b': every group is one charge on a bucket of one rate, verb decide or look, that
-- counts nothing that it refuses and lets nobody wait. All in one piece and before everything else, since a function
-- that is defined, and a table that is made, costs as much as a decision. 3_buckets.lua says what is computed.
if ARGV[4] == 'b' then
  local amounts, credits_of, prices, rooms, ticks = {}, {}, {}, {}, {}
  local packed, at, count = ARGV[2], 1, 0
  while at <= #packed do
    local _
    count = count + 1
    _, _, amounts[count], _, _, _, credits_of[count], prices[count], rooms[count], ticks[count], _, _, _, _, _, _, at =
        unpack_struct(kLimit, packed, at)
  end
  local values = call('MGET', unpack(KEYS))
  local used_of, base_of, limit_of, expires_of, changed, reply = {}, {}, {}, {}, {}, {}
  packed, at, count = ARGV[3], 1, 1
  local size = #packed
  while at <= size do
    local verb, _, _, place, number, _, cost, _, _, next_at = unpack_struct('<BBI2I2I2Bddd', packed, at)
    at = next_at
    local credits, price, room, tick = credits_of[number], prices[number], rooms[number], ticks[number]
    local used, base = used_of[place], base_of[place]
    if not used then
      local last, next = now, now
      if tick > 1 then last, next = floor(now / tick), ceil(now / tick) end
      used, base = 0, next
      local value = values[place]
      if value then
        local valid = #value == 41 and value:byte() == 49
        local _, expires, their_credits, their_tick, their_used, their_at
        if valid then
          _, expires, their_credits, their_tick, their_used, their_at = unpack_struct('<Bddddd', value)
          valid = their_credits >= 1 and their_tick >= 1 and their_used >= 0 and their_at >= 0
        end
        if not valid then
          -- A peak may have gone from the counter; all else is not ours.
          if #value == 73 and value:byte() == 50 then
            _, expires, their_credits, their_tick, their_used, their_at = unpack_struct('<Bddddd', value)
            valid = their_credits >= 1 and their_tick >= 1 and their_used >= 0 and their_at >= 0
          end
          if not valid then mistaken = mistaken + 1 end
        end
        if valid then
          expires_of[place] = expires
          if their_credits ~= credits or their_tick ~= tick then
            local fresh = ceil((their_at + ceil(their_used / their_credits)) * their_tick / tick)
            rebuilt = rebuilt + 1
            their_at, their_used = next, max(0, min(room, (fresh - next) * credits))
            changed[place] = true
          end
          base = their_at == next and next or last
          used = their_used + (their_at - base) * credits
          if used > room + credits * ceil(1000000 / tick) then
            used, base = room, last
            if verb == DECIDE then changed[place] = true end
          elseif used <= 0 then
            used, base = 0, next
          end
        end
      end
      base_of[place] = base
      limit_of[place] = number
    end
    local least = cost > 0 and cost or 1
    local outcome, charged, retry = ALLOWED, 0, 0
    if least > amounts[number] then
      outcome, retry = NEVER, NEVER_WAIT
    else
      local missing = used + least * price - room
      if missing > 0 then
        outcome, retry = DENIED, max(1, (base + ceil(missing / credits)) * tick - now)
      elseif verb == DECIDE and cost > 0 then
        used = used + cost * price
        charged = 1
        changed[place] = true
      end
    end
    used_of[place] = used
    local remaining = floor((room - used) / price)
    if remaining < 0 then remaining = 0 elseif remaining > amounts[number] then remaining = amounts[number] end
    local reset = used > 0 and max(1, (base + ceil(used / credits)) * tick - now) or 0
    count = count + 1
    reply[count] = pack(kDecision, outcome, charged, remaining, retry, reset, 0)
  end
  for place in pairs(changed) do
    local number, used = limit_of[place], used_of[place]
    if used > 0 then
      local credits, tick, expires = credits_of[number], ticks[number], expires_of[place]
      local fresh_at = (base_of[place] + ceil(used / credits)) * tick
      if expires and expires * 1000000 >= fresh_at + 1000000 then
        call('SET', KEYS[place], pack('<Bddddd', 49, expires, credits, tick, used, base_of[place]), 'KEEPTTL')
      else
        local refill = ceil(rooms[number] / credits) * tick
        local seconds, text = ttl_seconds(fresh_at - now + refill)
        local value = pack('<Bddddd', 49, floor(now / 1000000) + seconds, credits, tick, used, base_of[place])
        call('SET', KEYS[place], value, 'EX', text)
      end
    end
  end
  reply[1] = pack(kHead, now, mistaken, rebuilt)
  return table.concat(reply)
end
