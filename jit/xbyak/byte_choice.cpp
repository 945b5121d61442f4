// See byte_choice.hpp.
#include "xbyak/byte_choice.hpp"

namespace restride::xbyak {

using namespace program;

namespace {

constexpr uint8_t cleared = 0x80;

bool is_from(uint8_t byte, int from) { return byte != undefined && byte / lane_bytes == from; }

/// Whether every byte that is chosen at all is the one that `expected` says for its place.
template <class Expected>
bool matches(const ByteChoice& choice, Expected expected) {
  for (int k = 0; k < lane_bytes; ++k) {
    const uint8_t byte = choice[size_t(k)];
    if (byte != undefined && byte != expected(k)) return false;
  }
  return true;
}

}  // namespace

ByteChoice byte_choice(const Program& program, const Op& op) {
  const auto& table = program.tables[size_t(op.table)];
  ByteChoice choice{};
  for (int k = 0; k < lane_bytes; ++k) {
    const uint8_t element = table[size_t(k / op.width)];
    choice[size_t(k)] =
        element == undefined ? undefined : uint8_t(element * op.width + k % op.width);
  }
  return choice;
}

bool stays(const ByteChoice& choice, int from) {
  return matches(choice, [&](int k) {
    const uint8_t byte = choice[size_t(k)];
    return is_from(byte, from) ? uint8_t(from * lane_bytes + k) : byte;
  });
}

ByteChoice places(const ByteChoice& choice, int from) {
  ByteChoice result = choice;
  for (uint8_t& byte : result) byte = is_from(byte, from) ? byte % lane_bytes : cleared;
  return result;
}

uint16_t bytes_from(const ByteChoice& choice, int from) {
  uint16_t bits = 0;
  for (int k = 0; k < lane_bytes; ++k) {
    if (is_from(choice[size_t(k)], from)) bits = uint16_t(bits | 1 << k);
  }
  return bits;
}

ByteChoice ones(const ByteChoice& choice, int from) {
  ByteChoice result = choice;
  for (uint8_t& byte : result) byte = is_from(byte, from) ? 0xff : 0;
  return result;
}

std::optional<uint8_t> blended(const ByteChoice& choice, int width) {
  if (!stays(choice, 0) || !stays(choice, 1)) return std::nullopt;
  uint8_t second = 0, first = 0;
  for (int k = 0; k < lane_bytes; ++k) {
    const auto bit = uint8_t(1 << k / width);
    if (is_from(choice[size_t(k)], 0)) first |= bit;
    if (is_from(choice[size_t(k)], 1)) second |= bit;
  }
  if ((first & second) != 0) return std::nullopt;
  return second;
}

std::optional<Unpacking> unpacking(const ByteChoice& choice) {
  for (const int width : {1, 2, 4, 8}) {
    for (const int first : {0, 1}) {
      for (const Code code : {Code::unpack_low, Code::unpack_high}) {
        const auto expected = [&](int k) {
          const int element = k / width, from = element % 2 == 0 ? first : 1 - first;
          const int at =
              (code == Code::unpack_high ? lane_bytes / 2 : 0) + element / 2 * width + k % width;
          return uint8_t(from * lane_bytes + at);
        };
        if (matches(choice, expected)) return Unpacking{code, width, first};
      }
    }
  }
  return std::nullopt;
}

std::optional<Alignment> alignment(const ByteChoice& choice) {
  for (const int low : {0, 1}) {
    for (int begin = 1; begin < lane_bytes; ++begin) {
      const auto expected = [&](int k) {
        return uint8_t((low * lane_bytes + begin + k) % (2 * lane_bytes));
      };
      if (matches(choice, expected)) return Alignment{begin, low};
    }
  }
  return std::nullopt;
}

std::optional<HalfChoice> half_choice(const ByteChoice& choice) {
  constexpr int width = 4;
  for (const int first : {0, 1}) {
    int select = 0;
    bool found = true;
    for (int element = 0; element < lane_bytes / width; ++element) {
      const int from = element < 2 ? first : 1 - first;
      for (int at = 0; at < width; ++at) {
        // Any defined byte of an element says which one it is.
        const uint8_t byte = choice[size_t(element * width + at)];
        if (byte != undefined)
          select = (select & ~(3 << 2 * element)) | (byte % lane_bytes / width) << 2 * element;
      }
      for (int at = 0; at < width; ++at) {
        const uint8_t byte = choice[size_t(element * width + at)];
        const int chosen = from * lane_bytes + (select >> 2 * element & 3) * width + at;
        found = found && (byte == undefined || byte == chosen);
      }
    }
    if (found) return HalfChoice{uint8_t(select), first};
  }
  return std::nullopt;
}

}  // namespace restride::xbyak
