#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::store::testing {

// Runs tasks in threads of which only one goes on at a time, and decides at their sync points which: so one run is one
// interleaving, and the same again whenever it is asked for. `explore` goes through them all, within bounds.
// Threading: one run at a time; the sync points belong to the tasks. For tests alone.
class Schedule {
  struct Task;

 public:
  // The threads that run the tasks, for one schedule after the other: starting some for each takes longer than most
  // runs.
  class Crew {
   public:
    Crew() = default;
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

   private:
    friend class Schedule;
    [[nodiscard]] std::span<const std::shared_ptr<Task>> take(std::size_t count);

    std::vector<std::shared_ptr<Task>> tasks_;
  };

  // At each step which of the threads that can go on does: 0 is the one that just went, where it can. Beyond the end:
  // 0. A switch away from a thread that could go on is a preemption; of these there are at most so many.
  Schedule(Crew& crew, std::vector<std::size_t> choices, std::size_t max_preemptions);

  // Runs all tasks to their end, or to where none can go on. Returns whether all ended; where not, their threads are
  // left behind, so the process must end soon.
  [[nodiscard]] bool run(std::vector<std::function<void()>> tasks);

  // Of the run: who went from what sync point to the next, a line each.
  [[nodiscard]] const std::string& trace() const noexcept { return trace_; }

  // The choices of the next interleaving after this one, nothing after the last.
  [[nodiscard]] std::optional<std::vector<std::size_t>> next_choices() const;

  // Sync points, called by tasks; outside of a run they do nothing.
  static void pause(std::string_view what);
  // Holds the task until the condition is true; it is asked while no task runs.
  static void wait_until(std::string_view what, std::function<bool()> condition);

 private:
  struct Step {
    std::size_t chosen;
    std::size_t alternatives;
  };

  [[nodiscard]] std::vector<std::size_t> ready() const;
  [[nodiscard]] std::size_t choose(const std::vector<std::size_t>& ready);

  Crew& crew_;
  const std::vector<std::size_t> choices_;
  const std::size_t max_preemptions_;
  std::span<const std::shared_ptr<Task>> tasks_;
  std::optional<std::size_t> last_;  // the task that just went
  std::size_t preemptions_ = 0;
  std::vector<Step> steps_;
  std::string trace_;

  static thread_local Task* current_;
};

struct ExploreBounds {
  std::size_t max_preemptions = 3;
  std::size_t max_schedules = 20'000;
};

struct Exploration {
  std::size_t schedules = 0;  // that were run
  bool complete = false;      // whether these are all within the bound of preemptions
  std::string failure;        // of the first run that failed, with its trace; empty where none did
};

// Calls `attempt` for one interleaving after the other. It builds a world of its own, runs its tasks by the schedule,
// and says what is wrong with the result, or nothing.
[[nodiscard]] Exploration explore(const ExploreBounds& bounds, const std::function<std::string(Schedule&)>& attempt);

}  // namespace penstock::store::testing
