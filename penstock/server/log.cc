#include "penstock/server/log.h"

#include <ctime>
#include <memory>

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace penstock::server {
namespace {

// One object a line: {"time":"2026-01-02T03:04:05.678Z","level":"info","message":"..."}
class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(message.time);
    const auto milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(message.time.time_since_epoch()).count() % 1000;
    const spdlog::string_view_t level = spdlog::level::to_string_view(message.level);
    const std::string text =
        boost::json::serialize(boost::json::string_view{message.payload.data(), message.payload.size()});
    fmt::format_to(fmt::appender(out), R"({{"time":"{:%FT%T}.{:03}Z","level":"{}","message":{}}})",
                   fmt::gmtime(seconds), milliseconds, std::string_view{level.data(), level.size()}, text);
    out.push_back('\n');
  }
  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonFormatter>(); }
};

}  // namespace

void start_log(LogFormat format, spdlog::level::level_enum level) {
  auto logger = std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  if (format == LogFormat::json) {
    logger->set_formatter(std::make_unique<JsonFormatter>());
  } else {
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %-5l %v", spdlog::pattern_time_type::utc);
  }
  logger->set_level(level);
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

Result<spdlog::level::level_enum> parse_log_level(std::string_view text) {
  if (text == "debug") return spdlog::level::debug;
  if (text == "info") return spdlog::level::info;
  if (text == "warn" || text == "warning") return spdlog::level::warn;
  if (text == "error") return spdlog::level::err;
  return fail(ErrorCode::invalid_argument,
              fmt::format("log level '{}' is unknown; accepted are debug, info, warn and error", text));
}

LogGate::Pass LogGate::pass(Instant now) noexcept {
  if (now - second_began_ >= std::chrono::seconds{1} || now < second_began_) {
    second_began_ = now;
    used_ = 0;
  }
  if (used_ >= burst_) {
    ++suppressed_;
    return {.open = false, .suppressed = suppressed_};
  }
  ++used_;
  const Pass pass{.open = true, .suppressed = suppressed_};
  suppressed_ = 0;
  return pass;
}

}  // namespace penstock::server
