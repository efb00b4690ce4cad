-- Decides charges on counters that several nodes share. One script; the parts of this folder are joined in the order of
-- their names.
--
-- KEYS     the counters' keys, each once, all of one slot
-- ARGV[1]  '' where the server's clock decides (always, but in tests); else that time, microseconds since 1970
-- ARGV[2]  limits, each packed as kLimit says, 14 numbers after two bytes
-- ARGV[3]  groups, each packed as kGroup says and followed by its charges, packed as kCharge says
-- ARGV[4]  'b' where all groups are as 1_single_buckets.lua says; else ''
-- Reply    one string: kHead, and for each charge in order kDecision
--
-- Times are whole microseconds. All numbers are integers below 2^53, which doubles hold exactly. What is kept expires
-- one to two seconds after it is as good as fresh, a bucket by up to the time of a refill later: its value says when
-- (whole seconds), so that not every write has to set it anew. Refused charges and looks write nothing, but where a stored instant that lies
-- further ahead than a full counter reaches is brought back. Values that are not what this script writes are taken as
-- fresh, and counted in the reply. Everything is decided before the first write, and the first write is one that a
-- full server refuses, so an error leaves all as it was.
--
-- Bound: the algorithms' own (docs/algorithms.md). Buckets and sliding windows whose numbers would pass 2^53 count in
-- coarser ticks, rounded so that they never admit more.

local kLimit = '<BBdddddddddddddd'
local kGroup = '<BBI2'
local kCharge = '<I2I2Bddd'
local kHead = '<ddd'         -- the time, values that were taken as fresh, states of another scale
local kDecision = '<BBdddd'  -- outcome, charged, remaining, retry after (-1: never), reset after, count before

local DECIDE, LOOK, REFUND, DEBIT = 0, 1, 2, 3
local EACH, ALL_OR_NOTHING, SPARE_OTHERS, REFUSED_ALONE = 0, 1, 2, 3
local ALLOWED, DENIED, NEVER = 0, 1, 2
local NEVER_WAIT = -1
local COUNTER, WINDOW, SLIDING_WINDOW, LOG, BUCKET, BUCKET_WITH_PEAK = 1, 2, 3, 4, 5, 6
local MOST_COUNTED = 8589934591  -- 2^33 - 1, where counts of windows saturate

local call, pack, unpack_struct = redis.call, struct.pack, struct.unpack
local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max

local now
if ARGV[1] == '' then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = tonumber(ARGV[1])
end

local mistaken, rebuilt = 0, 0

-- What an algorithm answers: outcome, charged, remaining, retry after, reset after, count before, and the state that is
-- to be kept: nil for a fresh counter, the same table where nothing is to be written. States are never changed in
-- place. `ask` has verb, cost, at (when the cost was charged, refunds only), offset (of the counter's windows) and
-- waits (whether the caller accepts a wait).

-- How long to keep a state that is as good as fresh in `reset` microseconds: whole seconds, and one more. Texts are
-- kept, since making one of a number costs as much as a command's work.
local ttl_texts = {}
local function ttl_seconds(reset)
  local seconds = ceil(reset / 1000000) + 1
  local text = ttl_texts[seconds]
  if not text then
    text = string.format('%.0f', seconds)
    ttl_texts[seconds] = text
  end
  return seconds, text
end
