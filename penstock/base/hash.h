#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "penstock/base/word_cutter.h"

namespace penstock {

struct HashKey {
  std::uint64_t k0 = 0;
  std::uint64_t k1 = 0;
};

struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend bool operator==(const Hash128&, const Hash128&) = default;
};

// SipHash-1-3 with 128 bits of output, fed piece by piece (Aumasson and Bernstein, "SipHash: a fast short-input PRF",
// 2012; the 128-bit variant of the authors' reference). With a random key nobody outside can aim at a value.
// `part` prefixes each text by its length, so that parts cannot run together.
//
// Threading: Value; a copy continues from where it was taken. Cost: about one cycle a byte, no allocation.
class SipHasher128 {
 public:
  constexpr explicit SipHasher128(HashKey key) noexcept
      : v0_{key.k0 ^ 0x736f6d6570736575u},
        v1_{key.k1 ^ 0x646f72616e646f6du ^ 0xee},
        v2_{key.k0 ^ 0x6c7967656e657261u},
        v3_{key.k1 ^ 0x7465646279746573u} {}

  void bytes(std::string_view text) noexcept {
    cutter_.bytes(text, [this](std::uint64_t word) { compress(word); });
  }

  void number(std::uint64_t value) noexcept {
    char raw[8];
    std::memcpy(raw, &value, 8);
    bytes({raw, 8});
  }

  void part(std::string_view text) noexcept {
    number(text.size());
    bytes(text);
  }

  [[nodiscard]] Hash128 finish() const noexcept {
    SipHasher128 last = *this;
    last.compress(cutter_.tail() | (cutter_.length() << 56));
    last.v2_ ^= 0xee;
    last.rounds3();
    const std::uint64_t low = last.v0_ ^ last.v1_ ^ last.v2_ ^ last.v3_;
    last.v1_ ^= 0xdd;
    last.rounds3();
    return {.low = low, .high = last.v0_ ^ last.v1_ ^ last.v2_ ^ last.v3_};
  }

 private:
  constexpr void compress(std::uint64_t word) noexcept {
    v3_ ^= word;
    round();
    v0_ ^= word;
  }

  constexpr void rounds3() noexcept {
    round();
    round();
    round();
  }

  constexpr void round() noexcept {
    v0_ += v1_;
    v1_ = std::rotl(v1_, 13) ^ v0_;
    v0_ = std::rotl(v0_, 32);
    v2_ += v3_;
    v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ += v3_;
    v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ += v1_;
    v1_ = std::rotl(v1_, 17) ^ v2_;
    v2_ = std::rotl(v2_, 32);
  }

  std::uint64_t v0_, v1_, v2_, v3_;
  WordCutter cutter_;
};

}  // namespace penstock
