// Broadcasting: which result dimensions follow from the operands'. Strict and explicit, nothing is
// guessed.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "restride/result.hpp"

namespace restride {

/// The dimensions of a binary operation. `broadcast_dimensions` maps the lower-rank operand into
/// the other one; then dimensions of size 1 stretch on either side. Errors, checked per entry in
/// this order: negative; out of range; size mismatch; not strictly increasing. `name` stands before
/// the field: `sources[1]`.
Result<std::vector<int64_t>> infer_broadcast(const std::vector<int64_t>& lhs,
                                             const std::vector<int64_t>& rhs,
                                             const std::vector<int64_t>& broadcast_dimensions = {},
                                             std::string_view name = {});

/// Whether one operand broadcasts into `result`: source dimension k is 1 or equals result dimension
/// broadcast_dimensions[k]. Entries need only be distinct, so this can transpose as well. A scalar
/// needs none.
Result<void> check_broadcast_in_dim(const std::vector<int64_t>& source,
                                    const std::vector<int64_t>& result,
                                    const std::vector<int64_t>& broadcast_dimensions,
                                    std::string_view name = {});

}  // namespace restride
