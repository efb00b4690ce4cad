#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "penstock/base/instant.h"
#include "penstock/store/redis/session.h"
#include "penstock/store/redis/wires.h"

namespace penstock::store::redis {

// What stands behind the endpoints.
enum class Topology : std::uint8_t {
  single,    // one primary
  hashed,    // several primaries that do not know each other: each counter is on one of them
  sentinel,  // one primary that the sentinels at these endpoints name
  cluster,   // a Redis Cluster; these are some of its nodes
};

enum class KeyFormat : std::uint8_t {
  original,  // the text of envoyproxy/ratelimit for its own limits, so that both count together; else compact
  compact,   // 26 bytes and for windows their number
};

struct RedisOptions {
  Topology topology = Topology::single;
  std::vector<Endpoint> endpoints;  // at least one, for `single` just that
  std::string primary_name;         // sentinel: what the sentinels call it
  // See Greeting. Called on the loop, when a connection has been made.
  std::function<Credentials()> credentials;
  std::function<Credentials()> sentinel_credentials;
  int database = 0;
  Nanoseconds deadline = std::chrono::milliseconds{5};  // for a group, from when it was submitted; at least 100 us
  KeyFormat keys = KeyFormat::original;
  std::string key_prefix;           // of every key
  std::int64_t jitter_seconds = 0;  // keys of windows live longer by less than this, at random
  std::uint64_t seed = 0;           // of jitter and of waits between attempts
  bool callers_clock = false;       // tests: `now` decides, not the server's clock
};

}  // namespace penstock::store::redis
