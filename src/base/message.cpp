// The words of error messages.
#include "base/message.hpp"

namespace restride {

std::string list_text(std::span<const int64_t> values) {
  constexpr size_t most = 16;
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    if (i == most) return out + "...";
    out += std::to_string(values[i]);
  }
  return out;
}

std::string quoted(std::string_view text) {
  constexpr size_t most = 32;
  constexpr char digits[] = "0123456789abcdef";
  std::string out = "'";
  for (const char byte : text.substr(0, most)) {
    const auto code = static_cast<unsigned char>(byte);
    if (code >= 0x20 && code < 0x7f) {
      out += byte;
    } else {
      out += "\\x";
      out += digits[code >> 4];
      out += digits[code & 15];
    }
  }
  if (text.size() > most) out += "...";
  return out + '\'';
}

std::string text(const Field& field) {
  std::string out(field.owner);
  if (!out.empty()) out += '.';
  out += field.name;
  return out;
}

Error invalid_entry(const Field& field, int64_t position, int64_t value, const std::string& rule) {
  return {ErrorCode::invalid_argument, text(field) + '[' + std::to_string(position) +
                                           "] = " + std::to_string(value) + ": " + rule};
}

Error invalid_value(const Field& field, const std::string& value, const std::string& rule) {
  return {ErrorCode::invalid_argument, text(field) + " = " + value + ": " + rule};
}

Error invalid(const Field& field, const std::string& rule) {
  return {ErrorCode::invalid_argument, text(field) + ": " + rule};
}

}  // namespace restride
