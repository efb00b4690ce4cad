#pragma once

#include <string>
#include <vector>

#include "penstock/base/error.h"

namespace penstock::cli {

// A shared store by the name that rules give it.
struct NamedStore {
  std::string name;
  std::string url;
  std::string password_file;
  std::string ca_file;
};

inline constexpr std::size_t kMaxNamedStores = 14;

// Reads a settings file:
//
//   stores:
//     NAME:
//       url: redis://...
//       password_file: PATH    # optional
//       ca: PATH               # optional
//
// Errors: the first thing that is wrong, with its place and what is accepted.
[[nodiscard]] Result<std::vector<NamedStore>> read_settings_file(const std::string& path);
[[nodiscard]] Result<std::vector<NamedStore>> read_settings(const std::string& text, const std::string& name);

}  // namespace penstock::cli
