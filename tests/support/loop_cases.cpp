// Programs whose loops, units and streams take one byte after the other.
#include <string>
#include <utility>
#include <variant>

#include "support/program_cases.hpp"

namespace restride::testing {
namespace {

using namespace program;

/// Copies one byte from stream 1 to stream 0 wherever they stand.
Block copy_byte(int64_t from = 0, int64_t to = 0) {
  return {{.code = Code::load, .stream = 1, .bytes = 1, .to = 0, .offset = from},
          {.code = Code::store, .stream = 0, .bytes = 1, .a = 0, .offset = to}};
}

ProgramCase loop_case(const std::string& name, Body root, std::vector<uint8_t> expected,
                      int64_t source_bytes) {
  Program program{.vector_bytes = 16};
  program.operands = {{Role::target, 0, int64_t(expected.size())}, {Role::source, 0, source_bytes}};
  program.streams = {0, 1};
  program.root = std::move(root);
  return {name, std::move(program), counting(source_bytes), std::move(expected)};
}

Body body_of(std::vector<std::variant<Block, For>> items) { return items; }

/// One unit around a loop: root loops only walk.
Body inside_unit(For loop) { return body_of({For{1, {}, body_of({std::move(loop)})}}); }

/// More streams than general registers, each into its own byte.
ProgramCase many_streams() {
  Program program{.vector_bytes = 16};
  program.operands = {{Role::target, 0, 3 * max_streams}, {Role::source, 0, 3}};
  std::vector<uint8_t> expected(size_t(3 * max_streams), untouched);
  For loop{3, {}, {}}, unit{1, {}, {}};
  Block block;
  program.streams.push_back(1);
  loop.steps.push_back({.stream = 0, .stride = 1});
  for (int s = 1; s < max_streams; ++s) {
    program.streams.push_back(0);
    loop.steps.push_back({.stream = s, .stride = max_streams, .start = s});
    block.push_back({.code = Code::load, .stream = 0, .bytes = 1, .to = Reg(s)});
    block.push_back({.code = Code::store, .stream = uint8_t(s), .bytes = 1, .a = Reg(s)});
    for (int i = 0; i < 3; ++i) expected[size_t(i * max_streams + s)] = uint8_t(i + 1);
  }
  loop.body = body_of({std::move(block)});
  unit.body = body_of({std::move(loop)});
  program.root = body_of({std::move(unit)});
  return {"more streams than registers", std::move(program), counting(3), std::move(expected)};
}

/// Two values through a pair of scratch panels, a software pipeline: produce one ahead, consume
/// behind.
ProgramCase pipeline() {
  Program program{.vector_bytes = 16};
  program.operands = {{Role::target, 0, 5}, {Role::source, 0, 5}, {Role::scratch, 0, 2}};
  program.streams = {0, 1, 2, 2};  // target, source, written panel, read panel
  const Block produce = {{.code = Code::load, .stream = 1, .bytes = 1, .to = 0},
                         {.code = Code::store, .stream = 2, .bytes = 1, .a = 0}};
  const Block consume = {{.code = Code::load, .stream = 3, .bytes = 1, .to = 0},
                         {.code = Code::store, .stream = 0, .bytes = 1, .a = 0}};
  const For steady{4,
                   {{.stream = 0, .stride = 1},
                    {.stream = 1, .stride = 1, .phase = 1},
                    {.stream = 2, .stride = 1, .phase = 1, .wraps = {{2, 0}}},
                    {.stream = 3, .stride = 1, .wraps = {{2, 0}}}},
                   body_of({produce, consume})};
  const For drain{1, {{.stream = 0, .start = 4}}, body_of({consume})};
  program.root = body_of({For{1, {}, body_of({produce, steady, drain})}});
  return {"a pipeline through two panels", std::move(program), counting(5), {1, 2, 3, 4, 5}};
}

/// Loops nested deeper than there are registers for their counters.
ProgramCase deep_loops() {
  Body body = body_of({copy_byte()});
  for (int depth = 0; depth < max_depth; ++depth) {
    const int64_t extent = depth % 3 == 0 ? 2 : 1;
    For loop{extent, {}, std::move(body)};
    if (extent == 2) {
      loop.steps.push_back({.stream = 0, .stride = int64_t{1} << (depth / 3)});
      loop.steps.push_back({.stream = 1, .stride = int64_t{1} << (depth / 3)});
    }
    body = body_of({std::move(loop)});
  }
  return loop_case("deep loops", std::move(body), counting(256), 256);
}

}  // namespace

std::vector<ProgramCase> loop_cases() {
  const uint8_t x = untouched;
  std::vector<ProgramCase> cases;
  cases.push_back(loop_case("a root block", body_of({copy_byte(2, 1)}), {x, 3, x}, 3));
  cases.push_back(loop_case(
      "units walk", body_of({For{4, {{0, 1}, {1, 2}}, body_of({copy_byte()})}}), {1, 3, 5, 7}, 8));
  cases.push_back(loop_case("units walk backwards",
                            body_of({For{4, {{0, 1}, {1, -2, 7}}, body_of({copy_byte()})}}),
                            {8, 6, 4, 2}, 8));
  cases.push_back(
      loop_case("items one after another",
                body_of({For{2, {{0, 1}, {1, 1}}, body_of({copy_byte()})}, copy_byte(5, 2),
                         For{2, {{0, 1, 3}, {1, 1, 3}}, body_of({copy_byte()})}}),
                {1, 2, 6, 4, 5}, 6));
  // A loop leaves no trace: the block behind it stands where the block before it stood.
  cases.push_back(loop_case(
      "streams are scoped",
      body_of({For{2,
                   {{0, 4}, {1, 4}},
                   body_of({For{3, {{0, 1}, {1, 1}}, body_of({copy_byte()})}, copy_byte(3, 3)})}}),
      {1, 2, 3, 4, 5, 6, 7, 8}, 8));
  // Lines 0, 1 of a row, then the next row, 10 on: 0 1 10 11 20 21.
  cases.push_back(loop_case(
      "a wrap walks rows",
      inside_unit({6,
                   {{.stream = 0, .stride = 1}, {.stream = 1, .stride = 1, .wraps = {{2, 10}}}},
                   body_of({copy_byte()})}),
      {1, 2, 11, 12, 21, 22}, 24));
  // 0 1 2, back to 4 on: 4 5 6, then 30 on.
  cases.push_back(loop_case("two wraps",
                            inside_unit({8,
                                         {{.stream = 0, .stride = 1},
                                          {.stream = 1, .stride = 1, .wraps = {{3, 4}, {2, 30}}}},
                                         body_of({copy_byte()})}),
                            {1, 2, 3, 5, 6, 7, 31, 32}, 32));
  // The fifth count comes first: of 0 1 10 11 20 21 30 31 the ones from 20 on.
  cases.push_back(loop_case(
      "a phase runs ahead",
      inside_unit(
          {3,
           {{.stream = 0, .stride = 1}, {.stream = 1, .stride = 1, .phase = 4, .wraps = {{2, 10}}}},
           body_of({copy_byte()})}),
      {21, 22, 31}, 32));
  cases.push_back(loop_case("a start and a loop that runs once",
                            inside_unit({1,
                                         {{.stream = 0, .stride = 9, .start = 2},
                                          {.stream = 1, .stride = 5, .start = 1, .phase = 1}},
                                         body_of({copy_byte()})}),
                            {x, x, 7}, 8));
  // 0 1 2 3 4 5, from the second on 10 further, from the fifth 20.
  cases.push_back(loop_case("steps that add up",
                            inside_unit({6,
                                         {{.stream = 0, .stride = 1},
                                          {.stream = 1, .stride = 1},
                                          {.stream = 1, .phase = 2, .wraps = {{3, 10}}}},
                                         body_of({copy_byte()})}),
                            {1, 12, 13, 14, 25, 26}, 32));
  cases.push_back(many_streams());
  cases.push_back(pipeline());
  cases.push_back(deep_loops());
  ProgramCase open = cases[1];
  open.name = "open";
  open.program.open = true;
  cases.push_back(std::move(open));
  return cases;
}

}  // namespace restride::testing
