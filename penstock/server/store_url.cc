#include "penstock/server/store_url.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace penstock::server {
namespace {

using store::redis::Endpoint;
using store::redis::Topology;

constexpr std::uint16_t kRedisPort = 6379;
constexpr std::uint16_t kSentinelPort = 26379;
constexpr int kMostDatabase = 65'535;

struct Scheme {
  std::string_view name;
  Topology topology;
  bool tls;
  bool unix_socket;
};
constexpr Scheme kSchemes[] = {
    {"redis", Topology::single, false, false},
    {"rediss", Topology::single, true, false},
    {"unix", Topology::single, false, true},
    {"redis+sentinel", Topology::sentinel, false, false},
    {"rediss+sentinel", Topology::sentinel, true, false},
    {"redis+cluster", Topology::cluster, false, false},
    {"rediss+cluster", Topology::cluster, true, false},
};

std::unexpected<Error> refuse(std::string_view what) {
  return fail(ErrorCode::invalid_argument, fmt::format("{}; accepted is {}", what, kStoreUrlForms));
}

template <class Number>
std::optional<Number> number_in(std::string_view text, Number least, Number most) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) return std::nullopt;
  return value;
}

std::optional<int> hex_digit(char digit) {
  return number_in<int>(std::string_view{&digit, 1}, 0, 9).or_else([digit]() -> std::optional<int> {
    const char lower = static_cast<char>(digit | 0x20);
    return lower >= 'a' && lower <= 'f' ? std::optional{lower - 'a' + 10} : std::nullopt;
  });
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const auto high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
    if (!high || !low) return std::nullopt;
    out.push_back(static_cast<char>(*high * 16 + *low));
    i += 2;
  }
  return out;
}

bool read_credentials(std::string_view text, store::redis::Credentials& into) {
  const std::size_t colon = text.find(':');
  const auto user = colon == std::string_view::npos ? std::optional<std::string>{""} : decoded(text.substr(0, colon));
  const auto password = decoded(colon == std::string_view::npos ? text : text.substr(colon + 1));
  if (!user || !password) return false;
  into = {.user = *user, .password = *password};
  return true;
}

std::optional<Endpoint> read_host(std::string_view text, std::uint16_t preset, bool tls) {
  Endpoint endpoint = {.host = {}, .port = preset, .tls = tls};
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    endpoint.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && !port.starts_with(':')) return std::nullopt;
    if (!port.empty()) port.remove_prefix(1);
  } else {
    const std::size_t colon = text.rfind(':');
    endpoint.host = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon + 1);
    if (colon != std::string_view::npos && port.empty()) return std::nullopt;
  }
  if (endpoint.host.empty()) return std::nullopt;
  if (port.empty()) return endpoint;
  const auto number = number_in<std::uint16_t>(port, 1, 65'535);
  if (!number) return std::nullopt;
  endpoint.port = *number;
  return endpoint;
}

Result<void> read_hosts(std::string_view text, const Scheme& scheme, StoreUrl& url) {
  const std::uint16_t preset = scheme.topology == Topology::sentinel ? kSentinelPort : kRedisPort;
  while (true) {
    const std::size_t comma = text.find(',');
    const auto host = read_host(text.substr(0, comma), preset, scheme.tls);
    if (!host) return refuse(fmt::format("'{}' is no HOST:PORT", text.substr(0, comma)));
    url.endpoints.push_back(*host);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (url.topology == Topology::single && url.endpoints.size() > 1) url.topology = Topology::hashed;
  return {};
}

Result<void> read_database(std::string_view text, StoreUrl& url) {
  const auto number = number_in(text, 0, kMostDatabase);
  if (!number) return refuse(fmt::format("'{}' is no number of a database", text));
  if (*number != 0 && url.topology == Topology::cluster) return refuse("a cluster has only database 0");
  url.database = *number;
  return {};
}

Result<StoreUrl> read_socket(std::string_view path, StoreUrl url) {
  const std::size_t query = path.find("?db=");
  url.endpoints = {{.host = std::string{path.substr(0, query)}, .port = 0}};
  if (!path.starts_with('/')) return refuse(fmt::format("'{}' is no absolute path", url.endpoints[0].host));
  if (query != std::string_view::npos) {
    if (auto read = read_database(path.substr(query + 4), url); !read) return std::unexpected{read.error()};
  }
  return url;
}

// What follows the hosts: of sentinels the primary's name, and a database.
Result<void> read_path(std::string_view path, StoreUrl& url) {
  if (url.topology == Topology::sentinel) {
    const std::size_t slash = path.find('/');
    url.primary_name = path.substr(0, slash);
    if (url.primary_name.empty()) return refuse("the sentinels need the primary's name: .../PRIMARY");
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
  }
  return path.empty() ? Result<void>{} : read_database(path, url);
}

}  // namespace

Result<StoreUrl> parse_store_url(std::string_view text) {
  const std::size_t colon = text.find("://");
  const std::string_view name = text.substr(0, colon);
  const Scheme* scheme = nullptr;
  for (const Scheme& each : kSchemes) {
    if (colon != std::string_view::npos && each.name == name) scheme = &each;
  }
  if (scheme == nullptr) return refuse("it is no address of a store");
  std::string_view rest = text.substr(colon + 3);
  StoreUrl url = {.topology = scheme->topology};
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    if (!read_credentials(rest.substr(0, at), url.credentials)) return refuse("its user or password has a broken %XX");
    rest.remove_prefix(at + 1);
  }
  if (scheme->unix_socket) return read_socket(rest, std::move(url));
  const std::size_t slash = rest.find('/');
  if (auto read = read_hosts(rest.substr(0, slash), *scheme, url); !read) return std::unexpected{read.error()};
  const std::string_view path = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
  if (auto read = read_path(path, url); !read) return std::unexpected{read.error()};
  return url;
}

std::string to_string(const StoreUrl& url) {
  std::vector<std::string> hosts;
  hosts.reserve(url.endpoints.size());
  for (const Endpoint& endpoint : url.endpoints) hosts.push_back(store::redis::to_string(endpoint));
  const bool tls = url.endpoints.front().tls;
  const std::string_view kind = url.topology == Topology::sentinel  ? "+sentinel"
                                : url.topology == Topology::cluster ? "+cluster"
                                                                    : "";
  if (url.endpoints.front().is_unix()) return fmt::format("unix://{}", hosts.front());
  std::string text = fmt::format("redis{}{}://{}", tls ? "s" : "", kind, fmt::join(hosts, ","));
  if (!url.primary_name.empty()) text += "/" + url.primary_name;
  if (url.database != 0) text += fmt::format("/{}", url.database);
  return text;
}

}  // namespace penstock::server
