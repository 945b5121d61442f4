// The header is a Python dictionary literal with exactly three keys:
//
//     \x93NUMPY  major minor  length  {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//     spaces \n
//
// The parser knows this one form and nothing else of Python: no nesting, no escapes, no
// expressions.
#include "npy.hpp"

#include <algorithm>
#include <cstring>

namespace restride::tools {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t max_header_bytes = 64 * 1024;
constexpr size_t max_rank = 64;

Error bad_header(const std::string& what) {
  return Error{ErrorCode::invalid_argument, "npy header: " + what};
}

/// Walks the text of a header. Every function skips white space first.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool take(char wanted) {
    skip_space();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take_word(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  bool at_end() {
    skip_space();
    return rest_.empty();
  }

  char peek() {
    skip_space();
    return rest_.empty() ? '\0' : rest_.front();
  }

  Result<std::string> quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return bad_header("a quoted string is missing");
    rest_.remove_prefix(1);
    const size_t length = rest_.find(quote);
    if (length == std::string_view::npos) return bad_header("a string does not end");
    std::string text(rest_.substr(0, length));
    if (text.find('\\') != std::string::npos) return bad_header("a string has an escape");
    rest_.remove_prefix(length + 1);
    return text;
  }

  /// A size; Python 2 wrote an L behind it.
  Result<int64_t> size() {
    if (peek() == '-') return bad_header("a negative dimension");
    int64_t value = 0;
    size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, rest_[digits] - '0', &value)) {
        return bad_header("a dimension overflows");
      }
    }
    if (digits == 0) return bad_header("a dimension is not a number");
    rest_.remove_prefix(digits);
    if (rest_.starts_with('L')) rest_.remove_prefix(1);
    return value;
  }

 private:
  void skip_space() {
    const size_t length = rest_.find_first_not_of(" \t\n\r");
    rest_.remove_prefix(std::min(length, rest_.size()));
  }

  std::string_view rest_;
};

Result<std::vector<int64_t>> read_dimensions(Reader& reader) {
  if (!reader.take('(')) return bad_header("shape is not a tuple");
  std::vector<int64_t> dimensions;
  bool comma = true;
  while (!reader.take(')')) {
    if (!comma) return bad_header("shape is not a tuple of numbers");
    const Result<int64_t> size = reader.size();
    if (!size) return size.error();
    if (dimensions.size() == max_rank) return bad_header("shape has more than 64 dimensions");
    dimensions.push_back(*size);
    comma = reader.take(',');
  }
  if (dimensions.size() == 1 && !comma)
    return bad_header("shape is a number in parentheses, not a tuple");
  return dimensions;
}

Result<void> read_value(Reader& reader, const std::string& key, NpyHeader& header) {
  if (key == "descr") {
    if (reader.peek() == '[') return bad_header("structured element types are not supported");
    Result<std::string> descr = reader.quoted();
    if (!descr) return descr.error();
    header.descr = *std::move(descr);
    return {};
  }
  if (key == "fortran_order") {
    header.fortran_order = reader.take_word("True");
    if (header.fortran_order || reader.take_word("False")) return {};
    return bad_header("fortran_order is neither True nor False");
  }
  Result<std::vector<int64_t>> dimensions = read_dimensions(reader);
  if (!dimensions) return dimensions.error();
  header.dimensions = *std::move(dimensions);
  return {};
}

Result<NpyHeader> read_dictionary(std::string_view text) {
  constexpr std::string_view known[] = {"descr", "fortran_order", "shape"};
  bool seen[] = {false, false, false};
  NpyHeader header;
  Reader reader(text);
  if (!reader.take('{')) return bad_header("not a dictionary");
  bool comma = true;
  while (!reader.take('}')) {
    if (!comma) return bad_header("entries are not separated by commas");
    const Result<std::string> key = reader.quoted();
    if (!key) return key.error();
    const auto place = std::find(std::begin(known), std::end(known), *key) - std::begin(known);
    if (place == std::ssize(known)) return bad_header("an unknown key");
    if (seen[place]) return bad_header("the key '" + *key + "' stands twice");
    seen[place] = true;
    if (!reader.take(':')) return bad_header("a key has no value");
    if (const Result<void> value = read_value(reader, *key, header); !value) return value.error();
    comma = reader.take(',');
  }
  if (!reader.at_end()) return bad_header("something stands behind the dictionary");
  for (size_t i = 0; i < std::size(known); ++i) {
    if (!seen[i]) return bad_header("the key '" + std::string(known[i]) + "' is missing");
  }
  return header;
}

/// NumPy refuses sizes whose product overflows, counting a zero as one; so does this.
Result<void> check_product(const std::vector<int64_t>& dimensions) {
  int64_t product = 1;
  for (const int64_t size : dimensions) {
    if (__builtin_mul_overflow(product, std::max<int64_t>(size, 1), &product)) {
      return bad_header("the product of the dimensions overflows");
    }
  }
  return {};
}

}  // namespace

bool is_npy(std::span<const std::byte> file) {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

Result<NpyHeader> parse_npy_header(std::span<const std::byte> file) {
  if (!is_npy(file)) return bad_header("the file does not start with \\x93NUMPY");
  if (file.size() < magic.size() + 2) return bad_header("the file is truncated");
  const int version = std::to_integer<int>(file[magic.size()]);
  if (version < 1 || version > 3)
    return bad_header("version " + std::to_string(version) + ": must be 1, 2 or 3");
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t start = magic.size() + 2 + length_bytes;
  if (file.size() < start) return bad_header("the file is truncated");
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) {
    length |= std::to_integer<size_t>(file[magic.size() + 2 + i]) << (8 * i);
  }
  if (length > max_header_bytes) {
    return bad_header("length " + std::to_string(length) + ": must be at most " +
                      std::to_string(max_header_bytes));
  }
  if (length > file.size() - start) return bad_header("the file is truncated");
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + start, length);
  const auto printable = [](char c) {
    return (c >= ' ' && c <= '~') || c == '\n' || c == '\t' || c == '\r';
  };
  if (!std::all_of(text.begin(), text.end(), printable)) return bad_header("not plain ASCII text");
  Result<NpyHeader> header = read_dictionary(text);
  if (!header) return header;
  if (const Result<void> product = check_product(header->dimensions); !product)
    return product.error();
  header->data_offset = static_cast<int64_t>(start + length);
  return header;
}

std::string npy_preamble(std::string_view descr, std::span<const int64_t> dimensions) {
  std::string text = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (i > 0) text += " ";
    text += std::to_string(dimensions[i]) + (i + 1 < dimensions.size() || i == 0 ? "," : "");
  }
  text += "), }";
  constexpr size_t fixed_bytes = magic.size() + 4;
  text.append((64 - (fixed_bytes + text.size() + 1) % 64) % 64, ' ');
  text += '\n';
  std::string preamble(magic);
  preamble +=
      {'\x01', '\x00', static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
  return preamble + text;
}

}  // namespace restride::tools
