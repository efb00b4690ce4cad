#include "penstock/store/redis/resp.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include <hiredis/read.h>

#include "penstock/base/check.h"

namespace penstock::store::redis {
namespace {

// hiredis hands over what it read through these; the objects are ours, each owned by its list.
Reply* made(const redisReadTask* task, std::unique_ptr<Reply> reply) {
  Reply* const raw = reply.get();
  if (task->parent == nullptr) {
    reply.release();  // whoever takes it from the reader owns it
    return raw;
  }
  auto* const list = static_cast<Reply*>(task->parent->obj);
  list->elements.at(static_cast<std::size_t>(task->idx)) = std::move(reply);
  return raw;
}

void* make_text(const redisReadTask* task, char* text, std::size_t size) {
  auto reply = std::make_unique<Reply>();
  reply->kind = task->type == REDIS_REPLY_ERROR ? Reply::Kind::error : Reply::Kind::text;
  reply->text.assign(text, size);
  return made(task, std::move(reply));
}

void* make_list(const redisReadTask* task, int count) {
  if (count > ReplyReader::kMaxElements) return nullptr;  // which the reader takes as having no memory
  auto reply = std::make_unique<Reply>();
  reply->kind = Reply::Kind::list;
  reply->elements.resize(static_cast<std::size_t>(std::max(count, 0)));
  return made(task, std::move(reply));
}

void* make_integer(const redisReadTask* task, long long value) {
  auto reply = std::make_unique<Reply>();
  reply->kind = Reply::Kind::integer;
  reply->integer = value;
  return made(task, std::move(reply));
}

void* make_nil(const redisReadTask* task) { return made(task, std::make_unique<Reply>()); }

void drop(void* reply) { delete static_cast<Reply*>(reply); }  // NOLINT(cppcoreguidelines-owning-memory): the reader's

redisReplyObjectFunctions functions = {make_text, make_list, make_integer, make_nil, drop};

}  // namespace

void append_command(std::string& out, std::span<const std::string_view> parts) {
  const auto number = [&out](char kind, std::size_t value) {
    out.push_back(kind);
    out.append(Decimal{static_cast<std::int64_t>(value)});
    out.append("\r\n");
  };
  number('*', parts.size());
  for (const std::string_view part : parts) {
    number('$', part.size());
    out.append(part);
    out.append("\r\n");
  }
}

Decimal::Decimal(std::int64_t value) noexcept
    : size_{static_cast<std::size_t>(std::to_chars(std::begin(digits_), std::end(digits_), value).ptr - digits_)} {}

std::string_view Reply::error_code() const noexcept {
  return std::string_view{text}.substr(0, std::string_view{text}.find(' '));
}

ReplyReader::ReplyReader() : reader_{redisReaderCreateWithFunctions(&functions)} { PENSTOCK_CHECK(reader_ != nullptr); }

ReplyReader::~ReplyReader() { redisReaderFree(reader_); }

bool ReplyReader::feed(std::string_view bytes) {
  unread_ += bytes.size();
  if (broken_ || unread_ > kMaxBufferedBytes || redisReaderFeed(reader_, bytes.data(), bytes.size()) != REDIS_OK) {
    broken_ = true;
  }
  return !broken_;
}

std::unique_ptr<Reply> ReplyReader::next() {
  if (broken_) return nullptr;
  void* reply = nullptr;
  if (redisReaderGetReply(reader_, &reply) != REDIS_OK) {
    broken_ = true;
    return nullptr;
  }
  if (reply != nullptr) unread_ = reader_->len - reader_->pos;
  return std::unique_ptr<Reply>{static_cast<Reply*>(reply)};
}

}  // namespace penstock::store::redis
