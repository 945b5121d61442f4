// A process whose LLVM component is missing or of another build. Every check runs in a child: a
// process looks for the component once.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "llvm_backend.hpp"
#include "llvm_component.hpp"
#include "restride/plan.hpp"
#include "support/child_process.hpp"

namespace restride {
namespace {

using testing::in_child;

const Problem& transpose() {
  static const Problem problem = *parse_problem("f32[7,9] -> f32[7,9]{0,1}");
  return problem;
}

/// What a child with this RESTRIDE_LLVM_COMPONENT says: 0 where llvm is `unsupported` with a reason
/// that holds `reason`, and a plan is made by another backend all the same.
int refusal(const std::string& component, const std::string& reason) {
  return in_child([&] {
    setenv("RESTRIDE_LLVM_COMPONENT", component.c_str(), 1);
    const Result<Plan> forced = Plan::create(transpose(), {.backend = BackendChoice::llvm});
    if (forced || forced.error().code != ErrorCode::unsupported) return 1;
    if (forced.error().message.find(reason) == std::string::npos) return 2;
    const Result<Plan> chosen = Plan::create(transpose());
    return chosen && chosen->backend() != "llvm" ? 0 : 3;
  });
}

TEST(LlvmMissing, IsUnsupportedAndNamesTheFile) {
  EXPECT_EQ(refusal("/nowhere/restride_llvm.so", "/nowhere/restride_llvm.so"), 0);
}

TEST(LlvmMissing, AFileThatIsNoSharedObjectIsRefused) {
  const std::string path = ::testing::TempDir() + "no_component_" + std::to_string(getpid());
  std::ofstream(path) << "not a shared object";
  EXPECT_EQ(refusal(path, path), 0);
  std::filesystem::remove(path);
}

TEST(LlvmMissing, ASharedObjectWithoutTheStampIsOfAnotherBuild) {
  EXPECT_EQ(refusal("libm.so.6", "another build"), 0);
}

TEST(LlvmMissing, MovesNeedNoComponentAndDoNotLoadIt) {
  if (backends().front()->name() == "llvm") GTEST_SKIP() << "nothing comes before it here";
  EXPECT_EQ(in_child([] {
              const Result<Plan> plan = Plan::create(transpose());
              if (!plan || plan->backend() == "llvm") return 1;
              return dlopen("libLLVM.so.22.1", RTLD_NOLOAD | RTLD_LAZY) == nullptr ? 0 : 2;
            }),
            0);
}

TEST(LlvmMissing, IsFoundWithoutBeingTold) {
  EXPECT_EQ(in_child([] {
              unsetenv("RESTRIDE_LLVM_COMPONENT");
              return llvm_component() ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace restride
