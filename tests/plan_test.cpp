// Plan: choosing backend and target, checking buffers, and running with any pointers without
// allocating.
#include "restride/plan.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <cstring>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "restride/thread_pool.hpp"
#include "support/allocation_counter.hpp"
#include "support/forced_backend.hpp"
#include "support/planned.hpp"
#include "target/target.hpp"

namespace restride {
namespace {

using testing::allocations;
using testing::error_of;
using testing::ForcedBackend;
using testing::parsed;
using testing::planned;

PlanOptions on(BackendChoice backend) {
  PlanOptions options;
  options.backend = backend;
  return options;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

bool has_backend(std::string_view name) {
  for (const Backend* backend : backends()) {
    if (backend->name() == name) return true;
  }
  return false;
}

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

template <class T>
std::span<std::byte> bytes_of(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

constexpr const char* transpose = "f32[2,3] -> f32[2,3]{0,1}";

TEST(Plan, MovesTheExampleOfTheSpecificationOnEveryBackend) {
  // a b c / d e f, padded to 3 x 5 and column-major: a d 0 b e 0 c f 0 and zeros.
  const std::vector<float> source = {1, 2, 3, 4, 5, 6};
  const std::vector<float> expected = {1, 4, 0, 2, 5, 0, 3, 6, 0, 0, 0, 0, 0, 0, 0};
  for (const Backend* backend : backends()) {
    const BackendChoice choice = *parse_backend(backend->name());
    const Plan plan = planned("f32[2,3] -> f32[2,3]{0,1:PAD(3,5;zero)}", on(choice));
    EXPECT_EQ(plan.backend(), backend->name());
    EXPECT_EQ(plan.source_bytes(), 24);
    EXPECT_EQ(plan.target_bytes(), 60);
    std::vector<float> target(15, -1.0f);
    plan.execute(source.data(), target.data());
    EXPECT_EQ(target, expected) << backend->name();
  }
}

TEST(Plan, AddsTheExampleOfTheSpecification) {
  // [1,2,3,4] + [[5,6]] = [[6,7],[7,8],[8,9],[9,10]]
  const std::vector<float> column = {1, 2, 3, 4}, row = {5, 6};
  const Plan plan = planned("add(f32[4] dims={0}, f32[1,2]) -> f32[4,2]");
  EXPECT_EQ(plan.source_count(), 2);
  EXPECT_EQ(plan.source_bytes(0), 16);
  EXPECT_EQ(plan.source_bytes(1), 8);
  EXPECT_EQ(plan.source_bytes(2), 0);
  std::vector<float> target(8);
  const std::span<const std::byte> sources[] = {bytes_of(column), bytes_of(row)};
  EXPECT_TRUE(plan.execute_sources(sources, bytes_of(target)));
  EXPECT_EQ(target, (std::vector<float>{6, 7, 7, 8, 8, 9, 9, 10}));
}

TEST(Plan, NamesTheSourceThatIsWrong) {
  const Plan plan = planned("add(f32[2,3], f32[3] dims={1}) -> f32[2,3]");
  std::vector<float> matrix(6), row(3), target(6, 5.0f);
  using Spans = std::vector<std::span<const std::byte>>;
  const auto message = [&](const Spans& sources) {
    const Result<void> done = plan.execute_sources(sources, bytes_of(target));
    return done ? std::string("done") : done.error().message;
  };
  EXPECT_EQ(message({bytes_of(matrix)}), "sources has 1 entries, the plan takes 2");
  EXPECT_EQ(message({bytes_of(matrix), bytes_of(matrix)}),
            "sources[1] is 24 bytes, the plan's sources[1] buffer has 12");
  EXPECT_EQ(message({bytes_of(target), bytes_of(row)}), "sources[0] and target overlap");
  // The unchecked form has no way to say so: it leaves everything alone.
  plan.execute(matrix.data(), target.data());
  EXPECT_EQ(target, std::vector<float>(6, 5.0f));
}

TEST(Plan, ComputesTheSameInEveryFloatingPointMode) {
  // A denormal doubled, and a quotient that other roundings round otherwise.
  const std::vector<float> a = {0x1p-140f, 1}, b = {2, 3};
  const std::vector<float> product = {0x1p-139f, 3}, quotient = {0x1p-141f, 1.0f / 3};
  for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    const void* const sources[] = {a.data(), b.data()};
    std::vector<float> products(2), quotients(2);
    const Plan multiply = planned("multiply(f32[2], f32[2]) -> f32[2]");
    const Plan divide = planned("divide(f32[2], f32[2]) -> f32[2]");
    std::fesetround(rounding);
#if defined(__SSE2__)
    constexpr unsigned flush_denormals = 0x8040;
    const unsigned before = _mm_getcsr() | flush_denormals;
    _mm_setcsr(before);
#endif
    multiply.execute_sources(sources, products.data());
    divide.execute_sources(sources, quotients.data());
#if defined(__SSE2__)
    EXPECT_EQ(_mm_getcsr(), before);
    _mm_setcsr(before & ~flush_denormals);
#endif
    EXPECT_EQ(std::fegetround(), rounding);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(products, product) << rounding;
    EXPECT_EQ(quotients, quotient) << rounding;
  }
}

TEST(Plan, BringsTheNumbersOfAnAffineConversionAlong) {
  // Two plans with one signature keep their own numbers.
  const Plan halves = planned("convert(u8[4]) -> f32[4] scale={0.5}");
  const Plan thirds = planned("convert(u8[4]) -> f32[4] scale={3}");
  EXPECT_EQ(halves.signature(), thirds.signature());
  const std::vector<uint8_t> source = {1, 2, 3, 255};
  std::vector<float> half(4), triple(4);
  halves.execute(source.data(), half.data());
  thirds.execute(source.data(), triple.data());
  EXPECT_EQ(half, (std::vector<float>{0.5, 1, 1.5, 127.5}));
  EXPECT_EQ(triple, (std::vector<float>{3, 6, 9, 765}));
}

TEST(Plan, RefusesSpansOfTheWrongSize) {
  const Plan plan = planned(transpose);
  std::vector<float> source(6), target(6), small(3), large(7);
  const Result<void> short_source = plan.execute(bytes_of(small), bytes_of(target));
  ASSERT_FALSE(short_source);
  EXPECT_EQ(short_source.error(), (Error{ErrorCode::invalid_argument,
                                         "source is 12 bytes, the plan's source buffer has 24"}));
  const Result<void> long_target = plan.execute(bytes_of(source), bytes_of(large));
  ASSERT_FALSE(long_target);
  EXPECT_EQ(long_target.error().message, "target is 28 bytes, the plan's target buffer has 24");
  EXPECT_TRUE(plan.execute(bytes_of(source), bytes_of(target)));
}

TEST(Plan, RefusesSpansThatOverlap) {
  const Plan plan = planned(transpose);
  std::vector<float> both = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const std::vector<float> before = both;
  const std::span<std::byte> bytes = bytes_of(both);
  for (const size_t offset : {0, 1, 23}) {
    const Result<void> run = plan.execute(bytes.subspan(0, 24), bytes.subspan(offset, 24));
    ASSERT_FALSE(run) << offset;
    EXPECT_EQ(run.error().message, "source and target overlap");
    EXPECT_FALSE(plan.execute(bytes.subspan(offset, 24), bytes.subspan(0, 24)));
  }
  EXPECT_EQ(both, before);
  EXPECT_TRUE(plan.execute(bytes.subspan(0, 24), bytes.subspan(24, 24)));
}

TEST(Plan, DoesNothingWhereThereIsNothingToDo) {
  for (const char* text :
       {"f32[0,3] -> f32[0,3]{0,1}", "f32[2,0] -> f32[2,0]", "f32[0] -> f32[0,5] dims={0}"}) {
    const Plan plan = planned(text);
    EXPECT_EQ(plan.target_bytes(), 0) << text;
    plan.execute(nullptr, nullptr);
    ThreadPool pool(2);
    plan.execute(nullptr, nullptr, pool);
    EXPECT_TRUE(plan.execute(std::span<const std::byte>(), std::span<std::byte>())) << text;
  }
}

TEST(Plan, LeavesATargetOfUnknownPaddingAlone) {
  const Plan plan = planned("f32[0,3] -> f32[0,3]{1,0:PAD(2,3;unknown)}");
  std::vector<float> target(6, 7.0f);
  plan.execute(nullptr, target.data());
  EXPECT_EQ(target, std::vector<float>(6, 7.0f));
}

TEST(Plan, FillsATargetWithoutElements) {
  const Plan plan = planned("f32[0,3] -> f32[0,3]{1,0:PAD(2,3;one)}");
  std::vector<float> target(6, 7.0f);
  plan.execute(nullptr, target.data());
  EXPECT_EQ(target, std::vector<float>(6, 1.0f));
}

TEST(Plan, ReadsBackwardsThroughNegativeStrides) {
  Problem problem = parsed("s32[2,3] -> s32[2,3]");
  problem.sources[0].byte_strides = {-16, 4};  // rows from the last one, 16 bytes apart
  const Result<Plan> plan = Plan::create(problem);
  ASSERT_TRUE(plan) << plan.error().message;
  const std::vector<int> source = {1, 2, 3, -1, 4, 5, 6};
  std::vector<int> target(6);
  EXPECT_EQ(plan->source_bytes(), 28);
  ASSERT_TRUE(plan->execute(bytes_of(source), bytes_of(target)));
  EXPECT_EQ(target, (std::vector<int>{4, 5, 6, 1, 2, 3}));
  plan->execute(source.data() + 4, target.data());  // the address of index 0
  EXPECT_EQ(target, (std::vector<int>{4, 5, 6, 1, 2, 3}));
}

TEST(Plan, ReportsWhatValidateSays) {
  Problem problem = parsed(transpose);
  problem.target.layout.minor_to_major = {0, 5};
  const Result<Plan> plan = Plan::create(problem);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error(), validate(problem).error());
}

TEST(Plan, RefusesTargetsThatAreUnknownOrDoNotRunHere) {
  PlanOptions options;
  options.target = "sse3000";
  EXPECT_EQ(error_of(transpose, options).code, ErrorCode::invalid_argument);
  for (const Target& target : known_targets()) {
    options.target = target.name;
    if (runs_here(target)) {
      EXPECT_EQ(planned(transpose, options).target(), target.name);
    } else {
      EXPECT_EQ(error_of(transpose, options).code, ErrorCode::unsupported) << target.name;
    }
  }
  options.target = "host";
  EXPECT_EQ(planned(transpose, options).target(), host_target().name);
  EXPECT_EQ(planned(transpose).target(), host_target().name);
}

TEST(Plan, NamesBackends) {
  for (const BackendChoice choice : {BackendChoice::automatic, BackendChoice::interpreter,
                                     BackendChoice::xbyak, BackendChoice::llvm}) {
    const Result<BackendChoice> again = parse_backend(to_string(choice));
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, choice);
  }
  const Result<BackendChoice> unknown = parse_backend("gcc");
  ASSERT_FALSE(unknown);
  for (const char* part : {"gcc", "automatic", "interpreter", "xbyak", "llvm"}) {
    EXPECT_TRUE(contains(unknown.error().message, part)) << unknown.error().message;
  }
}

TEST(Plan, ObeysTheEnvironmentWhereTheOptionIsAutomatic) {
  {
    const ForcedBackend forced("interpreter");
    EXPECT_EQ(planned(transpose).backend(), "interpreter");
  }
  for (const char* automatic : {"", "automatic", static_cast<const char*>(nullptr)}) {
    const ForcedBackend forced(automatic);
    EXPECT_EQ(planned(transpose).backend(), backends().front()->name());
  }
  const ForcedBackend forced("no such thing");
  const Error error = error_of(transpose);
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  for (const char* part : {"RESTRIDE_BACKEND", "no such thing", "interpreter", "xbyak", "llvm"}) {
    EXPECT_TRUE(contains(error.message, part)) << error.message;
  }
  EXPECT_EQ(planned(transpose, on(BackendChoice::interpreter)).backend(), "interpreter");
}

TEST(Plan, RefusesBackendsThatTheBuildLacks) {
  for (const char* name : {"xbyak", "llvm"}) {
    if (has_backend(name)) continue;
    const Error by_option = error_of(transpose, on(*parse_backend(name)));
    EXPECT_EQ(by_option.code, ErrorCode::unsupported);
    EXPECT_TRUE(contains(by_option.message, name)) << by_option.message;
    EXPECT_TRUE(contains(by_option.message, "interpreter")) << by_option.message;
    const ForcedBackend forced(name);
    EXPECT_EQ(error_of(transpose), by_option);
  }
}

TEST(Plan, GivesTheSameBytesForAnyAlignmentOfPointers) {
  constexpr size_t rows = 24, columns = 40, elements = rows * columns;
  const Plan plan = planned("u16[24,40] -> u16[24,40]{0,1}");
  std::vector<uint16_t> values(elements);
  for (size_t i = 0; i < elements; ++i) values[i] = static_cast<uint16_t>(i * 40503u);
  std::vector<uint16_t> expected(elements);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) expected[c * rows + r] = values[r * columns + c];
  }
  constexpr size_t bytes = elements * sizeof(uint16_t);
  alignas(64) static std::byte source[bytes + 64], target[bytes + 64];
  for (size_t misalignment = 0; misalignment < 64; ++misalignment) {
    for (const size_t other : {size_t{0}, misalignment, 63 - misalignment}) {
      std::memcpy(source + misalignment, values.data(), bytes);
      std::memset(target, 0xaa, sizeof target);
      plan.execute(source + misalignment, target + other);
      ASSERT_EQ(std::memcmp(target + other, expected.data(), bytes), 0)
          << misalignment << " and " << other;
      for (size_t i = 0; i < 64; ++i) {
        ASSERT_EQ(target[i < other ? i : bytes + i], std::byte{0xaa}) << i;
      }
    }
  }
}

