// Programs as values and as text.
//
//     LoopNest ── select ──► Program ──► {interpreter │ xbyak │ LLVM}
//
// The text is for reading: one operation a line, a loop with the movements of its streams:
//
//     program of 16-byte vectors
//     operand 0: target [0, 64) aligned 1
//     s0: operand 0
//     for 4  s0+16
//       v0 = load 16 [s1 + 0]
//       store 16 [s0 + 0] v0
//
// Proofs about Programs are in program_verify.cpp, the walk of all stores in written_once.cpp.
#include "program/program.hpp"

#include <algorithm>
#include <array>

namespace restride {
namespace program {

int64_t Step::operator()(int64_t i) const {
  int64_t count = i + phase, digit = stride, at = start;
  for (const Wrap& wrap : wraps) {
    at += count % wrap.every * digit;
    count /= wrap.every;
    digit = wrap.stride;
  }
  return at + count * digit;
}

namespace {

constexpr std::array<std::string_view, 28> code_names = {
    "load",          "splat",       "shift",
    "load_for_line", "constant",    "unpack_low",
    "unpack_high",   "lanes",       "insert",
    "extract",       "permute",     "shuffle",
    "convert",       "compute",     "round",
    "spread",        "pack",        "mix_low",
    "mix_high",      "store",       "store_nontemporal",
    "store_line",    "store_begin", "store_end",
    "copy_begin",    "copy_end",    "store_run",
    "prefetch"};

constexpr std::array<std::string_view, 3> role_names = {"target", "source", "scratch"};

/// The name of an enumerator, also of one that a hostile Program made up.
template <size_t n>
std::string name_of(const std::array<std::string_view, n>& names, int number) {
  return number < int(n) ? std::string(names[number]) : "unknown " + std::to_string(number);
}

bool names_types(Code code) {
  return code == Code::convert || code == Code::compute || code == Code::round;
}

/// `+ 4` or `- 4`, with `gap` between sign and number.
std::string signed_text(int64_t n, std::string_view gap) {
  const uint64_t magnitude = n < 0 ? 0 - uint64_t(n) : uint64_t(n);
  return (n < 0 ? "-" : "+") + std::string(gap) + std::to_string(magnitude);
}

void print(const Body& body, int depth, std::string& out) {
  const std::string indent(2 * size_t(depth), ' ');
  for (const auto& item : body) {
    if (const For* loop = std::get_if<For>(&item)) {
      out += indent + "for " + std::to_string(loop->extent);
      for (const Step& step : loop->steps) out += "  " + to_string(step);
      out += "\n";
      if (depth < max_depth) print(loop->body, depth + 1, out);
    } else {
      for (const Op& op : std::get<Block>(item)) out += indent + to_string(op) + "\n";
    }
  }
}

/// Whether an operation is of a kind that `is` says.
template <typename Is>
bool any_operation(const Body& body, const Is& is) {
  return std::any_of(body.begin(), body.end(), [&](const auto& item) {
    if (const For* loop = std::get_if<For>(&item)) return any_operation(loop->body, is);
    const Block& block = std::get<Block>(item);
    return std::any_of(block.begin(), block.end(), [&](const Op& op) { return is(op.code); });
  });
}

void print_head(const Program& program, std::string& out) {
  out += "program of " + std::to_string(program.vector_bytes) + "-byte vectors";
  out += program.open ? ", open\n" : "\n";
  for (size_t k = 0; k < program.operands.size(); ++k) {
    const Operand& operand = program.operands[k];
    out += "operand " + std::to_string(k) + ": " + name_of(role_names, int(operand.role)) + " [" +
           std::to_string(operand.begin) + ", " + std::to_string(operand.end) + ") aligned " +
           std::to_string(operand.alignment) +
           (operand.phase != 0 ? " + " + std::to_string(operand.phase) : "") + "\n";
  }
  for (size_t k = 0; k < program.streams.size(); ++k) {
    out += "s" + std::to_string(k) + ": operand " + std::to_string(program.streams[k]) + "\n";
  }
  for (size_t k = 0; k < program.tables.size(); ++k) {
    out += "table " + std::to_string(k) + ":";
    for (const uint8_t entry : program.tables[k]) out += " " + std::to_string(entry);
    out += "\n";
  }
}

}  // namespace
}  // namespace program

using namespace program;

int64_t unit_count(const Program& program) {
  int64_t units = 0;
  for (const auto& item : program.root) {
    const For* loop = std::get_if<For>(&item);
    units += loop ? loop->extent : 1;
  }
  return units;
}

bool uses_nontemporal_stores(const Program& program) {
  return any_operation(program.root, goes_around_caches);
}

bool stores_known_lines(const Program& program) {
  return any_operation(program.root, [](Code code) { return code == Code::store_nontemporal; });
}

std::string to_string(const Op& op) {
  const auto number = [](int64_t n) { return std::to_string(n); };
  std::string text = op.to != none ? "v" + number(op.to) + " = " : "";
  text += name_of(code_names, int(op.code));
  if (op.width) text += "." + number(op.width);
  if (op.code == Code::compute) text += " " + std::string(restride::to_string(op.operation()));
  if (op.code == Code::convert) text += " " + std::string(restride::to_string(op.from)) + ">";
  if (names_types(op.code))
    text += std::string(op.code == Code::convert ? "" : " ") +
            std::string(restride::to_string(op.type));
  if (op.bytes) text += " " + number(op.bytes);
  if (op.run) text += " over " + number(op.run);
  if (names_memory(op.code)) {
    text += " [s" + number(op.stream) + " " + signed_text(op.offset, " ") + "]";
  }
  if (op.a != none) text += " v" + number(op.a);
  if (op.b != none) text += " v" + number(op.b);
  if (op.code == Code::lanes) text += " select " + number(op.select);
  if (op.code == Code::load_for_line) text += " for s" + number(op.select);
  if (is_copy(op.code))
    text += " from [s" + number(op.select) + " " + signed_text(op.copied, " ") + "]";
  if (is_packing(op.code) && op.select != 0) text += " reversed";
  if (op.at) text += " at " + number(op.at);
  if (names_table(op.code)) text += " table " + number(op.table);
  return text;
}

/// `s3:128+64%2+0@1`: from 128 by 64, after every 2 counts back and on by 0, one iteration ahead.
std::string to_string(const Step& step) {
  std::string text = "s" + std::to_string(step.stream);
  if (step.start) text += ":" + std::to_string(step.start);
  text += signed_text(step.stride, "");
  for (const Wrap& wrap : step.wraps) {
    text += "%" + std::to_string(wrap.every) + signed_text(wrap.stride, "");
  }
  if (step.phase) text += "@" + std::to_string(step.phase);
  return text;
}

std::string to_string(const Program& program) {
  std::string out;
  print_head(program, out);
  print(program.root, 0, out);
  return out;
}

}  // namespace restride
