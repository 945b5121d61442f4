// Problems as text.
//
//     problem := shape '->' shape ['dims={' ints '}']
//              | 'convert(' operand ')' '->' shape [affine]
//              | op '(' operand ',' operand ')' '->' shape
//     operand := shape ['dims={' ints '}']
//     affine  := 'scale={' numbers '}' ['zero_point={' numbers '}'] ['bias={' numbers '}']
//                ['dim=' int]
//
// This library's own: `strides={12,-4}` (bytes) directly behind any shape of a problem.
#include <utility>

#include "base/message.hpp"
#include "model/affine.hpp"
#include "notation/shape_text.hpp"
#include "restride/problem.hpp"

namespace restride {
namespace {

Result<int64_t> parse_integer(Lexer& lexer) { return lexer.expect_integer("an integer"); }
Result<double> parse_number(Lexer& lexer) { return lexer.expect_number("a number"); }

/// ` name={1,2}` if it stands there; else an empty list.
template <class Number>
Result<std::vector<Number>> parse_named_list(Lexer& lexer, std::string_view name,
                                             Result<Number> (*read)(Lexer&)) {
  if (!lexer.take_if(name)) return std::vector<Number>{};
  if (auto equals = lexer.expect("="); !equals) return equals.error();
  if (auto open = lexer.expect("{"); !open) return open.error();
  return parse_list(lexer, "}", read);
}

Result<Source> parse_strided_shape(Lexer& lexer) {
  auto shape = parse_shape(lexer);
  if (!shape) return shape.error();
  auto strides = parse_named_list(lexer, "strides", parse_integer);
  if (!strides) return strides.error();
  return Source{*std::move(shape), {}, *std::move(strides)};
}

Result<Source> parse_operand(Lexer& lexer) {
  auto source = parse_strided_shape(lexer);
  if (!source) return source;
  auto dims = parse_named_list(lexer, "dims", parse_integer);
  if (!dims) return dims.error();
  source->broadcast_dimensions = *std::move(dims);
  return source;
}

/// `(` operands `)`: one for convert, two for the others.
Result<void> parse_operands(Lexer& lexer, Problem& problem) {
  if (auto open = lexer.expect("("); !open) return open;
  const size_t count = is_binary(problem.operation) ? 2 : 1;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) {
      if (auto comma = lexer.expect(","); !comma) return comma;
    }
    auto source = parse_operand(lexer);
    if (!source) return source.error();
    problem.sources.push_back(*std::move(source));
  }
  return lexer.expect(")");
}

Result<void> parse_target(Lexer& lexer, Problem& problem) {
  if (lexer.at("dims")) {
    return Lexer::error_at(lexer.peek(), "'dims' of a relayout stands behind its target");
  }
  if (auto arrow = lexer.expect("->"); !arrow) return arrow;
  auto target = parse_strided_shape(lexer);
  if (!target) return target.error();
  problem.target = std::move(target->shape);
  problem.target_byte_strides = std::move(target->byte_strides);
  return {};
}

/// What stands behind the target of a conversion; nothing if there is no `scale`.
Result<Affine> parse_affine(Lexer& lexer) {
  Affine affine;
  if (!lexer.at("scale")) return affine;
  const std::pair<std::string_view, std::vector<double>&> lists[] = {
      {"scale", affine.scale}, {"zero_point", affine.zero_point}, {"bias", affine.bias}};
  for (const auto& [name, numbers] : lists) {
    auto list = parse_named_list(lexer, name, parse_number);
    if (!list) return list.error();
    numbers = *std::move(list);
  }
  if (!lexer.take_if("dim")) return affine;
  if (auto equals = lexer.expect("="); !equals) return equals.error();
  auto dimension = parse_integer(lexer);
  if (!dimension) return dimension.error();
  affine.dimension = *dimension;
  return affine;
}

/// The operation of this name; none for `copy`, which has no name in the notation.
const Operation* find_operation(std::string_view name) {
  static constexpr Operation all[] = {
      Operation::convert, Operation::add,          Operation::subtract, Operation::multiply,
      Operation::divide,  Operation::remainder,    Operation::power,    Operation::maximum,
      Operation::minimum, Operation::bit_and,      Operation::bit_or,   Operation::bit_xor,
      Operation::equal,   Operation::not_equal,    Operation::less,     Operation::less_equal,
      Operation::greater, Operation::greater_equal};
  for (const Operation& operation : all) {
    if (to_string(operation) == name) return &operation;
  }
  return nullptr;
}

Result<Problem> parse_unchecked(Lexer& lexer) {
  Problem problem;
  const Operation* const operation = find_operation(lexer.peek().text);
  if (operation != nullptr) {
    problem.operation = *operation;
    lexer.take();
    if (auto parsed = parse_operands(lexer, problem); !parsed) return parsed.error();
    if (auto parsed = parse_target(lexer, problem); !parsed) return parsed.error();
    if (problem.operation != Operation::convert) return problem;
    auto affine = parse_affine(lexer);
    if (!affine) return affine.error();
    problem.affine = *std::move(affine);
    return problem;
  }
  auto source = parse_strided_shape(lexer);
  if (!source) return source.error();
  if (auto parsed = parse_target(lexer, problem); !parsed) return parsed.error();
  auto dims = parse_named_list(lexer, "dims", parse_integer);
  if (!dims) return dims.error();
  source->broadcast_dimensions = *std::move(dims);
  problem.sources.push_back(*std::move(source));
  return problem;
}

std::string list_attribute(std::string_view name, const std::vector<int64_t>& values) {
  if (values.empty()) return {};
  return ' ' + std::string(name) + "={" + join(values) + '}';
}

std::string list_attribute(std::string_view name, const std::vector<double>& values) {
  std::string out;
  for (const double value : values) out += (out.empty() ? "" : ",") + number_text(value);
  return out.empty() ? out : ' ' + std::string(name) + "={" + out + '}';
}

std::string affine_text(const Affine& affine) {
  const std::string dimension =
      affine.dimension == -1 ? "" : " dim=" + std::to_string(affine.dimension);
  return list_attribute("scale", affine.scale) + list_attribute("zero_point", affine.zero_point) +
         list_attribute("bias", affine.bias) + dimension;
}

std::string strided_text(const Shape& shape, const std::vector<int64_t>& byte_strides) {
  return to_string(shape) + list_attribute("strides", byte_strides);
}

}  // namespace

Result<Problem> parse_problem(std::string_view text) {
  if (auto valid = check_text(text); !valid) return valid.error();
  Lexer lexer(text);
  auto problem = parse_unchecked(lexer);
  if (!problem) return problem;
  if (auto end = lexer.expect_end(); !end) return end.error();
  if (auto valid = validate(*problem); !valid) return valid.error();
  return problem;
}

std::string to_string(const Problem& problem) {
  const std::string target = strided_text(problem.target, problem.target_byte_strides);
  if (problem.operation == Operation::copy && problem.sources.size() == 1) {
    const Source& source = problem.sources[0];
    return strided_text(source.shape, source.byte_strides) + " -> " + target +
           list_attribute("dims", source.broadcast_dimensions);
  }
  std::string out = std::string(to_string(problem.operation)) + '(';
  for (size_t i = 0; i < problem.sources.size(); ++i) {
    const Source& source = problem.sources[i];
    out += (i > 0 ? ", " : "") + strided_text(source.shape, source.byte_strides) +
           list_attribute("dims", source.broadcast_dimensions);
  }
  return out + ") -> " + target + affine_text(problem.affine);
}

}  // namespace restride
