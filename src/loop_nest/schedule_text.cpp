// Schedules as text.
#include "loop_nest/schedule.hpp"

namespace restride {

std::string to_string(Movement movement) {
  switch (movement) {
    case Movement::row:
      return "row";
    case Movement::splat:
      return "splat";
    case Movement::permute:
      return "permute";
    case Movement::transpose:
      return "transpose";
    case Movement::repeat:
      return "repeat";
    case Movement::gather:
      return "gather";
    case Movement::compute:
      return "compute";
    case Movement::mix:
      return "mix";
  }
  return "";
}

namespace {

std::string to_string(const Peel& peel) {
  if (peel.axis < 0) return "";
  return ", apart the first " + std::to_string(peel.first) + " and the last " +
         std::to_string(peel.last) + " elements of axis " + std::to_string(peel.axis) +
         (peel.ring ? ", together" : "") +
         (peel.next < 0 ? "" : ", spliced along axis " + std::to_string(peel.next)) +
         (peel.apart == 1 ? "" : " but for the last " + std::to_string(peel.apart)) +
         (peel.slower < 0 ? "" : " behind axis " + std::to_string(peel.slower));
}

}  // namespace

std::string to_string(const Schedule& schedule) {
  std::string text =
      to_string(schedule.movement) + ", the innermost " + std::to_string(schedule.tile_loops) +
      " loops are tiles" +
      (schedule.window_loop < 0 ? ""
                                : ", loop " + std::to_string(schedule.window_loop) +
                                      " in windows of " + std::to_string(schedule.window)) +
      (schedule.nontemporal ? ", non-temporal stores" : "") +
      (schedule.stores_runs ? ", runs by one operation each" : "") +
      (schedule.lane_rows ? ", rows lane by lane" : "") +
      (schedule.wide_panels ? ", by way of panels of lines" : "") +
      (schedule.strips_rows ? ", rows by way of strips" : "") +
      (schedule.staging == Staging::panels_of_gathered_rows ? ", by way of rows in scratch" : "") +
      (schedule.staging == Staging::shifted_panels ? ", rows that touch shifted" : "") +
      (schedule.staging == Staging::images ? ", by way of images" : "") +
      to_string(schedule.peels[0]) + to_string(schedule.peels[1]) +
      (schedule.claimed_ahead != 0 ? ", lines asked for before they are written" : "") + '\n';
  return text + to_string(schedule.space);
}

}  // namespace restride
