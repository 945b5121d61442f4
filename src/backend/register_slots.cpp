// See register_slots.hpp.
#include "backend/register_slots.hpp"

#include <bit>

namespace restride::program {

bool Renaming::apply(Body& body) {
  for (auto& item : body) {
    For* loop = std::get_if<For>(&item);
    if (!(loop ? apply(loop->body) : apply(std::get<Block>(item)))) return false;
  }
  return true;
}

bool Renaming::apply(Block& block) {
  find_last_uses(block);
  uint64_t free = ~uint64_t{0};
  for (size_t k = 0; k < block.size(); ++k) {
    Op& op = block[k];
    const Reg a = op.a, b = op.b, to = op.to;
    if (a != none) op.a = slot_[size_t(a)];
    if (b != none) op.b = slot_[size_t(b)];
    if (to != none) {
      if (free == 0) return false;
      op.to = slot_[size_t(to)] = Reg(std::countr_zero(free));
      free &= free - 1;
    }
    for (const Reg r : {a, b, to}) {
      if (r != none && last_use_[size_t(r)] <= k) free |= uint64_t{1} << slot_[size_t(r)];
    }
  }
  return true;
}

void Renaming::find_last_uses(const Block& block) {
  for (size_t k = 0; k < block.size(); ++k) {
    for (const Reg r : {block[k].a, block[k].b, block[k].to}) {
      if (r == none) continue;
      if (size_t(r) >= last_use_.size()) last_use_.resize(size_t(r) + 1);
      last_use_[size_t(r)] = k;
    }
  }
  slot_.resize(last_use_.size());
}

}  // namespace restride::program
