// What a problem makes of its elements, one at a time, by the library's definition of arithmetic.
#pragma once

#include <cstddef>
#include <vector>

#include "element/element_math.hpp"

namespace restride::tools {

/// Precondition: the problem is valid. Refers to the problem.
class ElementMeaning {
 public:
  explicit ElementMeaning(const Problem& problem);

  /// The target's element from those of the sources. `factor` is the index along the dimension of
  /// an affine conversion.
  void operator()(const std::byte* const* sources, int64_t factor, std::byte* to) const;

 private:
  template <class Real>
  void convert_affinely(const std::byte* from, int64_t factor, std::byte* to) const;

  const Problem& problem_;
  size_t bytes_;
  ConvertElement convert_ = nullptr;  ///< of an affine conversion: into what it computes in
  ConvertElement finish_ = nullptr;
  BinaryElement compute_ = nullptr;
};

}  // namespace restride::tools
