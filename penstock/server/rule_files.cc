#include "penstock/server/rule_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace penstock::server {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxFolderDepth = 32;

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

// Appends the rule files below `folder`. What cannot be looked at is an error of its own, and does not hide the rest.
void list(const fs::path& folder, int depth, std::vector<fs::path>& files, std::vector<Error>& errors) {
  if (depth > kMaxFolderDepth) {
    errors.push_back(unreadable(folder, fmt::format("it lies more than {} folders deep", kMaxFolderDepth)));
    return;
  }
  std::error_code error;
  fs::directory_iterator at{folder, error};
  for (; !error && at != fs::end(at); at.increment(error)) {
    const fs::path& path = at->path();
    if (is_hidden(path)) continue;
    std::error_code unknown;
    const fs::file_status status = fs::status(path, unknown);
    if (fs::is_directory(status) && !fs::is_symlink(fs::symlink_status(path, unknown))) {
      list(path, depth + 1, files, errors);
    } else if (is_rule_file(path) && !fs::is_directory(status)) {
      files.push_back(path);
    }
  }
  if (error) errors.push_back(unreadable(folder, error.message()));
}

void read(const fs::path& path, std::vector<rules::Source>& sources, std::vector<Error>& errors) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!error && !fs::is_regular_file(status)) {
    errors.push_back(unreadable(path, "it is neither a file nor a folder"));
    return;
  }
  const std::uintmax_t size = error ? 0 : fs::file_size(path, error);
  if (error) {
    errors.push_back(unreadable(path, error.message()));
    return;
  }
  if (size > kMaxRuleFileBytes) {
    errors.push_back(unreadable(path, fmt::format("{} bytes, at most {} are accepted", size, kMaxRuleFileBytes)));
    return;
  }
  std::ifstream file{path, std::ios::binary};
  std::string text;
  std::array<char, 64UL * 1024> part;
  do {
    file.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
  } while (file && text.size() <= kMaxRuleFileBytes);
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
    std::vector<fs::path> files;
    const std::size_t errors_before = errors.size();
    list(path, 0, files, errors);
    std::ranges::sort(files);
    if (files.empty() && errors.size() == errors_before) {
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
