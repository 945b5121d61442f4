// Kernels compiled ahead of time: what is refused, what the header says, and that a kernel
// described like this one runs. Emitted code itself runs in scripts/test_aarch64 and in the test of
// the command line.
#include "restride/object.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

#include "backend/backend.hpp"
#include "restride/plan.hpp"
#include "target/features.hpp"
#include "target/target.hpp"

namespace restride {
namespace {

/// Copies 8 bytes; stands for the code of an object.
void copy_8_bytes(const void*, void* const* operands, int64_t first, int64_t last) {
  if (first < last) std::memcpy(operands[0], operands[1], 8);
}

restride_object copy_object() {
  restride_object object{};
  std::memcpy(object.magic, RESTRIDE_OBJECT_MAGIC, sizeof object.magic);
  object.version = RESTRIDE_OBJECT_VERSION;
  object.required_features = host_features();
  object.unit_count = 1;
  object.operand_count = 2;
  object.operands[0] = {RESTRIDE_OPERAND_TARGET, 0, 8, 1};
  object.operands[1] = {RESTRIDE_OPERAND_SOURCE, 0, 8, 1};
  std::strcpy(object.target, "host");
  std::strcpy(object.signature, "copy of 8 bytes");
  object.entry = copy_8_bytes;
  return object;
}

TEST(LoadedObject, RunsLikeAnyPlan) {
  const Result<Plan> plan = Plan::load(copy_object());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->backend(), "object");
  EXPECT_EQ(plan->signature(), "copy of 8 bytes");
  EXPECT_EQ(plan->source_bytes(), 8);
  EXPECT_EQ(plan->target_bytes(), 8);
  std::byte from[8] = {std::byte{1}, std::byte{2}}, to[8] = {};
  EXPECT_TRUE(plan->execute(std::span<const std::byte>(from), std::span<std::byte>(to)));
  EXPECT_EQ(std::memcmp(from, to, 8), 0);
  EXPECT_FALSE(plan->execute(std::span<const std::byte>(from), std::span<std::byte>(to, 7)));
}

/// Writes where in its page the scratch begins.
void tell_scratch(const void*, void* const* operands, int64_t first, int64_t last) {
  const uint64_t place = reinterpret_cast<uintptr_t>(operands[2]) % 4096;
  if (first < last) std::memcpy(operands[0], &place, 8);
}

TEST(LoadedObject, GetsScratchThatBeginsWithAPage) {
  restride_object object = copy_object();
  object.operand_count = 3;
  object.operands[2] = {RESTRIDE_OPERAND_SCRATCH, 0, 100, 64};
  object.entry = tell_scratch;
  const Result<Plan> plan = Plan::load(object);
  ASSERT_TRUE(plan) << plan.error().message;
  // Calls at other depths of the stack.
  const std::function<void(int)> call = [&](int depth) {
    uint64_t from = 0, place = 1;
    plan->execute(&from, &place);
    EXPECT_EQ(place, 0U) << depth;
    if (depth > 0) call(depth - 1);
  };
  call(40);
}

TEST(LoadedObject, IsRefusedWithTheNamesOfTheFeaturesThatAreMissing) {
  restride_object object = copy_object();
  std::strcpy(object.target, "elsewhere");
  // One of the two is missing on any machine: registers have one length.
  object.required_features = feature::sve_128_bits | feature::sve_256_bits | Features{1} << 40;
  const Features missing = object.required_features & ~host_features();
  const Result<Plan> plan = Plan::load(object);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::unsupported);
  EXPECT_EQ(plan.error().message,
            "object: compiled for elsewhere: this machine lacks " + to_string_of_features(missing));
  EXPECT_NE(plan.error().message.find("bit 40"), std::string::npos);
}

