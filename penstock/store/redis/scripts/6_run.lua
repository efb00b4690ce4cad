-- Reads the groups, decides one after the other, writes what changed, answers.
local function read_group(packed, at)
  local group, count = {}, nil
  group.verb, group.mode, count, at = unpack_struct(kGroup, packed, at)
  for i = 1, count do
    local place, limit, flags, cost, charged_at, offset
    place, limit, flags, cost, charged_at, offset, at = unpack_struct(kCharge, packed, at)
    group[i] = {place = place, key = KEYS[place], limit = limits[limit], observer = flags % 2 == 1,
                waits = flags >= 2, asked = cost, cost = cost, at = charged_at, offset = offset}
    charges[#charges + 1] = group[i]
  end
  return group, at
end

local at = 1
while at <= #ARGV[3] do
  local group
  group, at = read_group(ARGV[3], at)
  decide(group)
end

-- A plain counter is written even where it stays as it is, as its other users do: INCRBY by nothing, and EXPIRE.
local function write_counter(place, limit)
  local added = (states[place] or 0) - (stored[place] or 0)
  call('INCRBY', KEYS[place], string.format('%.0f', added))
  call('EXPIRE', KEYS[place], limit.window)
end

local write_kind = {nil, write_window, write_sliding_window, write_log, write_bucket, write_bucket}
local emptied = {}
for place, state in pairs(states) do
  local limit = limit_of_key[place]
  if limit.kind == COUNTER then
    write_counter(place, limit)
  elseif state ~= stored[place] then
    if state then write_kind[limit.kind](KEYS[place], state) else emptied[#emptied + 1] = KEYS[place] end
  end
end
for _, key in ipairs(emptied) do call('DEL', key) end

local reply = {pack(kHead, now, mistaken, rebuilt)}
for i, charge in ipairs(charges) do
  local answer = charge.answer
  reply[i + 1] = pack(kDecision, answer[1], answer[2] and 1 or 0, answer[3], answer[4], answer[5], answer[6])
end
return table.concat(reply)
