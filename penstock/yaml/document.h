#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/yaml/node.h"

namespace penstock::yaml {

// A document of a YAML 1.1 text, composed of libyaml's events. UTF-8, and UTF-16 with a byte order mark.
//
// Merge keys (`<<`) count where they stand, as in Go's yaml.v2: they override what is above them and are overridden by
// what is below; of a list of mappings the first has precedence.
//
// Threading: Immutable once read. Ownership: keeps its nodes; moving it keeps them where they are.
// Cost: linear in the text. Hostile texts are bounded by the maxima below; an error names the one that was passed.
class Document {
 public:
  static constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;
  static constexpr std::size_t kMaxNodes = 4'000'000;         // in the text
  static constexpr std::size_t kMaxAliasedNodes = 1'000'000;  // that aliases add to those
  static constexpr int kMaxDepth = 500;

  // Errors: invalid_argument with the place in `file`.
  [[nodiscard]] static Result<Document> read(std::string_view text, const std::string& file);

  // All documents of the text. Errors: as `read`, and where there are more than kMaxDocuments.
  static constexpr std::size_t kMaxDocuments = 1'000;
  [[nodiscard]] static Result<std::vector<Document>> read_all(std::string_view text, const std::string& file);

  // Null for a text without a document, such as one of comments.
  [[nodiscard]] const Node* root() const noexcept { return root_; }

  // Whether a further document follows, which nobody reads.
  [[nodiscard]] bool has_more() const noexcept { return has_more_; }

  Document(Document&&) = default;
  Document& operator=(Document&&) = default;

 private:
  friend class Composer;
  Document() = default;

  std::deque<Node> nodes_;
  const Node* root_ = nullptr;
  bool has_more_ = false;
};

}  // namespace penstock::yaml
