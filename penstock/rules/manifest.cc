#include "penstock/rules/manifest.h"

#include <algorithm>

#include <fmt/format.h>

#include "penstock/yaml/document.h"

namespace penstock::rules {
namespace {

using yaml::Kind;
using yaml::Node;

const Node* child(const Node& mapping, std::string_view key) {
  const Node* found = nullptr;
  for (const yaml::Pair& pair : mapping.pairs) {
    if (pair.key->kind == Kind::scalar && pair.key->text == key) found = pair.value;
  }
  return found;
}

bool has_text(const Node& mapping, std::string_view key, std::string_view text) {
  const Node* const value = child(mapping, key);
  return value != nullptr && value->kind == Kind::scalar && value->text == text;
}

bool is_named_as_yaml(std::string_view key) { return key.ends_with(".yaml") || key.ends_with(".yml"); }

// Empty if the text holds rules, else why it is skipped.
std::string why_skipped(std::string_view key, const std::string& text) {
  const auto document = yaml::Document::read(text, "");
  if (!document) return is_named_as_yaml(key) ? "" : "no YAML";
  const Node* const root = document->root();
  const bool holds_rules =
      root != nullptr && (child(*root, "domain") != nullptr || child(*root, "descriptors") != nullptr);
  return holds_rules ? "" : "neither 'domain' nor 'descriptors' in it";
}

class Collector {
 public:
  Collector(std::string_view text, const std::string& file, Manifest& manifest)
      : text_{text}, file_{file}, manifest_{manifest} {}

  // Whether the node is a ConfigMap, or a List with one.
  bool take(const Node& node) {
    if (node.kind != Kind::mapping || child(node, "apiVersion") == nullptr) return false;
    if (has_text(node, "kind", "List") || has_text(node, "kind", "ConfigMapList")) {
      const Node* const items = child(node, "items");
      if (items == nullptr) return false;
      return std::ranges::count_if(items->items, [this](const Node* item) { return take(*item); }) > 0;
    }
    if (!has_text(node, "kind", "ConfigMap")) return false;
    if (const Node* const data = child(node, "data")) take_data(*data);
    if (const Node* const binary = child(node, "binaryData")) {
      for (const yaml::Pair& pair : binary->pairs) skip(pair.key->text, "binaryData");
    }
    return true;
  }

 private:
  void take_data(const Node& data) {
    for (const yaml::Pair& pair : data.pairs) {
      const Node& value = *pair.value;
      const std::string why = value.kind == Kind::scalar ? why_skipped(pair.key->text, value.text) : "no text";
      if (!why.empty()) {
        skip(pair.key->text, why);
        continue;
      }
      manifest_.parts.push_back({.key = pair.key->text,
                                 .text = value.text,
                                 .place = {.file = file_, .line = value.mark.line, .column = value.mark.column},
                                 .keeps_lines = value.literal,
                                 .indent = value.literal ? indent_below(value.mark.line) : 0});
    }
  }

  void skip(std::string_view key, std::string_view why) {
    manifest_.skipped.push_back(fmt::format("{}: {}", key, why));
  }

  // The blanks before the first line below that has anything else.
  [[nodiscard]] int indent_below(int line) const {
    std::string_view rest = text_;
    for (int i = 0; i < line; ++i) rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
    while (!rest.empty()) {
      const std::string_view first = rest.substr(0, rest.find('\n'));
      const std::size_t blanks = first.find_first_not_of(' ');
      if (blanks != std::string_view::npos && first[blanks] != '\r') return static_cast<int>(blanks);
      rest.remove_prefix(std::min(first.size() + 1, rest.size()));
    }
    return 0;
  }

  std::string_view text_;
  const std::string& file_;
  Manifest& manifest_;
};

}  // namespace

std::optional<Manifest> read_manifest(std::string_view text, const std::string& file) {
  if (text.find("ConfigMap") == std::string_view::npos) return std::nullopt;
  const auto documents = yaml::Document::read_all(text, file);
  if (!documents) return std::nullopt;
  Manifest manifest;
  Collector collector{text, file, manifest};
  bool any = false;
  for (const yaml::Document& document : *documents)
    any |= document.root() != nullptr && collector.take(*document.root());
  if (!any) return std::nullopt;
  return manifest;
}

Place place_in_manifest(const ManifestPart& part, const Place& place) {
  if (!part.keeps_lines || place.line == 0) return part.place;
  return {.file = part.place.file,
          .line = part.place.line + place.line,
          .column = place.column == 0 ? 0 : place.column + part.indent};
}

}  // namespace penstock::rules
