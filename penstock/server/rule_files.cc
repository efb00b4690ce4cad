#include "penstock/server/rule_files.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

namespace penstock::server {
namespace {

namespace fs = std::filesystem;

Error unreadable(const fs::path& path, std::string_view reason) {
  return {.code = ErrorCode::not_found,
          .message = fmt::format("cannot be read: {}", reason),
          .place = Place{.file = path.string()}};
}

bool is_rule_file(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

// The rule files below `folder`, sorted.
std::vector<fs::path> list(const fs::path& folder, std::vector<Error>& errors) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator at{folder, error};
  for (; !error && at != fs::end(at); at.increment(error)) {
    if (is_hidden(at->path())) {
      if (at->is_directory()) at.disable_recursion_pending();
      continue;
    }
    if (at->is_regular_file() && is_rule_file(at->path())) files.push_back(at->path());
  }
  if (error) errors.push_back(unreadable(folder, error.message()));
  std::ranges::sort(files);
  return files;
}

void read(const fs::path& path, std::vector<rules::Source>& sources, std::vector<Error>& errors) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > kMaxRuleFileBytes) {
    errors.push_back(unreadable(path, fmt::format("{} bytes, at most {} are accepted", size, kMaxRuleFileBytes)));
    return;
  }
  std::ifstream file{path, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (!file.is_open() || file.bad()) {
    errors.push_back(unreadable(path, std::generic_category().message(errno)));
    return;
  }
  sources.push_back({.name = path.string(), .text = std::move(text)});
}

}  // namespace

ResultOrAll<std::vector<rules::Source>> read_rule_files(std::span<const fs::path> paths) {
  std::vector<rules::Source> sources;
  std::vector<Error> errors;
  for (const fs::path& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      read(path, sources, errors);
      continue;
    }
    const std::vector<fs::path> files = list(path, errors);
    if (files.empty() && errors.empty()) {
      errors.push_back({.code = ErrorCode::not_found,
                        .message = "holds no rule files (*.yaml, *.yml, *.json)",
                        .place = Place{.file = path.string()}});
    }
    for (const fs::path& file : files) read(file, sources, errors);
  }
  if (!errors.empty()) return std::unexpected{std::move(errors)};
  return sources;
}

}  // namespace penstock::server
