// See setups.hpp.
#include "support/setups.hpp"

#include <algorithm>
#include <limits>

#include "backend/backend.hpp"
#include "restride/problem.hpp"
#include "support/coverage.hpp"
#include "support/sampling.hpp"

namespace restride::testing {

Target target_of(const Setup& setup) {
  Target target = *find_target(setup.target);
  const bool holds_nothing = setup.caches == Caches::hold_nothing;
  stream_beyond(target, holds_nothing ? 0 : int64_t{1} << 60);
  target.far_imaging_bytes = std::numeric_limits<int64_t>::max();
  target.claiming_bytes = 0;
  target.shifting_run_bytes = 256;
  // Two targets stand for processors that are programmed otherwise.
  const bool steps = target.name == "sse2" || target.name == "avx512_vbmi";
  target.reads_ahead_by_step = steps;
  target.long_run_bytes = steps ? 256 : 0;
  target.page_element_bytes = steps ? 16 : 8;
  target.uncut_run_bytes = steps ? 2048 : 512;
  target.streamed_column_bytes = steps ? 1024 : 512;
  target.streamed_digits_bytes = steps ? 3072 : 512;
  target.touching_rows_run_bytes = steps ? 4096 : 0;
  target.asked_level = steps ? 1 : 2;
  target.network_piece_bytes = steps ? 32 : 16;
  target.least_piece_element_bytes = 1;
  target.narrow_permute_steps = 1;
  target.dense_ring_bytes = steps ? 4 : 0;
  target.skews_rows = target.shifts_mixed_rows = target.shifts_computed_rows = steps;
  target.computes_first = steps;
  target.lane_rows_bytes = target.name == "avx512" ? 48 : 0;
  target.permuted_row_bytes = steps ? 64 : 0;
  target.transposed_column_bytes = steps ? 9 : std::numeric_limits<int64_t>::max();
  target.reads_ahead_of_masks = !steps;
  const bool runs = target.name == "sse2" || target.name == "avx512";
  target.stored_run_bytes = runs ? 256 : std::numeric_limits<int64_t>::max();
  target.run_fill_bytes = runs ? int64_t{1} << 60 : 0;
  target.masked_stores_wait = steps;
  target.shifted_chunk_lines = steps ? 4 : 2;
  target.gathered_row_element_bytes = steps ? 4 : 0;
  target.columns_claimed_again = runs ? 2 : 0;
  target.asks_as_rows_come = runs;
  target.asks_down_rows = runs;
  target.l1_vector_bytes = runs ? 32 : 64;
  target.claims_transposed_lines = !runs;
  target.crowded_stores_wait = runs;
  target.rereads_crowded_rows = false;
  target.by_turns_element_bytes = runs ? 2 : 8;
  target.row_streams = runs ? 4 : 1;
  target.asked_ahead_bytes = (runs ? 16 : 32) * 1024;
  target.follows_source_bytes = runs ? int64_t{1} << 60 : 0;
  target.images_long_runs = target.claims_streamed_lines = runs;
  target.claimed_permuted_run_bytes = runs ? 0 : 1024;
  target.joins_cut_elements = target.images_rows_with_rests = target.repeats_large_blocks = runs;
  target.joins_whole_lines = runs;
  target.wide_image_run_bytes = runs ? 256 : std::numeric_limits<int64_t>::max();
  target.run_along_source_bytes = runs ? 512 : 0;
  target.shifted_touching_image_bytes = std::numeric_limits<int64_t>::max();
  target.whole_line_image_bytes = runs ? 1024 : 0;
  target.piece_element_bytes = runs ? 4 : std::numeric_limits<int64_t>::max();
  target.shifted_touching_run_bytes = runs ? 512 : std::numeric_limits<int64_t>::max();
  target.shifted_box_bytes =
      setup.shifts_boxes || target.name == "avx512" ? 128 : std::numeric_limits<int64_t>::max();
  if (holds_nothing) target.l1_bytes = target.l2_bytes = target.l3_bytes = 0;
  if (setup.caches == Caches::leave_l1) target.l1_bytes = 0;
  target.walks_along_source = setup.caches == Caches::crowd_l1;
  target.wide_network_bytes = std::numeric_limits<int64_t>::max();
  if (setup.caches == Caches::crowd_l1) {
    target.l1_bytes = 2 * target.page_bytes;
    target.wide_network_bytes = 0;
  }
  return target;
}

Target streaming_target() {
  const std::span<const Target> known = known_targets();
  Target target = *std::find_if(known.begin(), known.end(), [](const Target& candidate) {
    return candidate.name == "avx512_vbmi";
  });
  stream_beyond(target, int64_t{1} << 20);
  target.far_imaging_bytes = std::numeric_limits<int64_t>::max();
  target.streamed_column_bytes = target.streamed_digits_bytes = 512;
  target.touching_rows_run_bytes = 0;
  target.rereads_crowded_rows = false;
  target.by_turns_element_bytes = 8;
  target.row_streams = 1;
  target.asked_ahead_bytes = 32 * 1024;
  target.follows_source_bytes = 0;
  target.images_long_runs = target.claims_streamed_lines = false;
  target.claimed_permuted_run_bytes = 1024;
  target.joins_cut_elements = target.images_rows_with_rests = target.repeats_large_blocks = false;
  target.run_along_source_bytes = 0;
  target.joins_whole_lines = false;
  target.permuted_row_bytes = 0;
  target.transposed_column_bytes = std::numeric_limits<int64_t>::max();
  target.wide_image_run_bytes = std::numeric_limits<int64_t>::max();
  target.shifts_mixed_rows = target.shifts_computed_rows = target.computes_first = false;
  return target;
}

Target target_of_long_runs() {
  Target target = streaming_target();
  target.long_run_bytes = 256;
  target.page_element_bytes = 16;
  return target;
}

std::vector<Setup> setups() {
  std::vector<Setup> result;
  for (const Target& target : known_targets()) {
    result.push_back({target.name, Caches::hold_everything});
    if (target.nontemporal) result.push_back({target.name, Caches::hold_nothing});
  }
  return result;
}

std::vector<Setup> streaming_setups() {
  std::vector<Setup> result = setups();
  std::erase_if(result, [](const Setup& setup) { return setup.caches != Caches::hold_nothing; });
  return result;
}

std::string name_of(const Setup& setup) {
  return setup.target + (setup.caches == Caches::hold_nothing ? "_streamed" : "_cached");
}

Report run_in(const Setup& setup, const std::string& text) {
  return run_for(target_of(setup), text);
}

Report run_for(const Target& target, const std::string& text) {
  static int64_t number = 0;
  ++number;
  const Result<Problem> problem = parse_problem(text);
  if (!problem) return {Outcome::failed, text + ": " + problem.error().message};
  const PreparedCase prepared(*problem, 1);
  const Programs planned = plan_directly(prepared, target);
  if (planned.report.outcome != Outcome::passed) return planned.report;
  for (const Program& program : planned.programs) {
    // Rows that begin further behind a line than a header are as those behind one, but for numbers.
    constexpr int64_t header = 16, share = 4;
    if (program.operands[0].phase > header && number % share != 0) continue;
    for (const Backend* backend : backends()) {
      if (backend->name() != "interpreter" && !runs_here(target)) continue;
      if (!takes_part(*backend, number, 17)) continue;
      if (backend->name() == "xbyak" && !xbyak_translates(*problem, target)) continue;
      Report report = run_program(prepared, program, *backend, target);
      if (report.outcome != Outcome::passed) return report;
    }
  }
  return {};
}

std::string array(const char* type, const std::vector<int>& dimensions) {
  std::string text = std::string(type) + '[';
  for (size_t k = 0; k < dimensions.size(); ++k) {
    text += (k > 0 ? "," : "") + std::to_string(dimensions[k]);
  }
  return text + ']';
}

}  // namespace restride::testing
