#include "bench/rls_wire.h"

#include <cstddef>

namespace penstock::bench {
namespace {

constexpr std::size_t kPrefixBytes = 5;

void put_varint(std::string& out, std::uint64_t value) {
  for (; value > 0x7f; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  out += static_cast<char>(value);
}

void put_text(std::string& out, unsigned field, std::string_view text) {
  put_varint(out, field << 3 | 2);
  put_varint(out, text.size());
  out += text;
}

std::optional<std::uint64_t> take_varint(std::string_view& from) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

struct Field {
  std::uint64_t number = 0;
  std::uint64_t value = 0;  // of a varint
  std::string_view bytes;   // of a length-delimited field
};

// The next field of a message that holds only varints and length-delimited fields.
std::optional<Field> take_field(std::string_view& from) {
  const auto tag = take_varint(from);
  if (!tag) return std::nullopt;
  const auto value = take_varint(from);
  if (!value) return std::nullopt;
  Field field{.number = *tag >> 3, .value = *value, .bytes = {}};
  if ((*tag & 7) == 0) return field;
  if ((*tag & 7) != 2 || *value > from.size()) return std::nullopt;
  field.bytes = from.substr(0, *value);
  from.remove_prefix(*value);
  return field;
}

std::optional<std::uint64_t> remaining_of(std::string_view status) {
  std::uint64_t remaining = 0;
  while (!status.empty()) {
    const auto field = take_field(status);
    if (!field) return std::nullopt;
    if (field->number == 3) remaining = field->value;
  }
  return remaining;
}

}  // namespace

std::string encode_request(std::string_view domain, const std::vector<WireEntry>& entries) {
  std::string descriptor;
  for (const WireEntry& entry : entries) {
    std::string text;
    put_text(text, 1, entry.key);
    put_text(text, 2, entry.value);
    put_text(descriptor, 1, text);
  }
  std::string message;
  put_text(message, 1, domain);
  put_text(message, 2, descriptor);
  std::string framed(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) framed += static_cast<char>(message.size() >> shift & 0xff);
  return framed + message;
}

std::optional<WireVerdict> decode_response(std::string_view body) {
  if (body.size() < kPrefixBytes || body[0] != 0) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t i = 1; i < kPrefixBytes; ++i) size = size << 8 | static_cast<unsigned char>(body[i]);
  body.remove_prefix(kPrefixBytes);
  if (body.size() != size) return std::nullopt;
  WireVerdict verdict;
  std::size_t statuses = 0;
  while (!body.empty()) {
    const auto field = take_field(body);
    if (!field) return std::nullopt;
    if (field->number == 1) verdict.code = field->value;
    if (field->number != 2 || statuses++ != 0) continue;
    const auto remaining = remaining_of(field->bytes);
    if (!remaining) return std::nullopt;
    verdict.remaining = *remaining;
  }
  if (statuses == 0) return std::nullopt;
  return verdict;
}

}  // namespace penstock::bench
