// Checks that change the process they run in: in a child.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace restride::testing {

/// Runs `check` in a child process; what it returns is the child's exit status.
template <class Check>
int in_child(Check check) {
  const pid_t child = fork();
  if (child == 0) _exit(check());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/// From here on the process gets EPERM for memfd_create and for any mapping that can be executed.
/// False where the system has no such filter.
bool deny_executable_memory();

}  // namespace restride::testing
