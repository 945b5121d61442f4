// A target that streams, of a processor that reads ahead of an instruction by the steps that it
// takes, and likes long runs.
#pragma once

#include "support/setups.hpp"

namespace restride::testing {

inline Target reading_ahead() {
  Target target = streaming_target();
  target.reads_ahead_by_step = true;
  target.long_run_bytes = 256;
  target.page_element_bytes = 16;
  target.uncut_run_bytes = 2048;
  target.asked_level = 1;
  target.network_piece_bytes = 32;
  target.dense_ring_bytes = 4;
  target.reads_ahead_of_masks = false;
  return target;
}

}  // namespace restride::testing
