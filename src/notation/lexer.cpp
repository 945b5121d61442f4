// Lexer: the text of shapes and problems as tokens.
#include "notation/lexer.hpp"

#include <charconv>

#include "base/message.hpp"

namespace restride {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

Lexer::Lexer(std::string_view text) : text_(text) { advance(); }

/// The end of the token that begins at position_.
size_t Lexer::scan_end() const {
  const auto next = [this](size_t at) { return at < text_.size() ? text_[at] : '\0'; };
  const char first = text_[position_];
  size_t end = position_ + 1;
  if (is_letter(first)) {
    while (is_letter(next(end)) || is_digit(next(end))) ++end;
  } else if (is_digit(first) || (first == '-' && is_digit(next(end)))) {
    while (is_digit(next(end))) ++end;
  } else if ((first == '-' && next(end) == '>') || (first == '<' && next(end) == '=')) {
    ++end;
  }
  return end;
}

void Lexer::advance() {
  while (position_ < text_.size() && is_space(text_[position_])) ++position_;
  const auto column = static_cast<int64_t>(position_) + 1;
  if (position_ == text_.size()) {
    token_ = {TokenKind::end, {}, column};
    return;
  }
  const std::string_view word = text_.substr(position_, scan_end() - position_);
  position_ += word.size();
  TokenKind kind = TokenKind::symbol;
  if (is_letter(word[0])) kind = TokenKind::name;
  if (is_digit(word.back())) kind = is_letter(word[0]) ? TokenKind::name : TokenKind::integer;
  token_ = {kind, word, column};
}

Token Lexer::take() {
  const Token taken = token_;
  advance();
  return taken;
}

bool Lexer::take_if(std::string_view text) {
  const bool matches = at(text);
  if (matches) advance();
  return matches;
}

Error Lexer::error_at(const Token& token, std::string_view message) {
  return {ErrorCode::invalid_argument,
          "column " + std::to_string(token.column) + ": " + std::string(message)};
}

Error Lexer::expected(std::string_view what) const {
  const std::string found = token_.kind == TokenKind::end ? "the end" : quoted(token_.text);
  return error_at(token_, "expected " + std::string(what) + ", found " + found);
}

Result<void> Lexer::expect(std::string_view symbol) {
  if (take_if(symbol)) return {};
  return expected("'" + std::string(symbol) + "'");
}

Result<int64_t> Lexer::expect_integer(std::string_view what) {
  if (token_.kind != TokenKind::integer) return expected(what);
  int64_t value = 0;
  const char* const end = token_.text.data() + token_.text.size();
  if (std::from_chars(token_.text.data(), end, value).ec != std::errc()) {
    return error_at(token_, quoted(token_.text) + " does not fit 64 bits");
  }
  advance();
  return value;
}

Result<double> Lexer::expect_number(std::string_view what) {
  if (token_.kind != TokenKind::integer) return expected(what);
  // The token ends at a point or an exponent: the number is read from the text itself.
  double value = 0;
  const char* const begin = token_.text.data();
  const auto read = std::from_chars(begin, text_.data() + text_.size(), value);
  const Token number = {token_.kind, {begin, read.ptr}, token_.column};
  if (read.ec != std::errc()) return error_at(number, quoted(number.text) + " does not fit f64");
  position_ = static_cast<size_t>(read.ptr - text_.data());
  advance();
  return value;
}

Result<Token> Lexer::expect_name(std::string_view what) {
  if (token_.kind != TokenKind::name) return expected(what);
  return take();
}

Result<void> Lexer::expect_end() {
  if (token_.kind == TokenKind::end) return {};
  return expected("the end");
}

Result<void> check_text(std::string_view text) {
  if (text.size() <= max_text_bytes) return {};
  return Error{ErrorCode::invalid_argument, "text of " + std::to_string(text.size()) +
                                                " bytes: must be at most " +
                                                std::to_string(max_text_bytes)};
}

}  // namespace restride
