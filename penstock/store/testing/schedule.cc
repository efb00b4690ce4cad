#include "penstock/store/testing/schedule.h"

#include <algorithm>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace penstock::store::testing {

struct Schedule::Task {
  std::thread thread;
  std::binary_semaphore may_go{0};
  std::binary_semaphore has_stopped{0};  // at a sync point or at its end
  std::function<void()> work;            // nothing: the thread ends
  std::string at;
  std::function<bool()> condition;  // to go on; none: at once
  bool ended = true;

  void run() {
    for (may_go.acquire(); work; may_go.acquire()) {
      work();
      ended = true;
      has_stopped.release();
    }
  }
};

thread_local Schedule::Task* Schedule::current_ = nullptr;

std::span<const std::shared_ptr<Schedule::Task>> Schedule::Crew::take(std::size_t count) {
  while (tasks_.size() < count) {
    tasks_.push_back(std::make_shared<Task>());
    tasks_.back()->thread = std::thread{[task = tasks_.back()] {
      current_ = task.get();
      task->run();
    }};
  }
  return std::span{tasks_}.first(count);
}

Schedule::Crew::~Crew() {
  for (const auto& task : tasks_) {
    if (!task->ended) {
      task->thread.detach();
      continue;
    }
    task->work = nullptr;
    task->may_go.release();
    task->thread.join();
  }
}

Schedule::Schedule(Crew& crew, std::vector<std::size_t> choices, std::size_t max_preemptions)
    : crew_{crew}, choices_{std::move(choices)}, max_preemptions_{max_preemptions} {}

bool Schedule::run(std::vector<std::function<void()>> tasks) {
  tasks_ = crew_.take(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    Task& task = *tasks_[i];
    task.work = std::move(tasks[i]);
    task.at = "its beginning";
    task.condition = nullptr;
    task.ended = false;
  }
  for (std::vector<std::size_t> able = ready(); !able.empty(); able = ready()) {
    const std::size_t chosen = able[choose(able)];
    Task& task = *tasks_[chosen];
    const std::string from = task.at;
    last_ = chosen;
    task.condition = nullptr;
    task.may_go.release();
    task.has_stopped.acquire();
    trace_ += fmt::format("  thread {}: {} -> {}\n", chosen, from, task.ended ? "its end" : task.at);
  }
  return std::ranges::all_of(tasks_, [](const auto& task) { return task->ended; });
}

// The one that just went first.
std::vector<std::size_t> Schedule::ready() const {
  std::vector<std::size_t> able;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const Task& task = *tasks_[i];
    if (task.ended || (task.condition && !task.condition())) continue;
    able.insert(i == last_ ? able.begin() : able.end(), i);
  }
  return able;
}

std::size_t Schedule::choose(const std::vector<std::size_t>& able) {
  const bool would_preempt = able.front() == last_;
  const std::size_t alternatives = would_preempt && preemptions_ == max_preemptions_ ? 1 : able.size();
  const std::size_t step = steps_.size();
  const std::size_t chosen = step < choices_.size() ? choices_[step] : 0;
  steps_.push_back({.chosen = chosen, .alternatives = alternatives});
  if (would_preempt && chosen > 0) ++preemptions_;
  return chosen;
}

std::optional<std::vector<std::size_t>> Schedule::next_choices() const {
  std::size_t last = steps_.size();
  while (last > 0 && steps_[last - 1].chosen + 1 == steps_[last - 1].alternatives) --last;
  if (last == 0) return std::nullopt;
  std::vector<std::size_t> choices(last);
  std::ranges::transform(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(last), choices.begin(),
                         &Step::chosen);
  ++choices.back();
  return choices;
}

void Schedule::pause(std::string_view what) { wait_until(what, nullptr); }

void Schedule::wait_until(std::string_view what, std::function<bool()> condition) {
  if (current_ == nullptr) return;
  current_->at = what;
  current_->condition = std::move(condition);
  current_->has_stopped.release();
  current_->may_go.acquire();
}

Exploration explore(const ExploreBounds& bounds, const std::function<std::string(Schedule&)>& attempt) {
  Exploration exploration;
  Schedule::Crew crew;
  std::optional<std::vector<std::size_t>> choices = std::vector<std::size_t>{};
  while (choices && exploration.schedules < bounds.max_schedules) {
    Schedule schedule{crew, *choices, bounds.max_preemptions};
    const std::string failure = attempt(schedule);
    ++exploration.schedules;
    if (!failure.empty()) {
      exploration.failure = fmt::format("{}\nin schedule {}, choices [{}]:\n{}", failure, exploration.schedules,
                                        fmt::join(*choices, ", "), schedule.trace());
      return exploration;
    }
    choices = schedule.next_choices();
  }
  exploration.complete = !choices;
  return exploration;
}

}  // namespace penstock::store::testing
