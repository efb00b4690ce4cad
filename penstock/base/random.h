#pragma once

#include <cstdint>

namespace penstock {

// A seeded generator (SplitMix64; Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014): the same
// seed gives the same numbers on every machine, so that whatever a test did can be done again. Not for secrets.
// Threading: Value.
class Random {
 public:
  constexpr explicit Random(std::uint64_t seed) noexcept : state_{seed} {}

  constexpr std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Evenly from 0 to bound - 1. Requires: bound > 0. The bias is below bound / 2^64.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{next()} * bound) >> 64);
  }

 private:
  std::uint64_t state_;
};

}  // namespace penstock
