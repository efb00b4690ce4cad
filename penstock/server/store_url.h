#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/store/redis/redis_store.h"

namespace penstock::server {

// The address of a shared store, taken apart.
struct StoreUrl {
  store::redis::Topology topology = store::redis::Topology::single;
  std::vector<store::redis::Endpoint> endpoints;
  std::string primary_name;  // of sentinels
  store::redis::Credentials credentials;
  int database = 0;
};

inline constexpr std::string_view kStoreUrlForms =
    "redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE], several HOST:PORT with commas for counters spread over them, "
    "unix://[USER:PASSWORD@]/PATH[?db=DATABASE], redis+sentinel://HOST[:PORT],.../PRIMARY[/DATABASE], "
    "redis+cluster://HOST[:PORT],...; rediss for TLS";

// Reads one of kStoreUrlForms. User and password may hold %XX. Errors: invalid_argument, without the credentials.
[[nodiscard]] Result<StoreUrl> parse_store_url(std::string_view text);

// As it may be shown: without credentials.
[[nodiscard]] std::string to_string(const StoreUrl& url);

}  // namespace penstock::server
