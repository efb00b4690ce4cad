#include <memory>
#include <utility>

#include "penstock/rules/builder.h"
#include "penstock/rules/findings.h"
#include "penstock/rules/reader.h"
#include "penstock/rules/rule_set.h"
#include "penstock/yaml/document.h"

namespace penstock::rules {

ResultOrAll<Loaded> load(std::span<const Source> sources, const LoadOptions& options) {
  Findings findings;
  Builder builder{options, findings};
  for (const Source& source : sources) {
    findings.begin(source.name);
    Result<yaml::Document> document = yaml::Document::read(source.text, source.name);
    if (!document) {
      findings.error(std::move(document.error()));
      continue;
    }
    if (document->has_more()) findings.warning({}, "only the first of several YAML documents is read");
    builder.add(read_file(document->root(), findings));
  }
  if (findings.any_error()) return std::unexpected{findings.take_errors()};
  return Loaded{.rules = std::make_shared<const RuleSet>(builder.take()), .warnings = findings.take_warnings()};
}

}  // namespace penstock::rules
