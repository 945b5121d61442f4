// validate(Problem): the shapes, then the element types, then the dimensions, then explicit
// strides, then what only the parts together can have wrong. No string is built before an error is
// known.
#include "restride/problem.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/message.hpp"
#include "element/element_math.hpp"
#include "model/affine.hpp"
#include "model/extents.hpp"
#include "model/strides.hpp"
#include "restride/broadcast.hpp"

namespace restride {
namespace {

constexpr std::string_view operation_names[] = {
    "copy",      "convert", "add",        "subtract", "multiply",     "divide", "remainder",
    "power",     "maximum", "minimum",    "and",      "or",           "xor",    "equal",
    "not_equal", "less",    "less_equal", "greater",  "greater_equal"};
static_assert(std::size(operation_names) == static_cast<size_t>(Operation::greater_equal) + 1);

constexpr std::string_view source_names[2][2] = {{"source", ""}, {"sources[0]", "sources[1]"}};

std::string_view source_name(const Problem& problem, size_t i) {
  return source_names[problem.sources.size() - 1][i];
}

Result<void> check_operation(const Problem& problem) {
  const auto number = static_cast<size_t>(problem.operation);
  if (number >= std::size(operation_names)) {
    return invalid_value({{}, "operation"}, std::to_string(number), "is no operation");
  }
  const size_t demanded = is_binary(problem.operation) ? 2 : 1;
  if (problem.sources.size() == demanded) return {};
  return invalid({{}, "sources"}, "has " + std::to_string(problem.sources.size()) +
                                      " entries: " + std::string(to_string(problem.operation)) +
                                      " takes " + std::to_string(demanded));
}

/// The library counts bits, so this bounds both ways of counting.
Result<void> check_size(const Shape& shape, std::string_view name) {
  const auto extents = measure(shape, name);
  if (!extents) return extents.error();
  if (extents->buffer_bytes <= max_buffer_bytes) return {};
  return Error{ErrorCode::unsupported,
               text({name, "dimensions"}) + " = [" + list_text(shape.dimensions) + "]: " +
                   std::to_string(extents->buffer_bytes) + " bytes are more than any memory has"};
}

Result<void> check_shapes(const Problem& problem) {
  for (size_t i = 0; i < problem.sources.size(); ++i) {
    auto valid = check_size(problem.sources[i].shape, source_name(problem, i));
    if (!valid) return valid;
  }
  return check_size(problem.target, "target");
}

Error wrong_type(std::string_view owner, ElementType type, const std::string& rule) {
  return invalid_value({owner, "element_type"}, std::string(to_string(type)), rule);
}

/// An error of a binary operation, with what both operands are.
Result<void> naming_operands(const Problem& problem, const Result<void>& valid) {
  if (valid) return valid;
  std::string operands;
  for (const Source& source : problem.sources) {
    operands += (operands.empty() ? "" : ", ") + std::string(to_string(source.shape.element_type)) +
                '[' + list_text(source.shape.dimensions) + ']';
  }
  return Error{valid.error().code, valid.error().message + ", in " +
                                       std::string(to_string(problem.operation)) + '(' + operands +
                                       ')'};
}

Result<void> check_binary_types(const Problem& problem) {
  const ElementType type = problem.sources[0].shape.element_type;
  const ElementType other = problem.sources[1].shape.element_type;
  const ElementType target = problem.target.element_type;
  if (other != type) {
    return wrong_type("sources[1]", other,
                      "must be " + std::string(to_string(type)) + ", the type of sources[0]");
  }
  if (element_operation(problem.operation, type) == nullptr) {
    return wrong_type("sources[0]", type,
                      "is not taken by " + std::string(to_string(problem.operation)));
  }
  const ElementType result = is_comparison(problem.operation) ? ElementType::pred : type;
  if (target == result) return {};
  return wrong_type("target", target,
                    "must be " + std::string(to_string(result)) + ", the result of " +
                        std::string(to_string(problem.operation)));
}

Result<void> check_types(const Problem& problem) {
  if (is_binary(problem.operation)) return naming_operands(problem, check_binary_types(problem));
  const ElementType from = problem.sources[0].shape.element_type;
  const ElementType to = problem.target.element_type;
  if (problem.operation == Operation::copy && from != to) {
    return wrong_type("target", to,
                      "must be " + std::string(to_string(from)) +
                          ", the type of the source, unless the problem is convert(...)");
  }
  if (is_complex(from) && !is_complex(to) && to != ElementType::pred) {
    return wrong_type("target", to,
                      std::string(to_string(from)) + " is complex, and complex to real is refused");
  }
  return {};
}

Error wrong_dimensions(const Problem& problem, const std::vector<int64_t>& inferred,
                       const char* origin) {
  return invalid_value({"target", "dimensions"}, '[' + list_text(problem.target.dimensions) + ']',
                       "must be [" + list_text(inferred) + "], " + origin);
}

/// A copy or conversion: the target's dimensions are the source's, or broadcast_in_dim.
Result<void> check_unary_dimensions(const Problem& problem) {
  const Source& source = problem.sources[0];
  const auto& from = source.shape.dimensions;
  const auto& to = problem.target.dimensions;
  if (!source.broadcast_dimensions.empty()) {
    return check_broadcast_in_dim(from, to, source.broadcast_dimensions, "source");
  }
  if (from.empty() || from == to) return {};
  if (from.size() < to.size()) return check_broadcast_in_dim(from, to, {}, "source");
  return wrong_dimensions(problem, from, "the dimensions of the source");
}

Result<void> check_binary_dimensions(const Problem& problem) {
  const Source& lhs = problem.sources[0];
  const Source& rhs = problem.sources[1];
  const size_t lower = lhs.shape.dimensions.size() < rhs.shape.dimensions.size() ? 0 : 1;
  const bool same_rank = lhs.shape.dimensions.size() == rhs.shape.dimensions.size();
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const auto& given = problem.sources[i].broadcast_dimensions;
    if (given.empty() || (!same_rank && i == lower)) continue;
    if (!same_rank) {
      return invalid({source_name(problem, i), "broadcast_dimensions"},
                     "stands at the operand of higher rank: belongs to the lower one");
    }
    const auto identity =
        infer_broadcast(lhs.shape.dimensions, rhs.shape.dimensions, given, source_name(problem, i));
    if (!identity) return identity.error();
  }
  const auto& map =
      same_rank ? std::vector<int64_t>{} : problem.sources[lower].broadcast_dimensions;
  const auto inferred =
      infer_broadcast(lhs.shape.dimensions, rhs.shape.dimensions, map, source_name(problem, lower));
  if (!inferred) return inferred.error();
  if (*inferred == problem.target.dimensions) return {};
  return wrong_dimensions(problem, *inferred, "what the sources broadcast to");
}

Result<void> check_dimensions(const Problem& problem) {
  if (!is_binary(problem.operation)) return check_unary_dimensions(problem);
  return naming_operands(problem, check_binary_dimensions(problem));
}

Result<void> check_all_strides(const Problem& problem) {
  for (size_t i = 0; i < problem.sources.size(); ++i) {
    const Source& source = problem.sources[i];
    auto valid = check_strides(source.shape, source.byte_strides, source_name(problem, i));
    if (!valid) return valid;
  }
  if (auto valid = check_strides(problem.target, problem.target_byte_strides, "target"); !valid) {
    return valid;
  }
  return check_distinct_addresses(problem.target, problem.target_byte_strides, "target");
}

/// The fill of the target must exist, if any place is filled.
Result<void> check_fill(const Problem& problem) {
  const auto extents = measure(problem.target, "target");
  if (extents->buffer_elements == extents->elements) return {};
  const auto fill = padding_bytes(problem.target.element_type, problem.target.layout.padding_value);
  if (fill) return {};
  return Error{ErrorCode::invalid_argument, "target." + fill.error().message};
}

}  // namespace

bool is_binary(Operation operation) { return operation >= Operation::add; }

std::string_view to_string(Operation operation) {
  const auto number = static_cast<size_t>(operation);
  return number < std::size(operation_names) ? operation_names[number] : "invalid";
}

Result<void> validate(const Problem& problem) {
  for (const auto check : {check_operation, check_shapes, check_types, check_dimensions,
                           check_affine, check_all_strides, check_fill}) {
    if (auto valid = check(problem); !valid) return valid;
  }
  return {};
}

}  // namespace restride
