#include "penstock/rules/metadata_reader.h"

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "penstock/base/utf8.h"
#include "penstock/rules/values.h"
#include "penstock/yaml/scalar.h"

namespace penstock::rules {
namespace {

using yaml::Kind;
using yaml::Node;
using yaml::Type;

constexpr std::string_view kAdditions = "penstock";

// Keys keep their text, also where they look like numbers or booleans; so it is in envoyproxy/ratelimit.
const std::string& key_text(const Node& key) {
  static const std::string kNone;
  return key.kind == Kind::scalar ? key.text : kNone;
}

class MetadataReader {
 public:
  explicit MetadataReader(Findings& findings) : findings_{findings} {}

  Metadata map(const Node& mapping, bool at_root) {
    std::map<std::string, Metadata> last;  // of equal keys
    for (const yaml::Pair& pair : mapping.pairs) {
      const std::string& key = key_text(*pair.key);
      if (at_root && key == kAdditions) continue;
      check_text(key, pair.key->mark);
      last.insert_or_assign(key, value(*pair.value));
    }
    return {.value = Metadata::Map{last.begin(), last.end()}};
  }

  [[nodiscard]] bool fine() const { return fine_; }

 private:
  Metadata value(const Node& node) {
    if (++values_ > kMaxMetadataValues) {
      refuse(node.mark, fmt::format("'metadata' has more than {} values, which is the most", kMaxMetadataValues));
      return {};
    }
    switch (node.kind) {
      case Kind::mapping: return map(node, false);
      case Kind::sequence: return list(node);
      case Kind::scalar: return scalar(node);
    }
    return {};
  }

  Metadata list(const Node& node) {
    Metadata::List list;
    for (const Node* item : node.items) {
      if (!fine_) break;
      list.push_back(value(*item));
    }
    return {.value = std::move(list)};
  }

  Metadata scalar(const Node& node) {
    const yaml::Scalar scalar = yaml::resolve(node);
    switch (scalar.type) {
      case Type::null: return {};
      case Type::boolean: return {.value = scalar.boolean};
      case Type::integer:
      case Type::other_number: return number(node);
      case Type::text: break;
    }
    check_text(node.text, node.mark);
    return {.value = node.text};
  }

  Metadata number(const Node& node) {
    const double number = yaml::to_double(node);
    if (std::isfinite(number)) return {.value = number};
    findings_.warning(node.mark, fmt::format("{} in 'metadata' is no number in JSON; callers get null", show(node)));
    return {};
  }

  void check_text(const std::string& text, yaml::Mark mark) {
    if (!is_utf8(text)) refuse(mark, "text in 'metadata' that is no UTF-8; callers cannot be given it");
    text_bytes_ += text.size();
    if (text_bytes_ > kMaxMetadataTextBytes) {
      refuse(mark, fmt::format("'metadata' has more than {} bytes of text, which is the most", kMaxMetadataTextBytes));
    }
  }

  void refuse(yaml::Mark mark, std::string message) {
    if (fine_) findings_.error(mark, std::move(message));
    fine_ = false;
  }

  Findings& findings_;
  std::size_t values_ = 0;
  std::size_t text_bytes_ = 0;
  bool fine_ = true;
};

}  // namespace

const Node* find_additions(const Node& mapping) {
  const Node* found = nullptr;
  for (const yaml::Pair& pair : mapping.pairs) {
    if (key_text(*pair.key) == kAdditions) found = pair.value;
  }
  return found;
}

std::shared_ptr<const Metadata> read_metadata(const Node& mapping, Findings& findings) {
  MetadataReader reader{findings};
  Metadata metadata = reader.map(mapping, true);
  if (!reader.fine() || std::get<Metadata::Map>(metadata.value).empty()) return nullptr;
  return std::make_shared<const Metadata>(std::move(metadata));
}

}  // namespace penstock::rules
