#include "penstock/base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace penstock {
namespace {

constexpr std::size_t kLongestCompared = 64;  // longer texts are not typing mistakes of a name

std::string folded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') {
      out.push_back(static_cast<char>(c - 'A' + 'a'));
    } else {
      out.push_back(c == '-' ? '_' : c);
    }
  }
  return out;
}

// Optimal string alignment distance, three rolling rows.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substituted});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view text, std::span<const std::string_view> candidates) {
  if (text.size() > kLongestCompared) return std::nullopt;
  const std::string wanted = folded(text);
  std::optional<std::string_view> best;
  std::size_t best_distance = 0;
  for (const std::string_view candidate : candidates) {
    const std::size_t far = distance(wanted, folded(candidate));
    const bool plausible = far * 3 <= std::max(text.size(), candidate.size());
    if (plausible && (!best || far < best_distance)) {
      best = candidate;
      best_distance = far;
    }
  }
  return best;
}

}  // namespace penstock
