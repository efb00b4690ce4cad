#include "penstock/base/hash.h"

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>

#include "penstock/base/random.h"
#include "penstock/base/sha256.h"

namespace penstock {
namespace {

// The same function by libcrypto.
Hash128 reference(HashKey key, const std::string& text) {
  std::array<unsigned char, 16> raw_key{};
  std::memcpy(raw_key.data(), &key, 16);
  unsigned size = 16, compression = 1, finalization = 3;
  const std::array<OSSL_PARAM, 4> params = {OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_SIZE, &size),
                                            OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_C_ROUNDS, &compression),
                                            OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_D_ROUNDS, &finalization),
                                            OSSL_PARAM_construct_end()};
  EVP_MAC* mac = EVP_MAC_fetch(nullptr, "SIPHASH", nullptr);
  EVP_MAC_CTX* context = EVP_MAC_CTX_new(mac);
  Hash128 out;
  std::size_t written = 0;
  EXPECT_EQ(EVP_MAC_init(context, raw_key.data(), raw_key.size(), params.data()), 1);
  EXPECT_EQ(EVP_MAC_update(context, reinterpret_cast<const unsigned char*>(text.data()), text.size()), 1);
  EXPECT_EQ(EVP_MAC_final(context, reinterpret_cast<unsigned char*>(&out), &written, 16), 1);
  EVP_MAC_CTX_free(context);
  EVP_MAC_free(mac);
  return out;
}

TEST(SipHasher128, AgreesWithLibcryptoForEveryLength) {
  Random random{7};
  std::string text;
  for (int length = 0; length < 70; ++length) {
    const HashKey key{random.next(), random.next()};
    SipHasher128 hasher{key};
    hasher.bytes(text);
    EXPECT_EQ(hasher.finish(), reference(key, text)) << "length " << length;
    text.push_back(static_cast<char>(random.next()));
  }
}

TEST(SipHasher128, GivesOneResultHoweverTheBytesAreCut) {
  Random random{11};
  const HashKey key{1, 2};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    SipHasher128 pieces{key};
    for (std::uint64_t cut = random.below(6); cut > 0; --cut) {
      std::string piece(random.below(20), static_cast<char>(random.next()));
      pieces.bytes(piece);
      text += piece;
    }
    ASSERT_EQ(pieces.finish(), reference(key, text)) << "round " << round;
  }
}

TEST(SipHasher128, PartsCannotRunTogether) {
  SipHasher128 one{{1, 2}}, other{{1, 2}};
  one.part("a_b"), one.part("c");
  other.part("a"), other.part("b_c");
  EXPECT_NE(one.finish(), other.finish());
}

TEST(Sha256, GivesThePublishedDigestOfAbc) {
  EXPECT_EQ(sha256("abc")[0], 0xba);
  EXPECT_EQ(sha256("abc")[31], 0xad);
}

}  // namespace
}  // namespace penstock
