#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "penstock/rules/draft.h"
#include "penstock/rules/findings.h"
#include "penstock/rules/limit_maker.h"
#include "penstock/rules/lint.h"
#include "penstock/rules/rule_set.h"
#include "penstock/rules/tree.h"

namespace penstock::rules {

// Compiles rule files, one after the other, into one set; checks what concerns more than one field. What is wrong goes
// to the findings, and what was built then must not be used.
class Builder {
 public:
  Builder(const LoadOptions& options, Findings& findings);

  // Requires: findings.begin() was called for the file.
  void add(const FileDraft& file);

  // Once all files were added without an error; what is odd about them together goes to the findings.
  [[nodiscard]] std::unique_ptr<const Compiled> take();

 private:
  RuleSet::Domain& domain(const Stated<std::string>& name);
  struct Parent {
    const std::string& domain;
    const std::string& path;
    const std::string& label;
  };

  void all_or_nothing(const Stated<bool>& stated, RuleSet::Domain& domain);
  void store(const Stated<std::string>& stated, RuleSet::Domain& domain);
  [[nodiscard]] StoreNames stores() const { return {.known = options_.stores, .of_file = file_store_}; }
  void descriptor(const DescriptorDraft& draft, const Parent& parent, Level& level);
  void insert(std::unique_ptr<Node> node, const std::string& path, yaml::Mark mark, Level& level);
  void limits(const DescriptorDraft& draft, Rule& rule);
  [[nodiscard]] const Rule* rule(const DescriptorDraft& draft, const Parent& place);
  void single_limit(const LimitDraft& draft, Rule& rule);
  void names(const LimitDraft& draft, Rule& rule);
  void check_flags(const DescriptorDraft& draft, const Node& node);
  [[nodiscard]] std::string place_of(std::uint32_t source, yaml::Mark mark) const;

  LoadOptions options_;
  std::string file_store_;  // of the file at hand
  Findings& findings_;
  std::vector<ReplacedName> replaced_;
  std::unique_ptr<Compiled> compiled_ = std::make_unique<Compiled>();
};

}  // namespace penstock::rules
