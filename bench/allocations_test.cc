#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "bench/captured_traffic.h"
#include "penstock/base/testing/allocation_count.h"

namespace penstock::bench {
namespace {

std::string captured_rules() {
  std::ifstream file{PENSTOCK_SOURCE_DIR "/bench/rules/captured.yaml"};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(HotPath, AllocatesNothingFromTheBytesOfARequestToTheBytesOfItsReply) {
  const Capture capture = read_capture(PENSTOCK_SOURCE_DIR "/test/captures/envoy-1.40-rls.c2s");
  CapturedTraffic traffic{captured_rules()};
  traffic.connect();
  for (const std::string& chunk : capture.chunks) traffic.receive(chunk);  // warms up what connections share

  traffic.connect();
  const std::size_t half = capture.chunks.size() / 2;
  for (std::size_t i = 0; i < half; ++i) traffic.receive(capture.chunks[i]);
  const std::uint64_t answered_before = traffic.answered();
  const std::uint64_t before = allocation_count();
  ASSERT_GT(before, 0U) << "the counting itself works";
  for (std::size_t i = half; i < capture.chunks.size(); ++i) traffic.receive(capture.chunks[i]);
  const std::uint64_t allocated = allocation_count() - before;

  EXPECT_GT(traffic.answered() - answered_before, 300U);
  EXPECT_EQ(traffic.failed(), 0U);
  EXPECT_GT(traffic.output_bytes(), traffic.answered() * 60) << "every request was replied to";
  EXPECT_EQ(allocated, 0U);
}

}  // namespace
}  // namespace penstock::bench
