#include "penstock/yaml/document.h"

#include <algorithm>
#include <expected>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <yaml.h>

#include "penstock/base/check.h"
#include "penstock/yaml/scalar.h"

namespace penstock::yaml {
namespace {

constexpr std::string_view kStandardTag = "tag:yaml.org,2002:";

Mark mark_of(const yaml_mark_t& mark) {
  return {.line = static_cast<int>(mark.line) + 1, .column = static_cast<int>(mark.column) + 1};
}

std::string_view view(const yaml_char_t* text) {
  return text == nullptr ? std::string_view{} : std::string_view{reinterpret_cast<const char*>(text)};
}

std::string short_tag(const yaml_char_t* tag) {
  const std::string_view full = view(tag);
  if (!full.starts_with(kStandardTag)) return std::string{full};
  return "!!" + std::string{full.substr(kStandardTag.size())};
}

// libyaml knows only the byte where it stopped when it met a character that may not be there.
Mark place_of_byte(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {.line = static_cast<int>(std::ranges::count(before, '\n')) + 1,
          .column = static_cast<int>(before.size() - line_start) + 1};
}

bool is_tab(std::string_view text, Mark place) {
  for (int line = 1; line < place.line; ++line) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  const auto column = static_cast<std::size_t>(place.column);
  return column >= 1 && column <= text.size() && text[column - 1] == '\t';
}

class Event {
 public:
  Event() = default;
  ~Event() { yaml_event_delete(&raw_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  yaml_event_t* fresh() {
    yaml_event_delete(&raw_);
    return &raw_;
  }
  [[nodiscard]] const yaml_event_t& get() const { return raw_; }
  [[nodiscard]] yaml_event_type_t type() const { return raw_.type; }

 private:
  yaml_event_t raw_{};
};

}  // namespace

// Turns events into the nodes of one document.
class Composer {
 public:
  Composer(std::string_view text, const std::string& file) : text_{text}, file_{file} {
    PENSTOCK_CHECK(yaml_parser_initialize(&parser_) == 1);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Composer() { yaml_parser_delete(&parser_); }
  Composer(const Composer&) = delete;
  Composer& operator=(const Composer&) = delete;

  Result<Document> run();
  Result<std::vector<Document>> run_all();

 private:
  using Step = std::expected<void, Error>;
  using Composed = Result<const Node*>;

  struct Anchor {
    const Node* node;
    bool open;  // still being composed
  };

  Step begin();
  Step document();
  Step next();
  [[nodiscard]] Error syntax_error() const;
  [[nodiscard]] std::unexpected<Error> refuse(Mark mark, std::string message) const;

  Result<Node*> add(Kind kind, const yaml_char_t* tag, const yaml_char_t* anchor);
  Composed compose(int depth);
  Composed alias();
  Composed scalar();
  Composed sequence(int depth);
  Composed mapping(int depth);
  Step merge(Node& into, const Node& from);
  void close(const std::string& anchor);

  std::string_view text_;
  const std::string& file_;
  yaml_parser_t parser_{};
  Event event_;
  Document document_;
  std::size_t aliased_ = 0;
  std::unordered_map<std::string, Anchor> anchors_;
};

// Up to the start of the first document, or the end.
Composer::Step Composer::begin() {
  if (text_.size() > Document::kMaxTextBytes) {
    return refuse({}, fmt::format("{} bytes are too many: at most {}", text_.size(), Document::kMaxTextBytes));
  }
  if (Step step = next(); !step) return step;  // the stream's start
  return next();
}

// From its start to its end.
Composer::Step Composer::document() {
  const yaml_version_directive_t* version = event_.get().data.document_start.version_directive;
  if (version != nullptr && (version->major != 1 || version->minor != 1)) {
    return refuse(mark_of(event_.get().start_mark),
                  fmt::format("%YAML {}.{} is not read here; accepted is %YAML 1.1, or no directive", version->major,
                              version->minor));
  }
  if (Step step = next(); !step) return step;
  const Composed root = compose(1);
  if (!root) return std::unexpected{root.error()};
  document_.root_ = *root;
  return next();
}

Result<Document> Composer::run() {
  if (Step step = begin(); !step) return std::unexpected{step.error()};
  if (event_.type() == YAML_STREAM_END_EVENT) return std::move(document_);
  if (Step step = document(); !step) return std::unexpected{step.error()};
  document_.has_more_ = next().has_value() && event_.type() == YAML_DOCUMENT_START_EVENT;
  return std::move(document_);
}

Result<std::vector<Document>> Composer::run_all() {
  std::vector<Document> documents;
  if (Step step = begin(); !step) return std::unexpected{step.error()};
  while (event_.type() != YAML_STREAM_END_EVENT) {
    if (documents.size() == Document::kMaxDocuments) {
      return refuse(mark_of(event_.get().start_mark),
                    fmt::format("too many documents: at most {} in a file", Document::kMaxDocuments));
    }
    document_ = Document{};
    anchors_.clear();
    if (Step step = document(); !step) return std::unexpected{step.error()};
    if (Step step = next(); !step) return std::unexpected{step.error()};
    document_.has_more_ = event_.type() == YAML_DOCUMENT_START_EVENT;
    documents.push_back(std::move(document_));
  }
  return documents;
}

Composer::Step Composer::next() {
  if (yaml_parser_parse(&parser_, event_.fresh()) == 0) return std::unexpected{syntax_error()};
  return {};
}

Error Composer::syntax_error() const {
  const std::string_view problem = parser_.problem == nullptr ? "out of memory" : parser_.problem;
  Mark mark = mark_of(parser_.problem_mark);
  std::string message = fmt::format("not YAML: {}", problem);
  if (parser_.error == YAML_READER_ERROR) {
    mark = place_of_byte(text_, parser_.problem_offset);
    if (parser_.problem_value != -1) message += fmt::format(" (0x{:02X})", parser_.problem_value);
  } else if (parser_.context != nullptr) {
    const int begun = mark_of(parser_.context_mark).line;
    const std::string from = begun == mark.line ? "" : fmt::format(" from line {}", begun);
    message = fmt::format("not YAML: {}{}: {}", parser_.context, from, problem);
  }
  if (is_tab(text_, mark)) message += " (a tab; YAML is indented by spaces)";
  return refuse(mark, std::move(message)).error();
}

std::unexpected<Error> Composer::refuse(Mark mark, std::string message) const {
  return std::unexpected{Error{.code = ErrorCode::invalid_argument,
                               .message = std::move(message),
                               .place = Place{.file = file_, .line = mark.line, .column = mark.column}}};
}

Result<Node*> Composer::add(Kind kind, const yaml_char_t* tag, const yaml_char_t* anchor) {
  const Mark mark = mark_of(event_.get().start_mark);
  if (document_.nodes_.size() >= Document::kMaxNodes) {
    return refuse(mark, fmt::format("too many values: at most {} in a file", Document::kMaxNodes));
  }
  Node& node = document_.nodes_.emplace_back();
  node.kind = kind;
  node.mark = mark;
  node.tag = short_tag(tag);
  if (anchor != nullptr) anchors_[std::string{view(anchor)}] = {.node = &node, .open = true};
  return &node;
}

void Composer::close(const std::string& anchor) {
  if (!anchor.empty()) anchors_[anchor].open = false;
}

Composer::Composed Composer::compose(int depth) {
  if (depth > Document::kMaxDepth) {
    return refuse(mark_of(event_.get().start_mark),
                  fmt::format("nested too deeply: at most {} levels", Document::kMaxDepth));
  }
  if (event_.type() == YAML_ALIAS_EVENT) return alias();
  if (event_.type() == YAML_SCALAR_EVENT) return scalar();
  if (event_.type() == YAML_SEQUENCE_START_EVENT) return sequence(depth);
  PENSTOCK_CHECK(event_.type() == YAML_MAPPING_START_EVENT);
  return mapping(depth);
}

Composer::Composed Composer::alias() {
  const Mark mark = mark_of(event_.get().start_mark);
  const std::string name{view(event_.get().data.alias.anchor)};
  const auto found = anchors_.find(name);
  if (found == anchors_.end()) return refuse(mark, fmt::format("unknown anchor '{}': no '&{}' before it", name, name));
  if (found->second.open) return refuse(mark, fmt::format("anchor '{}' contains itself", name));
  aliased_ += found->second.node->expanded;
  if (aliased_ > Document::kMaxAliasedNodes) {
    return refuse(mark, fmt::format("aliases add too many values: at most {} in a file", Document::kMaxAliasedNodes));
  }
  return found->second.node;
}

Composer::Composed Composer::scalar() {
  const auto& data = event_.get().data.scalar;
  const Result<Node*> added = add(Kind::scalar, data.tag, data.anchor);
  if (!added) return std::unexpected{added.error()};
  Node& node = **added;
  node.plain = data.plain_implicit != 0 && data.style == YAML_PLAIN_SCALAR_STYLE;
  node.literal = data.style == YAML_LITERAL_SCALAR_STYLE;
  node.text.assign(reinterpret_cast<const char*>(data.value), data.length);
  close(std::string{view(data.anchor)});
  if (node.tag == "!!binary") {
    std::optional<std::string> bytes = decode_base64(node.text);
    if (!bytes) return refuse(node.mark, "not base64, which !!binary needs");
    node.text = std::move(*bytes);
  }
  if (!tag_fits(node)) {
    return refuse(node.mark, fmt::format("'{}' is {}, not {}", node.text.substr(0, 64),
                                         describe(resolve_plain(node.text).type), node.tag));
  }
  return &node;
}

Composer::Composed Composer::sequence(int depth) {
  const auto& data = event_.get().data.sequence_start;
  const std::string anchor{view(data.anchor)};
  const Result<Node*> added = add(Kind::sequence, data.tag, data.anchor);
  if (!added) return std::unexpected{added.error()};
  Node& node = **added;
  for (;;) {
    if (Step step = next(); !step) return std::unexpected{step.error()};
    if (event_.type() == YAML_SEQUENCE_END_EVENT) break;
    const Composed item = compose(depth + 1);
    if (!item) return item;
    node.items.push_back(*item);
    node.expanded += (*item)->expanded;
  }
  close(anchor);
  return &node;
}

Composer::Composed Composer::mapping(int depth) {
  const auto& data = event_.get().data.mapping_start;
  const std::string anchor{view(data.anchor)};
  const Result<Node*> added = add(Kind::mapping, data.tag, data.anchor);
  if (!added) return std::unexpected{added.error()};
  Node& node = **added;
  for (;;) {
    if (Step step = next(); !step) return std::unexpected{step.error()};
    if (event_.type() == YAML_MAPPING_END_EVENT) break;
    const Composed key = compose(depth + 1);
    if (!key) return key;
    if (Step step = next(); !step) return std::unexpected{step.error()};
    const Composed value = compose(depth + 1);
    if (!value) return value;
    node.expanded += (*key)->expanded + (*value)->expanded;
    const bool is_merge = (*key)->kind == Kind::scalar && (*key)->plain && (*key)->text == "<<";
    if (!is_merge) {
      node.pairs.push_back({.key = *key, .value = *value});
    } else if (Step step = merge(node, **value); !step) {
      return std::unexpected{step.error()};
    }
  }
  close(anchor);
  return &node;
}

Composer::Step Composer::merge(Node& into, const Node& from) {
  if (from.kind == Kind::mapping) {
    for (const Pair& pair : from.pairs) into.pairs.push_back({.key = pair.key, .value = pair.value, .merged = true});
    return {};
  }
  const bool all_mappings = from.kind == Kind::sequence && std::ranges::all_of(from.items, [](const Node* item) {
                              return item->kind == Kind::mapping;
                            });
  if (!all_mappings) return refuse(from.mark, "'<<' merges a mapping or a list of mappings; this is neither");
  for (auto item = from.items.rbegin(); item != from.items.rend(); ++item) {
    if (Step step = merge(into, **item); !step) return step;
  }
  return {};
}

Result<Document> Document::read(std::string_view text, const std::string& file) { return Composer{text, file}.run(); }

Result<std::vector<Document>> Document::read_all(std::string_view text, const std::string& file) {
  return Composer{text, file}.run_all();
}

}  // namespace penstock::yaml
