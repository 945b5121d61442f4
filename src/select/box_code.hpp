// Box code: computes a box, in as many steps as it takes, each of which is code like any other.
//
//     sources ── relayouts ──► scratch ── rows ──► target                     relaid_tile
//     sources ── rows ──► image ── relayout ──► target                        computed_image
//     packed sources ── spread ──► images ── the same ──► image ── pack ──►   packed_box
//     sources ── relayouts ──► images ── the same, or a relayout ──► target    unnested_box
//     the same block ── some columns ──► image ── runs ──► target              imaged_block
//
// Every step is made for streams of its own and then put on those of the program. Which loops stand
// around the box is select's business.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "loop_nest/schedule.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/packed/mixed_box.hpp"
#include "schedule/scheduling.hpp"
#include "select/packed_box.hpp"
#include "select/placed_body.hpp"
#include "select/relaid_tile.hpp"
#include "select/unnested_box.hpp"

namespace restride {

/// By operand.
using Places = std::array<Place, max_operands>;

struct BoxPlaces {
  Places operands;
  Strides ahead{};         ///< bytes from this box to the next one; 0: not known
  int64_t rows_ahead = 0;  ///< see Schedule
  bool asks_rows = false;  ///< of a single source the rows of the next box are asked for
};

/// Streams of a program with such boxes, behind those of its operands: what is relaid of each
/// source, then the image of each operand.
constexpr int relaid_stream(int sources, int operand) { return sources + operand; }
constexpr int image_stream(int sources, int operand) { return 2 * sources + 1 + operand; }

class BoxCode {
 public:
  /// `vector_bytes`: of the program. Nothing is owned.
  BoxCode(const Target& target, int vector_bytes, Tables& tables)
      : target_(target), vector_bytes_(vector_bytes), tables_(tables) {}

  /// A box without packed operands. `target_run`: the sides that make rows of the target.
  program::Body computed(const nest::Tile& box, uint32_t target_run, const ElementOp& op,
                         const BoxPlaces& places, const Machine& machine);

  /// The same, computed in the order of the sources and relaid then.
  program::Body computed_first(const nest::Tile& box, uint32_t target_run, const ElementOp& op,
                               const BoxPlaces& places, const Machine& machine);

  /// A box without packed operands, moved or computed, along whose sides digits do not nest.
  program::Body unnested(const nest::Tile& box, const ElementOp& op, const BoxPlaces& places,
                         const Machine& machine);

  /// A box with packed operands, computed or filled, at `at`.
  program::Body packed(const nest::Tile& box, const ElementOp& op, const Strides& at,
                       const Machine& machine);

  /// A box of packed elements that only move and make runs of whole bytes, at `at`.
  /// Its streams are those of a transpose.
  program::Body mixed(const nest::Tile& box, const Schedule& schedule, const Strides& at,
                      const Machine& machine);

  /// What all boxes need.
  int64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  /// `alignment`: of the place moved to, where whole vectors may go around the caches; else 1.
  program::Body relaid(const Relayout& relayout, const std::array<Place, 2>& places,
                       int64_t alignment = 1, CodeGoal goal = CodeGoal::part);
  /// What lies in scratch leaves for the target, as the schedule says. `places`: of target, of
  /// scratch, of the image behind `used` bytes of it.
  program::Body leaving(const nest::Tile& block, int64_t bytes, const std::array<Place, 3>& places,
                        int64_t used, int64_t alignment, const Machine& machine);
  program::Body rows(const RelaidTile& relaid, const ElementOp& op, const BoxPlaces& places,
                     const Places& rows_at, const Machine& machine) const;
  program::Body through_image(const nest::Tile& tile, const Schedule& schedule, const Strides& at,
                              const Machine& machine);
  program::Body crossed_block(const nest::Tile& tile, const ElementOp& op, const Strides& at,
                              const Machine& machine);
  program::Body packed_block(const nest::Tile& tile, const ElementOp& op, const Strides& at,
                             const Machine& machine);
  program::Body on_images(const PackedBlock& block, const ElementOp& op, const Places& places,
                          const Machine& machine);

  const Target& target_;
  const int vector_bytes_;
  Tables& tables_;
  int64_t images_bytes_ = 0;  // of the block at hand: relaid sources lie behind them
  int64_t scratch_bytes_ = 0;
};

}  // namespace restride
