// Placed body: code that was made for streams of its own, put on those of the program it becomes a
// part of. Not here: what is made apart, and why.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "microkernel/microkernel.hpp"
#include "program/program.hpp"

namespace restride {

/// Where a stream of a body made apart goes.
struct Place {
  int stream;
  int64_t at;  ///< bytes
};

/// A body whose stream k goes to `places[k]`.
program::Body placed(program::Body body, std::span<const Place> places);

/// Asks for what lies so many bytes behind each load of a stream.
void ask_behind_loads(program::Body& body, int stream, int64_t bytes, int level);

/// Numbers the tables of a body made apart as those of the program.
void take_tables(program::Body& body, const std::vector<std::vector<uint8_t>>& from,
                 Tables& tables);

}  // namespace restride
