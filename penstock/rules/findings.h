#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/yaml/node.h"

namespace penstock::rules {

// A text from a file in one line: control characters escaped.
[[nodiscard]] std::string escaped(std::string_view text);

// A text from a file, in quotes, for a message: cut where it is long, control characters escaped.
[[nodiscard]] std::string in_quotes(std::string_view text);

// Collects what is wrong with the sources of one load, in the order in which it stands in them.
// Threading: Externally synchronised.
class Findings {
 public:
  static constexpr std::size_t kMaxKept = 1000;  // of each kind; what is taken then ends with a remark

  // What follows is about this source.
  void begin(std::string source);

  void error(yaml::Mark mark, std::string message) { keep(errors_, mark, std::move(message)); }
  void warning(yaml::Mark mark, std::string message) { keep(warnings_, mark, std::move(message)); }
  void error(Error error);
  void warning(Place place, std::string message);  // not in order: what concerns several sources comes last

  [[nodiscard]] const std::string& source() const noexcept { return source_; }
  [[nodiscard]] Place place(yaml::Mark mark) const {
    return {.file = source_, .line = mark.line, .column = mark.column};
  }

  // Whether further errors are dropped, so that their messages need not be made.
  [[nodiscard]] bool full() const noexcept { return errors_.list.size() >= kMaxKept; }

  [[nodiscard]] bool any_error() const noexcept { return !errors_.list.empty(); }
  [[nodiscard]] std::vector<Error> take_errors() { return take(errors_); }
  [[nodiscard]] std::vector<Error> take_warnings() { return take(warnings_); }

 private:
  struct Kept {
    std::vector<Error> list;
    std::size_t begin = 0;  // of the current source
  };

  void keep(Kept& kept, yaml::Mark mark, std::string message);
  static void insert(Kept& kept, Error error);
  [[nodiscard]] static std::vector<Error> take(Kept& kept);

  std::string source_;
  Kept errors_;
  Kept warnings_;
};

}  // namespace penstock::rules
