#include "penstock/server/shared_store.h"

#include <fstream>
#include <random>
#include <utility>

#include <boost/asio/ssl/host_name_verification.hpp>
#include <fmt/format.h>
#include <openssl/err.h>

namespace penstock::server {
namespace {

namespace ssl = boost::asio::ssl;

constexpr Nanoseconds kHurriedTick = std::chrono::milliseconds{1};
constexpr Nanoseconds kUnreadyTick = std::chrono::milliseconds{5};

std::function<store::redis::Credentials()> credentials_of(const SharedStoreSettings& settings) {
  if (settings.password_file.empty()) return settings.redis.credentials;
  return [given = settings.redis.credentials, path = settings.password_file] {
    store::redis::Credentials credentials = given ? given() : store::redis::Credentials{};
    std::ifstream file{path};
    std::string line;
    if (std::getline(file, line)) credentials.password = line.substr(0, line.find('\r'));
    return credentials;
  };
}

store::redis::RedisOptions options_of(const SharedStoreSettings& settings) {
  store::redis::RedisOptions options = settings.redis;
  options.credentials = credentials_of(settings);
  options.seed = std::random_device{}();
  return options;
}

std::string label_of(const SharedStoreSettings& settings) {
  if (settings.per_second) return "per_second";
  return settings.name.empty() ? "common" : settings.name;
}

}  // namespace

Result<std::shared_ptr<ssl::context>> tls_context(const TlsSettings& settings) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
  boost::system::error_code error;
  const auto failed = [&](const std::string& file, std::string_view what) {
    return fail(ErrorCode::invalid_argument, fmt::format("{}: {} for the store: {}", file, what, error.message()));
  };
  context->set_options(ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1 | ssl::context::default_workarounds, error);
  context->set_verify_mode(ssl::verify_peer, error);
  if (settings.ca_file.empty()) {
    context->set_default_verify_paths(error);
  } else {
    context->load_verify_file(settings.ca_file, error);
    if (error) return failed(settings.ca_file, "no certificate of an authority");
  }
  if (settings.certificate_file.empty()) return context;
  context->use_certificate_chain_file(settings.certificate_file, error);
  if (error) return failed(settings.certificate_file, "no certificate of ours");
  context->use_private_key_file(settings.key_file, ssl::context::pem, error);
  if (error) return failed(settings.key_file, "no key of our certificate");
  return context;
}

SharedStore::SharedStore(boost::asio::io_context& io, const WallOffset& clock, const SharedStoreSettings& settings,
                         std::shared_ptr<ssl::context> tls, std::shared_ptr<store::DeniedTable> denied,
                         const store::DeniedOptions& denied_options)
    : label_{label_of(settings)},
      clock_{clock},
      wires_{io, clock, std::move(tls), settings.tls.server_name, settings.tls.check_server_name, [this] { hasten(); }},
      redis_{options_of(settings), wires_},
      timer_{io} {
  wires_.serve(redis_);
  if (denied) front_ = std::make_unique<store::DeniedStore>(redis_, std::move(denied), denied_options);
}

void SharedStore::start() { turn(); }

void SharedStore::stop() {
  stopped_ = true;
  timer_.cancel();
  wires_.close_all();
}

void SharedStore::turn() {
  if (stopped_) return;
  redis_.tick(clock_.at(read_monotonic()));
  const bool ready = redis_.ready();
  ready_.store(ready, std::memory_order_relaxed);
  hurried_ = redis_.pending() > 0;
  wait(hurried_ ? kHurriedTick : ready ? redis_.until_tick() : kUnreadyTick);
}

void SharedStore::wait(Nanoseconds span) {
  timer_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(span));
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error) turn();
  });
}

// Somebody waits from now on, and the timer may be set for longer than that.
void SharedStore::hasten() {
  if (hurried_ || stopped_) return;
  hurried_ = true;
  wait(kHurriedTick);
}

}  // namespace penstock::server
