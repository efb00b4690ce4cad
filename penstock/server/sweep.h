#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "penstock/base/instant.h"
#include "penstock/server/clock.h"
#include "penstock/server/patience_clock.h"
#include "penstock/transport/patience.h"

namespace penstock::server {

// The one timer of a loop: calls `visit` again and again with the time of a PatienceClock, often enough that no
// patience is overdrawn by more than a quarter. Threading: Loop-owned.
class Sweep {
 public:
  static constexpr Nanoseconds kLongest = std::chrono::milliseconds{500};
  static constexpr Nanoseconds kShortest = std::chrono::milliseconds{10};

  Sweep(boost::asio::io_context& io, const transport::Patience& patience, std::function<void(Instant)> visit)
      : interval_{std::clamp(std::min({patience.request, patience.reply, patience.idle}) / 4, kShortest, kLongest)},
        timer_{io},
        clock_{2 * interval_},
        visit_{std::move(visit)} {}

  void start() {
    timer_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(interval_));
    timer_.async_wait([this](boost::system::error_code error) {
      if (error || stopped_) return;
      visit_(clock_.look(read_monotonic()));
      if (!stopped_) start();
    });
  }

  // For good; also from within `visit`, and where the timer has gone off but its handler still waits for its turn.
  void stop() {
    stopped_ = true;
    timer_.cancel();
  }

 private:
  const Nanoseconds interval_;
  boost::asio::steady_timer timer_;
  PatienceClock clock_;
  std::function<void(Instant)> visit_;
  bool stopped_ = false;
};

}  // namespace penstock::server
