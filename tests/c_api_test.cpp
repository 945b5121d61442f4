// The C interface: NULL everywhere, structs of other sizes, plans as text.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "restride/restride.h"
#include "support/c_api_calls.hpp"

extern "C" int c_api_from_c(void);

namespace {

using restride::testing::Answer;
using restride::testing::array_of;
using restride::testing::ask;
using restride::testing::OwnedPlan;
using restride::testing::plan_of;

constexpr const char* transpose = "f32[2,3] -> f32[2,3]{0,1}";

TEST(CApi, WorksFromC) { EXPECT_EQ(c_api_from_c(), 0); }

TEST(CApi, NamesEveryNullThatIsNotAllowed) {
  const OwnedPlan plan = plan_of(transpose);
  restride_plan* out = nullptr;
  char bytes24[24], other24[24];
  const restride_array array = array_of({});
  const restride_executor empty = {sizeof empty, nullptr, nullptr, nullptr};
  struct Row {
    const char* name;
    std::function<restride_status(char*, size_t)> call;
  };
  for (const Row& row : std::vector<Row>{
           {"problem",
            [&](char*m, size_t n) { return restride_plan_create(nullptr, nullptr, &out, m, n); }},
           {"out",
            [&](char*m, size_t n) {
              return restride_plan_create(transpose, nullptr, nullptr, m, n);
            }},
           {"source",
            [&](char*m, size_t n) {
              return restride_plan_create_from_arrays(nullptr, &array, nullptr, &out, m, n);
            }},
           {"target",
            [&](char*m, size_t n) {
              return restride_plan_create_from_arrays(&array, nullptr, nullptr, &out, m, n);
            }},
           {"out", [&](char*m, size_t n) { return restride_cache_create(nullptr, nullptr, m, n); }},
           {"out", [&](char*m,
                       size_t n) { return restride_cache_get_statistics(nullptr, nullptr, m, n); }},
           {"plan",
            [&](char*m, size_t n) { return restride_plan_get_info(nullptr, nullptr, m, n); }},
           {"out", [&](char*m, size_t n) { return restride_plan_get_info(plan, nullptr, m, n); }},
           {"plan",
            [&](char*m, size_t n) {
              return restride_plan_execute(nullptr, bytes24, 24, other24, 24, nullptr, m, n);
            }},
           {"source",
            [&](char*m, size_t n) {
              return restride_plan_execute(plan, nullptr, 24, other24, 24, nullptr, m, n);
            }},
           {"target",
            [&](char*m, size_t n) {
              return restride_plan_execute(plan, bytes24, 24, nullptr, 24, nullptr, m, n);
            }},
           {"executor.concurrency",
            [&](char*m, size_t n) {
              return restride_plan_execute(plan, bytes24, 24, other24, 24, &empty, m, n);
            }},
           {"plan",
            [&](char*m, size_t n) {
              return restride_plan_execute_dlpack(nullptr, nullptr, nullptr, nullptr, m, n);
            }},
       }) {
    const Answer answer = ask(row.call);
    EXPECT_EQ(answer.status, RESTRIDE_INVALID_ARGUMENT) << row.name;
    EXPECT_EQ(answer.message, std::string(row.name) + " = NULL: must not be");
    EXPECT_EQ(row.call(nullptr, 0), RESTRIDE_INVALID_ARGUMENT);  // nobody listens
    EXPECT_EQ(row.call(nullptr, 100), RESTRIDE_INVALID_ARGUMENT);
  }
  restride_plan_destroy(nullptr);
  restride_cache_destroy(nullptr);
}

TEST(CApi, CutsMessagesToTheRoomGiven) {
  restride_plan* plan = nullptr;
  char message[9] = "xxxxxxxx";
  EXPECT_EQ(restride_plan_create(nullptr, nullptr, &plan, message, 8), RESTRIDE_INVALID_ARGUMENT);
  EXPECT_STREQ(message, "problem");
  message[0] = 'y';
  EXPECT_EQ(restride_plan_create(nullptr, nullptr, &plan, message, 0), RESTRIDE_INVALID_ARGUMENT);
  EXPECT_EQ(message[0], 'y');
}

TEST(CApi, LeavesNoPlanOnFailure) {
  int nothing;
  restride_plan* plan = reinterpret_cast<restride_plan*>(&nothing);
  EXPECT_EQ(restride_plan_create("f32[2", nullptr, &plan, nullptr, 0), RESTRIDE_INVALID_ARGUMENT);
  EXPECT_EQ(plan, nullptr);
}

TEST(CApi, TakesStructsOfOtherVersions) {
  const auto status = [](const void* options) {
    restride_plan* plan = nullptr;
    const restride_status result = restride_plan_create(
        transpose, static_cast<const restride_plan_options*>(options), &plan, nullptr, 0);
    restride_plan_destroy(plan);
    return result;
  };
  struct Newer {
    restride_plan_options known;
    int64_t unknown;
  };
  restride_plan_options options = {};
  options.struct_size = offsetof(restride_plan_options, target);
  options.target = "not read";
  EXPECT_EQ(status(&options), RESTRIDE_OK);
  Newer newer = {{sizeof(Newer), 0, nullptr, nullptr}, 0};
  EXPECT_EQ(status(&newer), RESTRIDE_OK);
  newer.unknown = 1;
  EXPECT_EQ(status(&newer), RESTRIDE_UNSUPPORTED);
  for (const size_t size : {size_t{0}, size_t{7}, SIZE_MAX}) {
    options = {size, 0, nullptr, nullptr};
    EXPECT_EQ(status(&options), RESTRIDE_INVALID_ARGUMENT) << size;
  }
}

TEST(CApi, FillsStructsOfOtherVersions) {
  const OwnedPlan plan = plan_of(transpose);
  restride_plan_info info;
  std::memset(&info, 0x55, sizeof info);
  info.struct_size = offsetof(restride_plan_info, unit_count);
  const int64_t before = info.unit_count;
  EXPECT_EQ(restride_plan_get_info(plan, &info, nullptr, 0), RESTRIDE_OK);
  EXPECT_EQ(info.target_bytes, 24);
  EXPECT_EQ(info.unit_count, before);
  struct Newer {
    restride_plan_info known;
    int64_t unknown;
  } newer;
  newer.known.struct_size = sizeof newer;
  newer.unknown = 9;
  EXPECT_EQ(restride_plan_get_info(plan, &newer.known, nullptr, 0), RESTRIDE_OK);
  EXPECT_EQ(newer.known.struct_size, sizeof newer);
  EXPECT_EQ(newer.unknown, 0);
}

TEST(CApi, RefusesOptionsOutOfRange) {
  for (const int backend : {-1, 4, 1 << 30}) {
    restride_plan_options options = {sizeof options, backend, nullptr, nullptr};
    restride_plan* plan = nullptr;
    const Answer answer = ask([&](char* message, size_t bytes) {
      return restride_plan_create(transpose, &options, &plan, message, bytes);
    });
    EXPECT_EQ(answer.status, RESTRIDE_INVALID_ARGUMENT);
    EXPECT_EQ(answer.message, "options.backend = " + std::to_string(backend) + ": must be 0..3");
  }
}

TEST(CApi, ReportsWrongSizes) {
  const OwnedPlan plan = plan_of(transpose);
  char source[24], target[24];
  const Answer answer = ask([&](char* message, size_t bytes) {
    return restride_plan_execute(plan, source, 12, target, 24, nullptr, message, bytes);
  });
  EXPECT_EQ(answer.status, RESTRIDE_INVALID_ARGUMENT);
  EXPECT_EQ(answer.message, "source is 12 bytes, the plan's source buffer has 24");
}

TEST(CApi, RunsAPlanWithTwoSources) {
  const OwnedPlan plan = plan_of("add(f32[2,3], f32[3] dims={1}) -> f32[2,3]");
  restride_plan_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(restride_plan_get_info(plan, &info, nullptr, 0), RESTRIDE_OK);
  EXPECT_EQ(info.source_count, 2);
  EXPECT_EQ(restride_plan_source_bytes(plan, 0), 24);
  EXPECT_EQ(restride_plan_source_bytes(plan, 1), 12);
  EXPECT_EQ(restride_plan_source_bytes(plan, 2), 0);
  const std::vector<float> matrix = {1, 2, 3, 4, 5, 6}, row = {7, 8, 9};
  std::vector<float> sum(6);
  const restride_source sources[] = {{matrix.data(), 24}, {row.data(), 12}};
  const auto execute = [&](const restride_source* from, int64_t count) {
    return ask([&](char* message, size_t bytes) {
      return restride_plan_execute_sources(plan, from, count, sum.data(), 24, nullptr, message,
                                           bytes);
    });
  };
  EXPECT_EQ(execute(sources, 2).message, "");
  EXPECT_EQ(sum, (std::vector<float>{8, 10, 12, 11, 13, 15}));
  EXPECT_EQ(execute(sources, 1).message, "source_count = 1: the plan takes 2");
  EXPECT_EQ(execute(nullptr, 2).message, "sources = NULL: must not be");
  const restride_source missing[] = {{matrix.data(), 24}, {nullptr, 12}};
  EXPECT_EQ(execute(missing, 2).message, "sources[1].data = NULL: must not be");
  const restride_source narrow[] = {{matrix.data(), 24}, {row.data(), 8}};
  EXPECT_EQ(execute(narrow, 2).message,
            "sources[1] is 8 bytes, the plan's sources[1] buffer has 12");
  EXPECT_EQ(ask([&](char* message, size_t bytes) {
              return restride_plan_execute(plan, matrix.data(), 24, sum.data(), 24, nullptr,
                                           message, bytes);
            }).message,
            "sources has 1 entries, the plan takes 2");
}

}  // namespace
