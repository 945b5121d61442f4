// What the machine makes of code that is written through one view of memory and run through
// another.
#pragma once

#include <cstdint>

namespace restride {

/// Writes code through `write`, runs it through `execute`, writes other code over it, and runs
/// that. Whether the second run saw the second code; on architectures of no backend nothing is run,
/// and the answer is yes. Precondition: two views of the same page.
///
/// Machines do. Emulators that translate code may not look for changes in a view that nobody wrote
/// to: QEMU in user mode before 8.1 runs what it translated first.
bool sees_rewritten_code(uint8_t* write, uint8_t* execute);

}  // namespace restride
