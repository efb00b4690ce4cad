#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>

#include "penstock/protocol/rls_message.h"
#include "penstock/protocol/wire_reader.h"

namespace penstock::protocol {
namespace {

constexpr std::uint32_t varint(std::uint32_t field) { return WireReader::tag_of(field, WireReader::Type::varint); }
constexpr std::uint32_t bytes(std::uint32_t field) { return WireReader::tag_of(field, WireReader::Type::bytes); }

// Reads one request. Each method reads what its name says and is false when it could not, with `fault` set.
class RequestReader {
 public:
  RequestReader(std::string_view message, CheckBatch& batch) : message_{message}, batch_{batch} {}

  bool request() {
    return fields(WireReader{message_}, [this](WireReader& wire, std::uint32_t tag) {
      switch (tag) {
        case bytes(1): {
          std::string_view domain;
          if (!text(wire, "domain", domain)) return false;
          auto set = batch_.set_domain(domain);
          return set.has_value() || refuse(std::move(set.error()));
        }
        case bytes(2): return descriptor(wire);
        case varint(3): {
          std::uint32_t hits = 0;
          if (!number(wire, hits)) return false;
          batch_.set_hits_addend(hits);
          return true;
        }
        default: return skip(wire, tag);
      }
    });
  }

  [[nodiscard]] Error fault() { return std::move(fault_); }

 private:
  // Reads all fields of a message.
  template <class Read>
  bool fields(WireReader wire, const Read& read) {
    while (!wire.at_end()) {
      std::uint32_t tag = 0;
      if (!wire.tag(tag)) return malformed(wire);
      if (!read(wire, tag)) return false;
    }
    return true;
  }

  template <class Read>
  bool message(WireReader& outer, const Read& read) {
    std::string_view bytes;
    if (!outer.bytes(bytes)) return malformed(outer);
    return fields(outer.inner(bytes), read);
  }

  bool descriptor(WireReader& outer) {
    if (auto added = batch_.add_descriptor(); !added) return refuse(std::move(added.error()));
    return message(outer, [this](WireReader& wire, std::uint32_t tag) {
      switch (tag) {
        case bytes(1): return entry(wire);
        case bytes(2): return override_limit(wire);
        case bytes(3): return hits(wire);
        case varint(4): {
          std::uint64_t value = 0;
          if (!wire.varint(value)) return malformed(wire);
          batch_.last_descriptor().negative_hits = value != 0;
          return true;
        }
        default: return skip(wire, tag);
      }
    });
  }

  bool entry(WireReader& outer) {
    rules::Entry entry;
    const bool read = message(outer, [this, &entry](WireReader& wire, std::uint32_t tag) {
      switch (tag) {
        case bytes(1): return text(wire, "an entry's key", entry.key);
        case bytes(2): return text(wire, "an entry's value", entry.value);
        default: return skip(wire, tag);
      }
    });
    if (!read) return false;
    if (auto added = batch_.add_entry(entry); !added) return refuse(std::move(added.error()));
    return true;
  }

  bool override_limit(WireReader& outer) {
    std::optional<limiter::Override>& held = batch_.last_descriptor().limit;
    if (!held) held.emplace();
    limiter::Override& limit = *held;
    return message(outer, [this, &limit](WireReader& wire, std::uint32_t tag) {
      switch (tag) {
        case varint(1): return number(wire, limit.requests_per_unit);
        case varint(2): {
          std::uint32_t unit = 0;
          if (!number(wire, unit)) return false;
          limit.unit = static_cast<std::int32_t>(unit);
          return true;
        }
        default: return skip(wire, tag);
      }
    });
  }

  bool hits(WireReader& outer) {
    std::optional<std::uint64_t>& hits = batch_.last_descriptor().hits;
    if (!hits) hits = 0;
    return message(outer, [this, &hits](WireReader& wire, std::uint32_t tag) {
      if (tag != varint(1)) return skip(wire, tag);
      std::uint64_t value = 0;
      if (!wire.varint(value)) return malformed(wire);
      hits = value;
      return true;
    });
  }

  // A varint of 64 bits, cut to 32 as protobuf does.
  bool number(WireReader& wire, std::uint32_t& value) {
    std::uint64_t wide = 0;
    if (!wire.varint(wide)) return malformed(wire);
    value = static_cast<std::uint32_t>(wide);
    return true;
  }

  bool text(WireReader& wire, std::string_view what, std::string_view& view) {
    if (!wire.bytes(view)) return malformed(wire);
    if (google::protobuf::internal::IsStructurallyValidUTF8(view.data(), static_cast<int>(view.size()))) return true;
    return refuse({ErrorCode::internal, fmt::format("{} is not valid UTF-8", what), std::nullopt});
  }

  bool skip(WireReader& wire, std::uint32_t tag) { return wire.skip(tag) || malformed(wire); }

  bool malformed(const WireReader& wire) {
    return refuse({ErrorCode::internal,
                   fmt::format("the bytes are no RateLimitRequest: broken at byte {}", wire.at() - message_.data()),
                   std::nullopt});
  }

  bool refuse(Error error) {
    fault_ = std::move(error);
    return false;
  }

  std::string_view message_;
  CheckBatch& batch_;
  Error fault_;
};

}  // namespace

Result<void> decode_request(std::string_view message, CheckBatch& batch) {
  batch.begin();
  RequestReader reader{message, batch};
  if (reader.request()) return {};
  batch.abandon();
  return std::unexpected{reader.fault()};
}

}  // namespace penstock::protocol
