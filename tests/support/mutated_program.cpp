// One field of a Program, changed to something near, something round, or something wild.
#include "support/random_program.hpp"

namespace restride::testing {
namespace {

using namespace restride::program;

/// Something near, something round, or something wild.
template <class T>
void change(Random& random, T& field) {
  const T before = field;
  while (field == before) {
    switch (random.between(0, 3)) {
      case 0:
        field = T(int64_t(field) + random.between(-2, 2));
        break;
      case 1:
        field = T(int64_t(1) << random.between(0, 6));
        break;
      case 2:
        field = T(random.between(0, 64));
        break;
      default:
        field = T(random.next() >> random.between(0, 63));
    }
  }
}

void mutate(Random& random, Op& op) {
  switch (random.between(0, 12)) {
    case 0:
      return void(op.code = Code(random.between(0, int64_t(Code::prefetch))));
    case 1:
      return change(random, op.stream);
    case 2:
      return change(random, op.width);
    case 3:
      return change(random, op.bytes);
    case 4:
      return change(random, op.at);
    case 5:
      return change(random, op.select);
    case 6:
      return change(random, op.table);
    case 7:
      return change(random, op.a);
    case 8:
      return change(random, op.b);
    case 9:
      return void(op.type = ElementType(random.between(0, 40)));
    case 10:
      return void(op.from = ElementType(random.between(0, 40)));
    case 11:
      return change(random, op.run);
    default:
      return change(random, op.offset);
  }
}

void mutate(Random& random, Step& step) {
  switch (random.between(0, step.wraps.empty() ? 3 : 5)) {
    case 0:
      return change(random, step.stream);
    case 1:
      return change(random, step.stride);
    case 2:
      return change(random, step.start);
    case 3:
      return change(random, step.phase);
    case 4:
      return change(random, step.wraps[0].every);
    default:
      return change(random, step.wraps.back().stride);
  }
}

void mutate(Random& random, Body& body) {
  auto& item = body[size_t(random.between(0, int64_t(body.size()) - 1))];
  if (For* loop = std::get_if<For>(&item)) {
    const int64_t what = random.between(0, 3);
    if (what == 0 && !loop->steps.empty()) {
      return mutate(random,
                    loop->steps[size_t(random.between(0, int64_t(loop->steps.size()) - 1))]);
    }
    if (what == 1) return change(random, loop->extent);
    return mutate(random, loop->body);
  }
  Block& block = std::get<Block>(item);
  if (!block.empty()) mutate(random, block[size_t(random.between(0, int64_t(block.size()) - 1))]);
}

}  // namespace

Program mutated(Random& random, const Program& program) {
  Program mutant = program;
  if (random.one_in(10) && !mutant.tables.empty()) {
    auto& table = mutant.tables[size_t(random.between(0, int64_t(mutant.tables.size()) - 1))];
    change(random, table[size_t(random.between(0, int64_t(table.size()) - 1))]);
    return mutant;
  }
  if (random.one_in(20)) {
    change(random, mutant.streams[0]);
    return mutant;
  }
  mutate(random, mutant.root);
  return mutant;
}

}  // namespace restride::testing
