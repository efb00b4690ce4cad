#include <memory>
#include <string>

#include <boost/version.hpp>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <google/protobuf/stubs/common.h>
#include <nghttp2/nghttp2.h>
#include <openssl/crypto.h>
#include <spdlog/version.h>
#include <yaml.h>

#include "penstock/cli/commands.h"

namespace penstock::cli {
namespace {

std::string dotted(int number, int major_place, int minor_place) {
  return fmt::format("{}.{}.{}", number / major_place, number / minor_place % (major_place / minor_place),
                     number % minor_place);
}

// Of shared libraries the version that was loaded, of the others the one that was built in.
void print_libraries() {
  fmt::print("  nghttp2   {}\n", nghttp2_version(0)->version_str);
  fmt::print("  protobuf  {}\n", google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION));
  fmt::print("  boost     {}\n", dotted(BOOST_VERSION, 100'000, 100));
  fmt::print("  cli11     {}\n", CLI11_VERSION);
  fmt::print("  fmt       {}\n", dotted(FMT_VERSION, 10'000, 100));
  fmt::print("  spdlog    {}.{}.{}\n", SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH);
  fmt::print("  openssl   {}\n", OpenSSL_version(OPENSSL_VERSION_STRING));
  fmt::print("  libyaml   {}\n", yaml_get_version_string());
  fmt::print("  glibc     {}\n", gnu_get_libc_version());
}

}  // namespace

void add_version(CLI::App& app) {
  CLI::App* command = app.add_subcommand("version", "Print the version");
  auto verbose = std::make_shared<bool>(false);
  command->add_flag("--verbose", *verbose, "Also the libraries that are in it; default off");
  command->callback([verbose] {
    fmt::print("penstock {}\n", PENSTOCK_VERSION);
    if (*verbose) print_libraries();
  });
}

}  // namespace penstock::cli
