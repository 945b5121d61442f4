#include "xbyak/held_tables.hpp"

#include <algorithm>
#include <vector>

#include "xbyak/survey.hpp"

namespace restride::xbyak {

using namespace program;

namespace {

// As many as a Program may use, and so many of them for what computes: its temporaries would be
// saved and restored otherwise.
constexpr int usable_registers = 31, temporaries = 6;

class Walk {
 public:
  Walk(const Program& program, InstructionSet set) : program_(program), set_(set) {}

  HeldTables run() {
    walk(program_.root, 0);
    std::stable_sort(uses_.begin(), uses_.end(),
                     [](const Use& a, const Use& b) { return a.weight > b.weight; });
    HeldTables held;
    const int room = std::min(HeldTables::most, usable_registers - most_live_);
    for (const Use& use : uses_) {
      if (held.size >= room) break;
      held.tables[size_t(held.size++)] = use.table;
    }
    return held;
  }

 private:
  struct Use {
    IndexTable table;
    int64_t weight;  ///< loads, those of inner loops count more
  };

  /// `depth`: loops around the body that run more than once.
  void walk(const Body& body, int depth) {
    for (const auto& item : body) {
      if (const For* loop = std::get_if<For>(&item)) {
        walk(loop->body, loop->extent > 1 || program_.open ? depth + 1 : depth);
      } else {
        const Block& block = std::get<Block>(item);
        most_live_ = std::max(most_live_, most_live(block));
        if (depth > 0) count_uses(block, int64_t{1} << (3 * std::min(depth, 10)));
      }
    }
  }

  void count_uses(const Block& block, int64_t weight) {
    for (const Op& op : block) {
      const std::optional<IndexTable> table = loaded_table(program_, op, set_);
      if (!table) continue;
      const auto found = std::find_if(uses_.begin(), uses_.end(),
                                      [&](const Use& use) { return use.table == *table; });
      if (found == uses_.end()) {
        uses_.push_back({*table, weight});
      } else {
        found->weight += weight;
      }
    }
  }

  /// The registers that are in use at once, results and temporaries beside all that their operation
  /// reads.
  int most_live(const Block& block) {
    int live = 0, most = 0;
    const auto use = [&](Reg r) {
      if (r == none) return;
      if (size_t(r) >= lives_.size()) lives_.resize(2 * size_t(r) + 64);
      live += lives_[size_t(r)] ? 0 : 1;
      lives_[size_t(r)] = true;
    };
    for (size_t k = block.size(); k-- > 0;) {
      const Op& op = block[k];
      for (const Reg r : {op.to, op.a, op.b}) use(r);
      most = std::max(most, live + (is_computation(op.code) ? temporaries : 0));
      if (op.to == none) continue;
      lives_[size_t(op.to)] = false;
      --live;
    }
    return most;
  }

  const Program& program_;
  const InstructionSet set_;
  std::vector<Use> uses_;
  std::vector<bool> lives_;  ///< by virtual register; all false between Blocks
  int most_live_ = 0;
};

}  // namespace

std::optional<IndexTable> loaded_table(const Program& program, const Op& op, InstructionSet set) {
  if (op.code == Code::shuffle) return IndexTable{op.table, 1};
  if (op.code != Code::permute || blend_mask(program, op) || is_funnel(program, op, set))
    return std::nullopt;
  return IndexTable{op.table, op.width};
}

int HeldTables::find(const IndexTable& table) const {
  for (int k = 0; k < size; ++k) {
    if (tables[size_t(k)] == table) return first_register - k;
  }
  return -1;
}

HeldTables hold_tables(const Program& program, InstructionSet set) {
  if (program.tables.empty()) return {};
  return Walk(program, set).run();
}

}  // namespace restride::xbyak
