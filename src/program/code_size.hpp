// How much code a Program will be, before a backend makes it.
#pragma once

#include <cstdint>

#include "program/program.hpp"

namespace restride {

/// Bytes on x86-64, tables included, as far as operations tell.
int64_t estimated_code_bytes(const Program& program);

}  // namespace restride
