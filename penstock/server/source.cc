#include "penstock/server/source.h"

#include <functional>

#include "penstock/base/check.h"

namespace penstock::server {

Source source_of(const boost::asio::ip::address& address) noexcept {
  if (address.is_v4()) return {.network = address.to_v4().to_uint(), .v6 = false};
  const auto bytes = address.to_v6().to_bytes();
  const auto number = [&bytes](std::size_t begin, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = begin; i < begin + size; ++i) value = value << 8 | bytes[i];
    return value;
  };
  if (address.to_v6().is_v4_mapped()) return {.network = number(12, 4), .v6 = false};
  return {.network = number(0, 8), .v6 = true};
}

std::size_t SourceLimit::Hash::operator()(const Source& source) const noexcept {
  return std::hash<std::uint64_t>{}(source.network) ^ (source.v6 ? 1U : 0U);
}

bool SourceLimit::enter(const Source& source) {
  if (most_ == 0) return false;
  std::size_t& open = open_[source];
  if (open == most_) return false;
  ++open;
  return true;
}

void SourceLimit::leave(const Source& source) {
  const auto found = open_.find(source);
  PENSTOCK_CHECK(found != open_.end());
  if (--found->second == 0) open_.erase(found);
}

}  // namespace penstock::server
