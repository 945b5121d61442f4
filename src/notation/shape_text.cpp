// Shapes as text: `f32[2,3]{0,1:T(8,128)E(4)}`, XLA's notation with PAD(...) behind its own
// attributes.
//
//     shape     := type '[' [dim (',' dim)*] ']' [layout]
//     layout    := '{' [int (',' int)*] [':' attribute+] '}'
//     attribute := T(...)(...)...  |  L(n)  |  E(bits)  |  S(space)  |  PAD(n,...;value)
//
// Reads what is well-formed; what is wrong about its values is the business of validate.
#include "notation/shape_text.hpp"

#include <algorithm>
#include <span>

#include "base/message.hpp"

namespace restride {
namespace {

Result<int64_t> parse_dimension(Lexer& lexer) {
  if (lexer.at("?")) {
    return Lexer::error_at(lexer.peek(), "'?' is an unbounded dimension: its size must be known");
  }
  if (lexer.take_if("<=")) return lexer.expect_integer("the bound of a dimension");
  return lexer.expect_integer("the size of a dimension");
}

Result<int64_t> parse_number(Lexer& lexer) { return lexer.expect_integer("an integer"); }

Result<int64_t> parse_tile_entry(Lexer& lexer) {
  if (lexer.take_if("*")) return Layout::combine;
  return lexer.expect_integer("an integer or '*'");
}

Result<void> parse_tiles(Lexer& lexer, Layout& layout) {
  if (auto open = lexer.expect("("); !open) return open;
  do {
    auto tile = parse_list(lexer, ")", parse_tile_entry);
    if (!tile) return tile.error();
    layout.tiles.push_back(*std::move(tile));
  } while (lexer.take_if("("));
  return {};
}

Result<void> parse_integer_attribute(Lexer& lexer, int64_t& value) {
  if (auto open = lexer.expect("("); !open) return open;
  auto number = parse_number(lexer);
  if (!number) return number.error();
  value = *number;
  return lexer.expect(")");
}

Result<void> parse_tail(Lexer& lexer, Layout& layout) {
  return parse_integer_attribute(lexer, layout.tail_padding_alignment_in_elements);
}

Result<void> parse_element_size(Lexer& lexer, Layout& layout) {
  return parse_integer_attribute(lexer, layout.element_size_in_bits);
}

Result<void> parse_memory_space(Lexer& lexer, Layout& layout) {
  return parse_integer_attribute(lexer, layout.memory_space);
}

Result<void> parse_padding(Lexer& lexer, Layout& layout) {
  if (auto open = lexer.expect("("); !open) return open;
  auto sizes = parse_list(lexer, ";", parse_number);
  if (!sizes) return sizes.error();
  const Token token = lexer.peek();
  auto name = lexer.expect_name("a padding value");
  if (!name) return name.error();
  auto value = parse_padding_value(name->text);
  if (!value) return Lexer::error_at(token, value.error().message);
  layout.padded_dimensions = *std::move(sizes);
  layout.padding_value = *value;
  return lexer.expect(")");
}

/// In the order in which they have to stand.
struct Attribute {
  std::string_view name;
  Result<void> (*parse)(Lexer&, Layout&);
};
constexpr Attribute attributes[] = {{"T", parse_tiles},
                                    {"L", parse_tail},
                                    {"E", parse_element_size},
                                    {"S", parse_memory_space},
                                    {"PAD", parse_padding}};

/// XLA's attributes that describe what this library does not move.
struct Refused {
  std::string_view name, reason;
};
constexpr Refused refused[] = {
    {"D", "dimension level types are for sparse arrays"},
    {"#", "index types are for sparse arrays"},
    {"*", "pointer types are for sparse arrays"},
    {"P", "physical shapes are for sparse arrays"},
    {"SC", "split configurations are not supported"},
    {"M", "dynamic shape metadata is not supported"},
};

Error unknown_attribute(const Token& token) {
  for (const Refused& row : refused) {
    if (row.name != token.text) continue;
    return {ErrorCode::unsupported, Lexer::error_at(token, "attribute " + quoted(token.text) +
                                                               ": " + std::string(row.reason))
                                        .message};
  }
  return Lexer::error_at(token, quoted(token.text) + " is not an attribute: T, L, E, S, PAD");
}

Result<void> parse_attributes(Lexer& lexer, Layout& layout) {
  size_t allowed = 0;
  do {
    if (lexer.peek().kind == TokenKind::end || lexer.at("}")) {
      return lexer.expected("an attribute: T, L, E, S, PAD");
    }
    const Token token = lexer.take();
    const auto row = std::find_if(std::begin(attributes), std::end(attributes),
                                  [&](const Attribute& a) { return a.name == token.text; });
    if (row == std::end(attributes)) return unknown_attribute(token);
    const auto place = static_cast<size_t>(row - attributes);
    if (place < allowed) {
      return Lexer::error_at(
          token, quoted(token.text) + " stands twice or too late: the order is T, L, E, S, PAD");
    }
    allowed = place + 1;
    if (auto parsed = row->parse(lexer, layout); !parsed) return parsed;
  } while (!lexer.at("}"));
  return lexer.expect("}");
}

Result<Layout> parse_layout(Lexer& lexer) {
  Layout layout;
  while (!lexer.at("}") && !lexer.at(":")) {
    if (!layout.minor_to_major.empty() && !lexer.take_if(",")) {
      return lexer.expected("',', ':' or '}'");
    }
    auto entry = lexer.expect_integer("a dimension number");
    if (!entry) return entry.error();
    layout.minor_to_major.push_back(*entry);
  }
  if (lexer.take_if("}")) return layout;
  lexer.take();
  if (auto parsed = parse_attributes(lexer, layout); !parsed) return parsed.error();
  return layout;
}

std::string tile_text(std::span<const int64_t> tile) {
  std::string out = "(";
  for (size_t k = 0; k < tile.size(); ++k) {
    if (k > 0) out += ',';
    out += tile[k] == Layout::combine ? "*" : std::to_string(tile[k]);
  }
  return out + ')';
}

std::string attribute_text(const Layout& layout) {
  std::string out;
  if (!layout.tiles.empty()) out += 'T';
  for (const auto& tile : layout.tiles) out += tile_text(tile);
  const auto add = [&out](char name, int64_t value, int64_t usual) {
    if (value != usual) out += std::string(1, name) + '(' + std::to_string(value) + ')';
  };
  add('L', layout.tail_padding_alignment_in_elements, 1);
  add('E', layout.element_size_in_bits, 0);
  add('S', layout.memory_space, 0);
  if (layout.padded_dimensions.empty() && layout.padding_value == PaddingValue::zero) return out;
  return out + "PAD(" + join(layout.padded_dimensions) + ';' +
         std::string(to_string(layout.padding_value)) + ')';
}

}  // namespace

std::string join(std::span<const int64_t> values) {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    out += std::to_string(values[i]);
  }
  return out;
}

