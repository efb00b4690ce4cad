// The conformance suite against the stores of this room, and the same with answers that come late.

#include <memory>

#include <gtest/gtest.h>

#include "penstock/store/memory/memory_store.h"
#include "penstock/store/testing/conformance_algorithms.h"
#include "penstock/store/testing/conformance_counters.h"
#include "penstock/store/testing/conformance_groups.h"
#include "penstock/store/testing/conformance_logs.h"
#include "penstock/store/testing/faulty_store.h"
#include "penstock/store/testing/model_store.h"

namespace penstock::store::testing {
namespace {

class MemorySubject : public Subject {
 public:
  Store& store() override { return store_; }

 private:
  MemoryStore store_{std::shared_ptr<Table>{Table::create({.capacity_keys = 1000}).value()}};
};

class ModelSubject : public Subject {
 public:
  Store& store() override { return store_; }

 private:
  ModelStore store_;
};

class DelayedSubject final : public MemorySubject {
 public:
  Store& store() override { return late_; }
  void answer_pending() override {
    while (late_.delayed() > 0) late_.answer(late_.delayed() - 1);
  }

 private:
  FaultyStore late_{MemorySubject::store(), {}, Fault::delay};
};

template <class T>
SubjectFactory factory(const char* name) {
  return {.name = name, .create = [] { return std::make_unique<T>(); }};
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreConformance,
                         ::testing::Values(factory<MemorySubject>("Memory"), factory<ModelSubject>("Model"),
                                           factory<DelayedSubject>("MemoryAnsweringLate")),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace penstock::store::testing
