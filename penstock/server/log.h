#pragma once

#include <cstdint>
#include <string_view>

#include <spdlog/common.h>

#include "penstock/base/error.h"
#include "penstock/base/instant.h"

namespace penstock::server {

enum class LogFormat : std::uint8_t { text, json };

// Sets up the process's log: one line an event on standard error, as text or as one JSON object. Call once, early.
void start_log(LogFormat format, spdlog::level::level_enum level);

// "debug", "info", "warn" or "error". Errors: invalid_argument.
[[nodiscard]] Result<spdlog::level::level_enum> parse_log_level(std::string_view text);

// Lets the first `burst` events of a second through and counts the rest, so that a storm of one kind of event cannot
// become a storm of log lines. Pure. Threading: Loop-owned.
class LogGate {
 public:
  explicit LogGate(std::uint32_t burst) : burst_{burst} {}

  struct Pass {
    bool open;
    std::uint64_t suppressed;  // events held back since the last one let through
  };
  Pass pass(Instant now) noexcept;

 private:
  std::uint32_t burst_;
  std::uint32_t used_ = 0;
  std::uint64_t suppressed_ = 0;
  Instant second_began_{};
};

}  // namespace penstock::server
