#include "penstock/cli/settings_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "penstock/yaml/document.h"

namespace penstock::cli {
namespace {

using yaml::Kind;
using yaml::Node;

class Reader {
 public:
  explicit Reader(const std::string& file) : file_{file} {}

  Result<std::vector<NamedStore>> root(const Node& root) const {
    std::vector<NamedStore> stores;
    if (root.kind != Kind::mapping) return wrong(root, "a settings file is a mapping with `stores`");
    for (const yaml::Pair& pair : root.pairs) {
      if (pair.key->text != "stores")
        return wrong(*pair.key, fmt::format("'{}' is no setting; accepted is stores", pair.key->text));
      if (pair.value->kind != Kind::mapping) return wrong(*pair.value, "'stores' is a mapping from names to stores");
      for (const yaml::Pair& entry : pair.value->pairs) {
        auto store = read_store(entry);
        if (!store) return std::unexpected{store.error()};
        stores.push_back(std::move(*store));
      }
    }
    if (stores.size() > kMaxNamedStores) {
      return wrong(root, fmt::format("{} stores; accepted are up to {}", stores.size(), kMaxNamedStores));
    }
    return stores;
  }

 private:
  [[nodiscard]] std::unexpected<Error> wrong(const Node& node, std::string message) const {
    return std::unexpected{Error{.code = ErrorCode::invalid_argument,
                                 .message = std::move(message),
                                 .place = Place{.file = file_, .line = node.mark.line, .column = node.mark.column}}};
  }

  [[nodiscard]] Result<NamedStore> read_store(const yaml::Pair& entry) const {
    NamedStore store = {.name = entry.key->text, .url = {}, .password_file = {}, .ca_file = {}};
    if (store.name.empty()) return wrong(*entry.key, "a store needs a name");
    if (entry.value->kind != Kind::mapping)
      return wrong(*entry.value, "a store is a mapping with url, password_file and ca");
    for (const yaml::Pair& field : entry.value->pairs) {
      const std::string& name = field.key->text;
      std::string* const into = name == "url"             ? &store.url
                                : name == "password_file" ? &store.password_file
                                : name == "ca"            ? &store.ca_file
                                                          : nullptr;
      if (into == nullptr)
        return wrong(*field.key,
                     fmt::format("'{}' is no field of a store; accepted are url, password_file and ca", name));
      if (field.value->kind != Kind::scalar) return wrong(*field.value, fmt::format("'{}' is a text", name));
      *into = field.value->text;
    }
    if (store.url.empty()) return wrong(*entry.key, fmt::format("store '{}' has no url", store.name));
    return store;
  }

  const std::string& file_;
};

}  // namespace

Result<std::vector<NamedStore>> read_settings_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return fail(ErrorCode::not_found, fmt::format("{} cannot be read", path));
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  return read_settings(text, path);
}

Result<std::vector<NamedStore>> read_settings(const std::string& text, const std::string& name) {
  const auto document = yaml::Document::read(text, name);
  if (!document) return std::unexpected{document.error()};
  if (document->root() == nullptr) return std::vector<NamedStore>{};
  return Reader{name}.root(*document->root());
}

}  // namespace penstock::cli
