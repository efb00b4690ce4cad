#include "penstock/server/sweep.h"

#include <gtest/gtest.h>

namespace penstock::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr transport::Patience kShort = {.request = milliseconds{1}, .reply = milliseconds{1}, .idle = milliseconds{1}};

TEST(Sweep, ComesBackUntilItIsStopped) {
  boost::asio::io_context io;
  int visits = 0;
  Sweep sweep{io, kShort, [&](Instant) {
                if (++visits == 3) sweep.stop();
              }};
  sweep.start();
  io.run_for(seconds{20});
  EXPECT_EQ(visits, 3);
  EXPECT_TRUE(io.stopped()) << "nothing keeps its loop from ending";
}

}  // namespace
}  // namespace penstock::server
