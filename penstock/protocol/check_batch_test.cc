#include "penstock/protocol/check_batch.h"

#include <gtest/gtest.h>

namespace penstock::protocol {
namespace {

TEST(CheckBatch, KeepsEachCheckApart) {
  CheckBatch batch;
  batch.begin();
  ASSERT_TRUE(batch.set_domain("one"));
  ASSERT_TRUE(batch.add_descriptor());
  ASSERT_TRUE(batch.add_entry({"a", "1"}));
  ASSERT_TRUE(batch.add_entry({"b", "2"}));
  ASSERT_TRUE(batch.add_descriptor());
  batch.commit(7, Instant::max());
  batch.begin();
  ASSERT_TRUE(batch.set_domain("two"));
  batch.set_hits_addend(3);
  ASSERT_TRUE(batch.add_descriptor());
  ASSERT_TRUE(batch.add_entry({"c", "3"}));
  batch.commit(8, Instant{});

  const auto checks = batch.checks();
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].domain, "one");
  EXPECT_EQ(checks[0].ticket, 7U);
  ASSERT_EQ(checks[0].descriptors.size(), 2U);
  ASSERT_EQ(checks[0].descriptors[0].entries.size(), 2U);
  EXPECT_EQ(checks[0].descriptors[0].entries[1].key, "b");
  EXPECT_TRUE(checks[0].descriptors[1].entries.empty());
  EXPECT_EQ(checks[1].hits_addend, 3U);
  EXPECT_EQ(checks[1].deadline, Instant{});
  ASSERT_EQ(checks[1].descriptors.size(), 1U);
  EXPECT_EQ(checks[1].descriptors[0].entries[0].value, "3");
}

TEST(CheckBatch, ForgetsWhatWasAbandoned) {
  CheckBatch batch;
  batch.begin();
  ASSERT_TRUE(batch.add_descriptor());
  ASSERT_TRUE(batch.add_entry({"bad", "bad"}));
  batch.abandon();
  batch.begin();
  ASSERT_TRUE(batch.add_descriptor());
  ASSERT_TRUE(batch.add_entry({"good", "good"}));
  batch.commit(1, Instant::max());
  const auto checks = batch.checks();
  ASSERT_EQ(checks.size(), 1U);
  ASSERT_EQ(checks[0].descriptors.size(), 1U);
  EXPECT_EQ(checks[0].descriptors[0].entries[0].key, "good");
}

TEST(CheckBatch, RefusesMoreThanItsMaxima) {
  CheckBatch batch;
  batch.begin();
  for (std::size_t i = 0; i < CheckBatch::kMaxDescriptors; ++i) ASSERT_TRUE(batch.add_descriptor());
  for (std::size_t i = 0; i < CheckBatch::kMaxEntriesPerDescriptor; ++i) ASSERT_TRUE(batch.add_entry({"k", "v"}));
  const auto entry = batch.add_entry({"k", "v"});
  ASSERT_FALSE(entry);
  EXPECT_EQ(entry.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(entry.error().message, "descriptors[9999] has more than 1000 entries, which is the most");
  const auto descriptor = batch.add_descriptor();
  ASSERT_FALSE(descriptor);
  EXPECT_EQ(descriptor.error().message, "the request has more than 10000 descriptors, which is the most");
}

TEST(CheckBatch, RefusesTextsPastTheirMaximaWithoutShowingThem) {
  const std::string longest(CheckBatch::kMaxTextBytes, 's');
  const std::string longer = longest + "s";
  CheckBatch batch;
  batch.begin();
  ASSERT_TRUE(batch.set_domain(longest));
  EXPECT_EQ(batch.set_domain(longer).error().message, "domain has 65537 bytes; at most 65536 are accepted");
  batch.begin();
  ASSERT_TRUE(batch.add_descriptor());
  ASSERT_TRUE(batch.add_entry({longest, longest}));
  EXPECT_EQ(batch.add_entry({"k", longer}).error().message,
            "descriptors[0].entries[1].value has 65537 bytes; at most 65536 are accepted");
  EXPECT_EQ(batch.add_entry({longer, "v"}).error().message,
            "descriptors[0].entries[1].key has 65537 bytes; at most 65536 are accepted");
  EXPECT_EQ(batch.refused(), 3U);
}

TEST(CheckBatch, RefusesMoreTextThanItsMaximumTogether) {
  const std::string longest(CheckBatch::kMaxTextBytes, 's');
  CheckBatch batch;
  for (int check = 0; check < 2; ++check) {  // each for itself
    batch.begin();
    ASSERT_TRUE(batch.add_descriptor());
    for (std::size_t i = 0; i < CheckBatch::kMaxAllTextBytes / CheckBatch::kMaxTextBytes / 2; ++i) {
      ASSERT_TRUE(batch.add_entry({longest, longest})) << i;
    }
    const auto more = batch.add_entry({"k", ""});
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(more.error().message,
              "the request's domain, keys and values have more than 2097152 bytes together, which is the most");
  }
}

TEST(CheckBatch, RefusesMoreEntriesThanItsMaximumTogether) {
  CheckBatch batch;
  batch.begin();
  for (std::size_t i = 0; i < CheckBatch::kMaxEntries; ++i) {
    if (i % CheckBatch::kMaxEntriesPerDescriptor == 0) {
      ASSERT_TRUE(batch.add_descriptor());
    }
    ASSERT_TRUE(batch.add_entry({"k", "v"}));
  }
  ASSERT_TRUE(batch.add_descriptor());
  EXPECT_EQ(batch.add_entry({"k", "v"}).error().message, "the request has more than 100000 entries, which is the most");
}

TEST(CheckBatch, IsEmptyAfterClear) {
  CheckBatch batch;
  batch.begin();
  batch.commit(1, Instant::max());
  batch.clear();
  EXPECT_TRUE(batch.checks().empty());
}

TEST(CheckBatch, IsFullBeforeATurnCanFillTheMemory) {
  CheckBatch batch;
  EXPECT_FALSE(batch.full());
  for (std::size_t check = 0; !batch.full(); ++check) {
    ASSERT_LE(check * 1000, CheckBatch::kFullDescriptors);
    batch.begin();
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(batch.add_descriptor());
    batch.commit(check, Instant::max());
  }
  batch.clear();
  EXPECT_FALSE(batch.full());
}

}  // namespace
}  // namespace penstock::protocol