TEST(LoadedObject, IsRefusedWhereItDescribesNothing) {
  struct Row {
    const char* named;
    std::function<void(restride_object&)> damage;
  };
  const Row rows[] = {
      {"magic", [](restride_object& o) { o.magic[7] = 'a'; }},
      {"version = 2", [](restride_object& o) { o.version = 2; }},
      {"entry", [](restride_object& o) { o.entry = nullptr; }},
      {"unit_count = 0", [](restride_object& o) { o.unit_count = 0; }},
      {"operand_count = 0", [](restride_object& o) { o.operand_count = 0; }},
      {"operand_count = 9", [](restride_object& o) { o.operand_count = 9; }},
      {"operands[0].role = 1", [](restride_object& o) { o.operands[0].role = 1; }},
      {"operands[1].role = 0", [](restride_object& o) { o.operands[1].role = 0; }},
      {"operands[1].role = 3", [](restride_object& o) { o.operands[1].role = 3; }},
      {"operands[1] = [9, 8)", [](restride_object& o) { o.operands[1].begin = 9; }},
      {"operands[1] = [0, ", [](restride_object& o) { o.operands[1].end = INT64_MAX; }},
      {"operands[1].alignment = 3", [](restride_object& o) { o.operands[1].alignment = 3; }},
      {"aligned pointers", [](restride_object& o) { o.operands[1].alignment = 16; }},
      {"scratch of", [](restride_object& o) {
         o.operand_count = 3;
         o.operands[2] = {RESTRIDE_OPERAND_SCRATCH, 0, 1 << 20, 64};
       }}};
  for (const Row& row : rows) {
    restride_object object = copy_object();
    row.damage(object);
    const Result<Plan> plan = Plan::load(object);
    ASSERT_FALSE(plan) << row.named;
    EXPECT_NE(plan.error().message.find(row.named), std::string::npos) << plan.error().message;
  }
}

TEST(EmittedObject, IsRefusedForBadRequests) {
  const Problem problem = *parse_problem("f32[2,3] -> f32[2,3]{0,1}");
  const auto message = [&](const Problem& of, const ObjectOptions& options) {
    const Result<Object> object = emit_object(of, options);
    return object ? "" : object.error().message;
  };
  EXPECT_EQ(message(problem, {"z80"}),
            "target = 'z80': must be one of host, sse2, avx2, avx512, avx512_vbmi, neon, sve128, "
            "sve256");
  for (const char* symbol : {"", "7up", "a b", "a\"b", "a.b"}) {
    EXPECT_NE(message(problem, {"neon", symbol}).find("identifier of C"), std::string::npos);
  }
  EXPECT_EQ(message(*parse_problem("f32[0] -> f32[0]"), {"neon"}), "the problem writes nothing");
}

bool writes_objects() {
  for (const Backend* backend : backends()) {
    if (backend->name() == "llvm") return true;
  }
  return false;
}

TEST(EmittedObject, NamesWhatIsMissingWhereNoBackendWritesObjects) {
  if (writes_objects()) GTEST_SKIP() << "this build has LLVM";
  const Result<Object> object = emit_object(*parse_problem("f32[2] -> f32[2]"), {"neon"});
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().code, ErrorCode::unsupported);
  EXPECT_NE(object.error().message.find("writes no objects"), std::string::npos);
}

TEST(EmittedObject, ComesForEveryTargetWithItsHeader) {
  if (!writes_objects()) GTEST_SKIP() << "this build has no LLVM";
  const Problem problem = *parse_problem("f32[64,20] -> f32[64,20]{0,1:PAD(64,32;zero)}");
  for (const Target& target : known_targets()) {
    const Result<Object> object = emit_object(problem, {target.name, "kernel"});
    ASSERT_TRUE(object) << target.name << ": " << object.error().message;
    const std::string start(object->bytes.begin(), object->bytes.begin() + 4);
    EXPECT_EQ(start,
              "\x7f"
              "ELF");
    EXPECT_EQ(object->required_features, to_string_of_features(required_features(target)));
    for (const std::string& line :
         {"Required features: " + object->required_features,
          "#define KERNEL_REQUIRED_FEATURES \"" + object->required_features + "\"",
          std::string("operands[0]  target, written: bytes [0, 8192)"),
          std::string("operands[1]  source, read: bytes [0, 5120)"),
          std::string("void kernel(const void* code, void* const* operands,"),
          std::string("extern const struct restride_object kernel_object;")}) {
      EXPECT_NE(object->header.find(line), std::string::npos) << line << "\n" << object->header;
    }
  }
}

}  // namespace
}  // namespace restride
