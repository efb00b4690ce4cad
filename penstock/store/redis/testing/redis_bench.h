#pragma once

#include <gtest/gtest.h>

#include "penstock/store/redis/redis_store.h"
#include "penstock/store/redis/testing/local_redis.h"
#include "penstock/store/testing/conformance.h"

namespace penstock::store::redis::testing {

// A RedisStore on a real Redis that is empty at first, at instants of the test's choice. All of a program share the
// server.
class RedisBench {
 public:
  explicit RedisBench(RedisOptions options = {}) : store_{on_server(std::move(options)), wires_} {
    server().run({"FLUSHALL"});
    wires_.serve(store_);
    connect();
  }

  static LocalRedis& server() {
    static LocalRedis server;
    return server;
  }

  RedisStore& store() { return store_; }

  void connect() {
    for (int turns = 0; turns < 100 && !store_.ready(); ++turns) {
      store_.tick(store::testing::kStart);
      wires_.turn(store::testing::kStart);
    }
    EXPECT_TRUE(store_.ready()) << store_.last_failure();
    EXPECT_EQ(store_.script_refusal(), "");
  }
  void answer_pending(Instant now) {
    for (int turns = 0; turns < 1000 && store_.pending() > 0; ++turns) wires_.turn(now);
  }

 private:
  static RedisOptions on_server(RedisOptions options) {
    options.endpoints = {server().endpoint()};
    options.callers_clock = true;
    return options;
  }

  BlockingWires wires_;
  RedisStore store_;
};

}  // namespace penstock::store::redis::testing
