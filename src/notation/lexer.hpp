// Lexer: the text of shapes and problems as tokens with their columns.
//
// White space separates tokens and means nothing else. Every method that can fail says what was
// expected and what stood there instead: `column 7: expected ',' or ']', found 'x'`. Nothing is
// copied and nothing recurses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "restride/result.hpp"

namespace restride {

enum class TokenKind : uint8_t { end, name, integer, symbol };

/// A view into the text. Names are letters, digits and `_` from a letter on; integers may have a
/// minus sign;
/// `->` and `<=` are one symbol.
struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  int64_t column = 1;  ///< of the first byte, from 1
};

/// Longer text is refused before it is read.
constexpr size_t max_text_bytes = 1 << 16;

class Lexer {
 public:
  /// `text` must outlive the lexer.
  explicit Lexer(std::string_view text);

  const Token& peek() const { return token_; }
  bool at(std::string_view text) const {
    return token_.kind != TokenKind::end && token_.text == text;
  }
  Token take();
  /// Takes the token if it is this one.
  bool take_if(std::string_view text);

  Result<void> expect(std::string_view symbol);
  Result<int64_t> expect_integer(std::string_view what);
  /// `-2.5e-3`: a finite decimal number that begins with a digit or a minus sign.
  Result<double> expect_number(std::string_view what);
  Result<Token> expect_name(std::string_view what);
  Result<void> expect_end();

  /// `column 7: expected <what>, found 'x'`, at the token in view.
  Error expected(std::string_view what) const;
  /// `column 7: <message>`.
  static Error error_at(const Token& token, std::string_view message);

 private:
  void advance();
  size_t scan_end() const;

  std::string_view text_;
  size_t position_ = 0;
  Token token_;
};

/// Checks what a lexer may be given at all.
Result<void> check_text(std::string_view text);

/// `1,2,3` up to and with `close`; an entry is read by `read`. The opening bracket is taken
/// already.
template <class Number>
Result<std::vector<Number>> parse_list(Lexer& lexer, std::string_view close,
                                       Result<Number> (*read)(Lexer&)) {
  std::vector<Number> out;
  if (lexer.take_if(close)) return out;
  for (;;) {
    Result<Number> entry = read(lexer);
    if (!entry) return entry.error();
    out.push_back(*entry);
    if (lexer.take_if(close)) return out;
    if (lexer.take_if(",")) continue;
    return lexer.expected("',' or '" + std::string(close) + "'");
  }
}

}  // namespace restride
