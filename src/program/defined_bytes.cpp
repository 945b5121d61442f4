// Which bytes of a register are defined: those of an operation's result, from those of its
// arguments. Part of BlockVerifier, which says what has to be defined.
#include <algorithm>

#include "program/block_verify.hpp"

namespace restride::program {
namespace {

/// The defined bytes of unpack_low (from = 0) or unpack_high (from = 8), lane by lane.
uint64_t unpacked(uint64_t a, uint64_t b, int vector_bytes, int width, int from) {
  uint64_t result = 0;
  for (int lane = 0; lane < vector_bytes; lane += 16) {
    for (int k = 0; k < 16 / width; ++k) {
      const uint64_t source = (k & 1 ? b : a) >> (lane + from + k / 2 * width);
      result |= (source & low_bits(width)) << (lane + k * width);
    }
  }
  return result;
}

uint64_t chosen_lanes(const Op& op, uint64_t a, uint64_t b, int vector_bytes) {
  const int lanes = vector_bytes / 16, bits = lanes == 4 ? 2 : 1;
  uint64_t result = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    const int from = op.select >> (lane * bits) & (lanes - 1);
    result |= ((lane < lanes / 2 ? a : b) >> (16 * from) & 0xffff) << (16 * lane);
  }
  return result;
}

/// The elements of `to_width` bytes, the first at byte `to`, whose sources at byte `from` are
/// whole.
uint64_t converted(uint64_t a, const Op& op, int vector_bytes) {
  const int from_width = int(storage_bytes(op.from)), to_width = int(storage_bytes(op.type));
  const int from = from_width < to_width ? op.at : 0, to = to_width < from_width ? op.at : 0;
  const int count = vector_bytes / std::max(from_width, to_width);
  uint64_t result = 0;
  for (int k = 0; k < count; ++k) {
    const uint64_t needed = low_bits(from_width) << (from + k * from_width);
    if ((a & needed) == needed) result |= low_bits(to_width) << (to + k * to_width);
  }
  return result;
}

/// The elements of `width` bytes that are whole.
uint64_t whole_elements(uint64_t a, int vector_bytes, int width) {
  uint64_t result = 0;
  for (int at = 0; at < vector_bytes; at += width) {
    const uint64_t element = low_bits(width) << at;
    if ((a & element) == element) result |= element;
  }
  return result;
}

/// A byte for each element of `width` bytes that is whole, and all bytes above.
uint64_t compared(uint64_t a, int vector_bytes, int width) {
  const int count = vector_bytes / width;
  uint64_t result = low_bits(vector_bytes) & ~low_bits(count);
  for (int k = 0; k < count; ++k) {
    const uint64_t element = low_bits(width) << (k * width);
    if ((a & element) == element) result |= uint64_t{1} << k;
  }
  return result;
}

/// Bytes whose packed byte, `at` and further, is there.
uint64_t spread(uint64_t a, const Op& op, int vector_bytes) {
  const int in_byte = 8 / op.width;
  uint64_t result = 0;
  for (int k = 0; k < vector_bytes; ++k) result |= (a >> (op.at + k / in_byte) & 1) << k;
  return result;
}

/// Packed bytes, from `at` on, all of whose elements are there.
uint64_t packed(uint64_t a, const Op& op, int vector_bytes) {
  const int in_byte = 8 / op.width;
  uint64_t result = 0;
  for (int k = 0; k < vector_bytes / in_byte; ++k) {
    const uint64_t needed = low_bits(in_byte) << (k * in_byte);
    if ((a & needed) == needed) result |= uint64_t{1} << (op.at + k);
  }
  return result;
}

uint64_t shuffled(uint64_t a, const std::vector<uint8_t>& table) {
  uint64_t result = 0;
  for (size_t k = 0; k < table.size(); ++k) {
    if (table[k] != undefined) result |= (a >> (k / 16 * 16 + table[k]) & 1) << k;
  }
  return result;
}

}  // namespace

uint64_t BlockVerifier::permuted_bytes(const Op& op, uint64_t a, uint64_t b) const {
  const Table& facts = tables_[size_t(op.table)];
  const int width = op.width, entries = facts.entries;
  if (a == all_ && b == all_ && facts.defined == low_bits(entries)) return all_;
  const std::vector<uint8_t>& table = program_.tables[size_t(op.table)];
  uint64_t result = 0;
  for (int k = 0; k < program_.vector_bytes / width; ++k) {
    const int at = k % entries, from = table[size_t(at)];
    if (from == undefined) continue;
    const uint64_t source = from < entries ? a : b;
    result |= (source >> ((k - at + from % entries) * width) & low_bits(width)) << (k * width);
  }
  return result;
}

/// The defined bytes of an operation's result.
uint64_t BlockVerifier::result_bytes(const Op& op) const {
  const uint64_t a = defined_bytes(op.a), b = defined_bytes(op.b);
  const int vector = program_.vector_bytes;
  switch (op.code) {
    case Code::load:
      return a | low_bits(op.bytes) << op.at;
    case Code::unpack_low:
      return (a & b) == all_ ? all_ : unpacked(a, b, vector, op.width, 0);
    case Code::unpack_high:
      return (a & b) == all_ ? all_ : unpacked(a, b, vector, op.width, 8);
    case Code::lanes:
      return (a & b) == all_ ? all_ : chosen_lanes(op, a, b, vector);
    case Code::insert:
      return (a & ~(uint64_t{0xffff} << op.at)) | (b & 0xffff) << op.at;
    case Code::extract:
      return a >> op.at & 0xffff;
    case Code::permute:
      return permuted_bytes(op, a, b);
    case Code::shuffle:
      return a == all_ ? tables_[size_t(op.table)].defined
                       : shuffled(a, program_.tables[size_t(op.table)]);
    case Code::convert: {
      const uint64_t made = a == all_ && op.b == none && op.at == 0 &&
                                    storage_bytes(op.from) <= storage_bytes(op.type)
                                ? all_
                                : converted(a, op, vector);
      return made | (b & ~converted(all_, op, vector));
    }
    case Code::compute:
      if (op.width == 1) return compared(a & b, vector, int(storage_bytes(op.type)));
      return (a & b) == all_ ? all_ : whole_elements(a & b, vector, int(storage_bytes(op.type)));
    case Code::round:
      return a == all_ ? all_ : whole_elements(a, vector, int(storage_bytes(op.type)));
    case Code::shift:
      return (a & b) == all_ ? all_ : 0;  // wherever it stands
    case Code::spread:
      return a == all_ ? all_ : spread(a, op, vector);
    case Code::pack:
      return packed(a, op, vector) | (b & ~packed(all_, op, vector));
    case Code::mix_low:
    case Code::mix_high:
      return op.b == none ? a : a & b;
    default:
      return all_;
  }
}

}  // namespace restride::program
