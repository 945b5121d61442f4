// Small Programs that are valid, for tests of what is said of Programs: one with a loop and
// scratch, and any Block by itself.
#pragma once

#include <utility>
#include <vector>

#include "program/program.hpp"

namespace restride::testing {

/// Four vectors of 16 bytes from source to target by way of scratch, a unit each.
inline Program valid_program() {
  Program program{.vector_bytes = 16};
  program.operands = {{program::Role::target, 0, 64, 16},
                      {program::Role::source, 0, 64},
                      {program::Role::scratch, 0, 16}};
  program.streams = {0, 1, 2};
  program.tables = {std::vector<uint8_t>(16, 7)};
  program.root.push_back(program::For{
      4,
      {{0, 16}, {1, 16}},
      {program::Block{
          {.code = program::Code::load, .stream = 1, .bytes = 16, .to = 0},
          {.code = program::Code::store, .stream = 2, .bytes = 16, .a = 0},
          {.code = program::Code::load, .stream = 2, .bytes = 16, .to = 1},
          {.code = program::Code::store_nontemporal, .stream = 0, .bytes = 16, .a = 1}}}});
  return program;
}

inline program::For& root_loop(Program& program) { return std::get<program::For>(program.root[0]); }
inline program::Block& block_of(Program& program) {
  return std::get<program::Block>(root_loop(program).body[0]);
}

/// A Program of one root block over 64 bytes of target and source.
inline Program block_program(int vector_bytes, program::Block block,
                             std::vector<std::vector<uint8_t>> tables = {}) {
  Program program{.vector_bytes = vector_bytes};
  program.operands = {{program::Role::target, 0, 64}, {program::Role::source, 0, 64}};
  program.streams = {0, 1};
  program.tables = std::move(tables);
  program.root.push_back(std::move(block));
  return program;
}

inline program::Op load(program::Reg to, int bytes = 16, int at = 0) {
  return {.code = program::Code::load,
          .stream = 1,
          .bytes = uint8_t(bytes),
          .at = uint8_t(at),
          .to = to};
}
inline program::Op store(program::Reg from, int bytes = 16, int at = 0) {
  return {.code = program::Code::store,
          .stream = 0,
          .bytes = uint8_t(bytes),
          .at = uint8_t(at),
          .a = from};
}

}  // namespace restride::testing
