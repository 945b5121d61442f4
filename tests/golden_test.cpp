// Every stage of some problems as text, against files that people have read: tests/golden/*.txt.
// The first line of a file is `target: problem`. With RESTRIDE_UPDATE_GOLDEN=1 the files are
// written anew instead; read the difference before it is committed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "loop_nest/loop_nest.hpp"
#include "plan/planner.hpp"
#include "program/program.hpp"
#include "schedule/scheduling.hpp"
#include "space/iteration_space.hpp"
#include "target/target.hpp"

namespace restride {
namespace {

/// A target as it is known, not with the caches of the machine that runs the test.
const Target* known_target(const std::string& name) {
  for (const Target& target : known_targets()) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

std::string stages(const std::string& target_name, const std::string& text) {
  const Target* target = known_target(target_name);
  const Result<Problem> problem = parse_problem(text);
  if (target == nullptr || !problem) return "no such target or problem";
  Result<IterationSpace> space = iteration_space(*problem);
  if (!space) return space.error().message;
  std::string result = target_name + ": " + text + "\n\n-- space\n" + to_string(*space);
  simplify(*space);
  result += "\n-- simplified\n" + to_string(*space) + "\n-- signature\n" + signature(*space) + '\n';
  const Schedule scheduled = schedule(*space, *target);
  result += "\n-- schedule\n" + to_string(scheduled);
  result += "\n-- nest\n" + to_string(lower(scheduled));
  result += "\n-- program\n" + to_string(plan_programs(*space, *target).back());
  return result;
}

std::vector<std::string> golden_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(RESTRIDE_GOLDEN_FOLDER)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path().stem().string());
  }
  return files;
}

class Golden : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Every, Golden, ::testing::ValuesIn(golden_files()),
                         [](const auto& info) { return info.param; });

TEST_P(Golden, StagesAreAsTheyWereRead) {
  const std::string path = std::string(RESTRIDE_GOLDEN_FOLDER) + "/" + GetParam() + ".txt";
  std::stringstream expected;
  expected << std::ifstream(path).rdbuf();
  const std::string head = expected.str().substr(0, expected.str().find('\n'));
  const size_t colon = head.find(": ");
  ASSERT_NE(colon, std::string::npos) << path << " begins with no `target: problem`";
  const std::string actual = stages(head.substr(0, colon), head.substr(colon + 2));
  if (std::getenv("RESTRIDE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << actual;
  } else {
    EXPECT_EQ(actual, expected.str());
  }
}

}  // namespace
}  // namespace restride
