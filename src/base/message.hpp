// The words of error messages: `target.minor_to_major[0] = 5: must be 0..2`. Built only once
// something is wrong.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "restride/result.hpp"

namespace restride {

/// Who owns a field (`target`, empty for nobody) and which one it is. A cheap view.
struct Field {
  std::string_view owner;
  std::string_view name;
};

/// `2,3`; a list of more than 16 ends in `,...`.
std::string list_text(std::span<const int64_t> values);

/// The bytes of hostile text, escaped and cut so that they fit a message: `'f3\x00'`.
std::string quoted(std::string_view text);

/// `target.tiles`.
std::string text(const Field& field);

/// `target.minor_to_major[0] = 5: <rule>`.
Error invalid_entry(const Field& field, int64_t position, int64_t value, const std::string& rule);
/// `target.element_size_in_bits = 3: <rule>`.
Error invalid_value(const Field& field, const std::string& value, const std::string& rule);
/// `target.tiles: <rule>`.
Error invalid(const Field& field, const std::string& rule);

}  // namespace restride