Result<Shape> parse_shape(Lexer& lexer) {
  const Token type = lexer.peek();
  if (type.kind != TokenKind::name && type.text != "(") return lexer.expected("an element type");
  const auto element_type = parse_element_type(lexer.take().text);
  if (!element_type) return Lexer::error_at(type, element_type.error().message);
  if (auto open = lexer.expect("["); !open) return open.error();
  auto dimensions = parse_list(lexer, "]", parse_dimension);
  if (!dimensions) return dimensions.error();
  Shape shape{*element_type, *std::move(dimensions), {}};
  if (!lexer.take_if("{")) {
    shape.layout = default_layout(rank(shape));
    return shape;
  }
  auto layout = parse_layout(lexer);
  if (!layout) return layout.error();
  shape.layout = *std::move(layout);
  return shape;
}

Result<Shape> parse_shape(std::string_view text) {
  if (auto valid = check_text(text); !valid) return valid.error();
  Lexer lexer(text);
  auto shape = parse_shape(lexer);
  if (!shape) return shape;
  if (auto end = lexer.expect_end(); !end) return end.error();
  if (auto valid = validate(*shape); !valid) return valid.error();
  return shape;
}

std::string to_string(const Layout& layout) {
  const std::string attributes_text = attribute_text(layout);
  std::string out = '{' + join(layout.minor_to_major);
  if (!attributes_text.empty()) out += ':' + attributes_text;
  return out + '}';
}

std::string to_string(const Shape& shape) {
  std::string out(to_string(shape.element_type));
  out += '[' + join(shape.dimensions) + ']';
  const bool is_plain = is_dim0_major(shape.layout) && attribute_text(shape.layout).empty();
  return is_plain ? out : out + to_string(shape.layout);
}

}  // namespace restride
