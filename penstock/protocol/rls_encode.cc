#include <cstdint>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "penstock/base/check.h"
#include "penstock/protocol/rls_message.h"

namespace penstock::protocol {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

// Every field number here is below 16: a tag is one byte.
constexpr std::size_t kTag = 1;

std::size_t size_of(std::uint64_t value) { return CodedOutputStream::VarintSize64(value); }
std::size_t field_size(std::uint64_t value) { return value == 0 ? 0 : kTag + size_of(value); }
std::size_t nested_size(std::size_t size) { return kTag + size_of(size) + size; }

// The sizes of one status and of the messages in it.
struct StatusSizes {
  std::size_t limit = 0;     // current_limit, where there is one
  std::size_t duration = 0;  // duration_until_reset, where there is one
  std::size_t whole = 0;
};

std::string_view name_of(const limiter::Status& status) {
  return status.rule == nullptr ? std::string_view{} : std::string_view{status.rule->name};
}

std::uint64_t number_of(rules::Unit unit) { return static_cast<std::uint64_t>(unit); }

// A negative number takes ten bytes, as an int64 field has it.
std::uint64_t wire_value(std::int64_t seconds) { return static_cast<std::uint64_t>(seconds); }

StatusSizes measure(const limiter::Status& status) {
  StatusSizes sizes;
  sizes.whole = kTag + 1 + field_size(status.remaining);
  if (status.limit != nullptr) {
    const std::string_view name = name_of(status);
    sizes.limit = field_size(status.limit->requests_per_unit) + field_size(number_of(status.limit->unit)) +
                  (name.empty() ? 0 : nested_size(name.size()));
    sizes.whole += nested_size(sizes.limit);
  }
  if (status.reset_seconds) {
    sizes.duration = field_size(wire_value(*status.reset_seconds));
    sizes.whole += nested_size(sizes.duration);
  }
  return sizes;
}

class Writer {
 public:
  explicit Writer(std::uint8_t* at) : at_{at} {}

  void field(int number, std::uint64_t value) {
    if (value == 0) return;
    tag(number, WireFormatLite::WIRETYPE_VARINT);
    at_ = CodedOutputStream::WriteVarint64ToArray(value, at_);
  }

  void open(int number, std::size_t size) {
    tag(number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
    at_ = CodedOutputStream::WriteVarint64ToArray(size, at_);
  }

  void text(int number, std::string_view text) {
    if (text.empty()) return;
    open(number, text.size());
    at_ = CodedOutputStream::WriteRawToArray(text.data(), static_cast<int>(text.size()), at_);
  }

  [[nodiscard]] const std::uint8_t* at() const { return at_; }

 private:
  void tag(int number, WireFormatLite::WireType type) {
    *at_++ = static_cast<std::uint8_t>(WireFormatLite::MakeTag(number, type));
  }

  std::uint8_t* at_;
};

void write(const limiter::Status& status, const StatusSizes& sizes, Writer& writer) {
  writer.field(1, static_cast<std::uint64_t>(status.code));
  if (status.limit != nullptr) {
    writer.open(2, sizes.limit);
    writer.field(1, status.limit->requests_per_unit);
    writer.field(2, number_of(status.limit->unit));
    writer.text(3, name_of(status));
  }
  writer.field(3, status.remaining);
  if (status.reset_seconds) {
    writer.open(4, sizes.duration);
    writer.field(1, wire_value(*status.reset_seconds));
  }
}

}  // namespace

void encode_response(const limiter::Verdict& verdict, std::string& out) {
  PENSTOCK_DCHECK(verdict.error == nullptr);
  std::size_t size = kTag + 1;
  for (const limiter::Status& status : verdict.statuses) size += nested_size(measure(status).whole);

  const std::size_t begin = out.size();
  out.resize(begin + size);
  Writer writer{reinterpret_cast<std::uint8_t*>(out.data()) + begin};
  writer.field(1, static_cast<std::uint64_t>(verdict.overall));
  for (const limiter::Status& status : verdict.statuses) {
    const StatusSizes sizes = measure(status);
    writer.open(2, sizes.whole);
    write(status, sizes, writer);
  }
  PENSTOCK_DCHECK(writer.at() == reinterpret_cast<const std::uint8_t*>(out.data() + out.size()));
}

}  // namespace penstock::protocol
