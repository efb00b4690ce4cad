#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/rules/builder.h"
#include "penstock/rules/findings.h"
#include "penstock/rules/lint.h"
#include "penstock/rules/reader.h"
#include "penstock/rules/rule_set.h"
#include "penstock/yaml/document.h"

namespace penstock::rules {

ResultOrAll<Loaded> load(std::span<const Source> sources, const LoadOptions& options) {
  Findings findings;
  Builder builder{options, findings};
  // The order of wildcards of several files decides between them, so it must not depend on how files were found.
  std::vector<const Source*> ordered;
  for (const Source& source : sources) ordered.push_back(&source);
  std::ranges::sort(ordered, {},
                    [](const Source* source) { return std::pair{std::string_view{source->name}, source}; });
  for (const Source* in_order : ordered) {
    const Source& source = *in_order;
    findings.begin(source.name);
    Result<yaml::Document> document = yaml::Document::read(source.text, source.name);
    if (!document) {
      findings.error(std::move(document.error()));
      continue;
    }
    if (document->has_more()) findings.warning(yaml::Mark{}, "only the first of several YAML documents is read");
    const FileDraft draft = read_file(document->root(), findings);
    lint_file(draft, findings);
    builder.add(draft);
  }
  if (findings.any_error()) return std::unexpected{findings.take_errors()};
  auto rules = std::make_shared<const RuleSet>(builder.take());
  return Loaded{.rules = std::move(rules), .warnings = findings.take_warnings()};
}

}  // namespace penstock::rules