TEST(Plan, StreamsLargeTargetsWhateverTheirAlignment) {
  // Large enough for programs that store around the caches, which fault at addresses that are not
  // aligned.
  constexpr size_t rows = 1024, columns = 1024, elements = rows * columns;
  const Plan plan = planned("f32[1024,1024] -> f32[1024,1024]{0,1}");
  std::vector<uint32_t> source(elements + 16), target(elements + 32);
  for (size_t i = 0; i < elements; ++i) source[i] = static_cast<uint32_t>(i);
  for (const size_t misalignment : {0, 1, 3, 8}) {
    std::fill(target.begin(), target.end(), ~0u);
    const size_t to_line = -(reinterpret_cast<uintptr_t>(target.data()) / 4) % 16;
    uint32_t* const begin = target.data() + to_line + misalignment % 8;
    plan.execute(source.data(), begin);
    size_t wrong = 0;
    for (size_t c = 0; c < columns; ++c) {
      for (size_t r = 0; r < rows; ++r) wrong += begin[c * rows + r] != r * columns + c;
    }
    EXPECT_EQ(wrong, 0u) << misalignment;
    EXPECT_EQ(begin[elements], ~0u);
  }
}

TEST(Plan, AllocatesNothingWhenRunOrFoundAgain) {
  const int64_t start = allocations();
  ::operator delete(::operator new(1));
  ASSERT_NE(allocations(), start) << "the counter does not count";

  KernelCache cache;
  PlanOptions options;
  options.cache = &cache;
  const Problem problem = parsed("f32[64,48] -> f32[64,48]{0,1:PAD(67,50;one)}");
  const Plan plan = *Plan::create(problem, options);
  std::vector<float> source(64 * 48), target(67 * 50);
  ThreadPool pool(3);

  const int64_t before = allocations();
  plan.execute(source.data(), target.data());
  plan.execute(source.data(), target.data(), pool);
  const bool checked = plan.execute(bytes_of(source), bytes_of(target)).has_value();
  const bool found = Plan::create(problem, options).has_value();
  EXPECT_EQ(allocations(), before);
  EXPECT_TRUE(checked && found);
}

}  // namespace
}  // namespace restride
