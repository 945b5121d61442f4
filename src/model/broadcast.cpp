// Broadcasting: the rules for dimensions, and nothing about layouts.
#include "restride/broadcast.hpp"

#include <string>

#include "base/message.hpp"

namespace restride {
namespace {

constexpr std::string_view field_name = "broadcast_dimensions";

std::string sizes_text(const std::vector<int64_t>& sizes) { return '[' + list_text(sizes) + ']'; }

/// What entry k of broadcast_dimensions is checked against.
struct Mapping {
  const std::vector<int64_t>& source;
  const std::vector<int64_t>& result;
  const std::vector<int64_t>& dimensions;
  std::string_view name;

  Field field() const { return {name, field_name}; }
};

Result<void> check_length(const Mapping& mapping) {
  const size_t given = mapping.dimensions.size(), rank = mapping.source.size();
  if (given == rank) return {};
  if (given == 0) {
    return invalid(mapping.field(), "is missing: " + sizes_text(mapping.source) + " in " +
                                        sizes_text(mapping.result) +
                                        " needs an entry for each dimension");
  }
  return invalid(mapping.field(), "has " + std::to_string(given) + " entries: must have " +
                                      std::to_string(rank) + ", the rank of the operand");
}

Result<void> check_range(const Mapping& mapping, size_t k) {
  const int64_t to = mapping.dimensions[k];
  const auto rank = static_cast<int64_t>(mapping.result.size());
  if (to < 0) return invalid_entry(mapping.field(), k, to, "must not be negative");
  if (to < rank) return {};
  return invalid_entry(mapping.field(), k, to,
                       "is out of range: must be 0.." + std::to_string(rank - 1));
}

Error size_mismatch(const Mapping& mapping, size_t k) {
  const int64_t to = mapping.dimensions[k];
  return invalid_entry(mapping.field(), k, to,
                       "size mismatch: operand dimension " + std::to_string(k) + " has size " +
                           std::to_string(mapping.source[k]) + ", dimension " + std::to_string(to) +
                           " of the result " + std::to_string(mapping.result[to]));
}

/// Equal rank: sizes are equal, or one of them is 1 and stretches.
Result<std::vector<int64_t>> stretch(const std::vector<int64_t>& lhs,
                                     const std::vector<int64_t>& rhs, std::string_view name) {
  std::vector<int64_t> out = lhs;
  for (size_t i = 0; i < lhs.size(); ++i) {
    if (lhs[i] == 1) out[i] = rhs[i];
    if (lhs[i] == rhs[i] || lhs[i] == 1 || rhs[i] == 1) continue;
    return invalid({name, "dimensions"}, "size mismatch in dimension " + std::to_string(i) + ": " +
                                             sizes_text(lhs) + " against " + sizes_text(rhs));
  }
  return out;
}

Result<void> check_identity(const Mapping& mapping) {
  if (mapping.dimensions.empty()) return {};
  if (auto valid = check_length(mapping); !valid) return valid;
  for (size_t k = 0; k < mapping.dimensions.size(); ++k) {
    if (mapping.dimensions[k] == static_cast<int64_t>(k)) continue;
    return invalid_entry(mapping.field(), k, mapping.dimensions[k],
                         "must be " + std::to_string(k) + ": operands of equal rank map in order");
  }
  return {};
}

}  // namespace

Result<std::vector<int64_t>> infer_broadcast(const std::vector<int64_t>& lhs,
                                             const std::vector<int64_t>& rhs,
                                             const std::vector<int64_t>& broadcast_dimensions,
                                             std::string_view name) {
  const bool lhs_is_lower = lhs.size() < rhs.size();
  const auto& lower = lhs_is_lower ? lhs : rhs;
  const auto& higher = lhs_is_lower ? rhs : lhs;
  const Mapping mapping{lower, higher, broadcast_dimensions, name};
  if (lower.size() == higher.size()) {
    if (auto valid = check_identity(mapping); !valid) return valid.error();
    return stretch(lhs, rhs, name);
  }
  if (auto valid = check_length(mapping); !valid) return valid.error();
  std::vector<int64_t> out = higher;
  for (size_t k = 0; k < lower.size(); ++k) {
    if (auto valid = check_range(mapping, k); !valid) return valid.error();
    const int64_t to = broadcast_dimensions[k];
    if (lower[k] != higher[to] && lower[k] != 1 && higher[to] != 1) {
      return size_mismatch(mapping, k);
    }
    if (k > 0 && broadcast_dimensions[k - 1] >= to) {
      return invalid_entry(
          mapping.field(), k, to,
          "not strictly increasing: stands behind " + std::to_string(broadcast_dimensions[k - 1]));
    }
    if (higher[to] == 1) out[to] = lower[k];
  }
  return out;
}

Result<void> check_broadcast_in_dim(const std::vector<int64_t>& source,
                                    const std::vector<int64_t>& result,
                                    const std::vector<int64_t>& broadcast_dimensions,
                                    std::string_view name) {
  const Mapping mapping{source, result, broadcast_dimensions, name};
  if (auto valid = check_length(mapping); !valid) return valid;
  std::vector<bool> seen(result.size());
  for (size_t k = 0; k < source.size(); ++k) {
    if (auto valid = check_range(mapping, k); !valid) return valid;
    const int64_t to = broadcast_dimensions[k];
    if (source[k] != result[to] && source[k] != 1) return size_mismatch(mapping, k);
    if (seen[to]) return invalid_entry(mapping.field(), k, to, "stands there twice");
    seen[to] = true;
  }
  return {};
}

}  // namespace restride
