#include "penstock/base/sha256.h"

#include <openssl/evp.h>

#include "penstock/base/check.h"

namespace penstock {

std::array<std::uint8_t, 32> sha256(std::string_view bytes) {
  std::array<std::uint8_t, 32> digest{};
  PENSTOCK_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) == 1);
  return digest;
}

}  // namespace penstock
