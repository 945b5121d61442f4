// The C interface: tensors of DLPack, where its header is installed.
#include "restride/restride.h"

#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/c_api_calls.hpp"

namespace {

using restride::testing::Answer;
using restride::testing::ask;
using restride::testing::OwnedPlan;
using restride::testing::plan_of;

/// A tensor over memory that the test owns.
DLTensor tensor(void* data, std::vector<int64_t>& shape, int64_t* strides,
                DLDataType type = {kDLFloat, 32, 1}) {
  DLTensor result = {};
  result.data = data;
  result.device = {kDLCPU, 0};
  result.ndim = static_cast<int32_t>(shape.size());
  result.dtype = type;
  result.shape = shape.data();
  result.strides = strides;
  return result;
}

Answer create(const DLTensor& source, const DLTensor& target) {
  restride_plan* plan = nullptr;
  const Answer answer = ask([&](char* message, size_t bytes) {
    return restride_plan_create_from_dlpack(&source, &target, nullptr, &plan, message, bytes);
  });
  restride_plan_destroy(plan);
  return answer;
}

Answer execute(const restride_plan* plan, const DLTensor& source, const DLTensor& target) {
  return ask([&](char* message, size_t bytes) {
    return restride_plan_execute_dlpack(plan, &source, &target, nullptr, message, bytes);
  });
}

OwnedPlan plan_of(const DLTensor& source, const DLTensor& target) {
  return OwnedPlan([&](restride_plan** out, char* message, size_t bytes) {
    return restride_plan_create_from_dlpack(&source, &target, nullptr, out, message, bytes);
  });
}

TEST(CApiDlpack, CopiesBetweenViews) {
  std::vector<float> from = {0, 1, 2, 3, 4, 5, 6}, to(6);
  std::vector<int64_t> shape = {2, 3};
  std::vector<int64_t> column_major = {1, 2}, backwards = {-3, -1};
  DLTensor source = tensor(from.data(), shape, nullptr);
  source.byte_offset = 4;
  const DLTensor target = tensor(to.data(), shape, column_major.data());
  EXPECT_EQ(execute(plan_of(source, target), source, target).message, "");
  EXPECT_EQ(to, (std::vector<float>{1, 4, 2, 5, 3, 6}));

  source.strides = backwards.data();
  source.byte_offset = 24;
  EXPECT_EQ(execute(plan_of(source, target), source, target).message, "");
  EXPECT_EQ(to, (std::vector<float>{6, 3, 5, 2, 4, 1}));
}

TEST(CApiDlpack, RunsOnlyOnTensorsLikeThoseItWasMadeFor) {
  std::vector<float> from(6), to(6);
  std::vector<int64_t> shape = {2, 3}, other_shape = {3, 2}, compact = {3, 1}, strides = {1, 2};
  const DLTensor source = tensor(from.data(), shape, nullptr);
  const DLTensor target = tensor(to.data(), shape, nullptr);
  const OwnedPlan plan = plan_of(source, target);
  EXPECT_EQ(execute(plan, tensor(from.data(), shape, compact.data()), target).status, RESTRIDE_OK);
  for (const DLTensor& wrong :
       {tensor(to.data(), other_shape, nullptr), tensor(to.data(), shape, strides.data()),
        tensor(to.data(), shape, nullptr, {kDLInt, 32, 1})}) {
    EXPECT_EQ(execute(plan, source, wrong).status, RESTRIDE_INVALID_ARGUMENT);
  }
  EXPECT_EQ(execute(plan, tensor(nullptr, shape, nullptr), target).message,
            "source.data = NULL: must not be");
  EXPECT_EQ(execute(plan, source, source).message, "source and target overlap");
}

TEST(CApiDlpack, KnowsTheTypes) {
  struct Row {
    DLDataType type;
    restride_status status;
  };
  std::vector<int64_t> shape = {2};
  for (const Row& row : {
           Row{{kDLInt, 8, 1}, RESTRIDE_OK},
           Row{{kDLUInt, 64, 1}, RESTRIDE_OK},
           Row{{kDLFloat, 16, 1}, RESTRIDE_OK},
           Row{{kDLBfloat, 16, 1}, RESTRIDE_OK},
           Row{{kDLComplex, 128, 1}, RESTRIDE_OK},
           Row{{6, 8, 1}, RESTRIDE_OK},
           Row{{12, 8, 1}, RESTRIDE_OK},
           Row{{kDLInt, 4, 1}, RESTRIDE_UNSUPPORTED},
           Row{{kDLInt, 0, 1}, RESTRIDE_UNSUPPORTED},
           Row{{0, 0, 0}, RESTRIDE_UNSUPPORTED},
           Row{{kDLFloat, 128, 1}, RESTRIDE_UNSUPPORTED},
           Row{{6, 1, 1}, RESTRIDE_UNSUPPORTED},
           Row{{255, 8, 1}, RESTRIDE_UNSUPPORTED},
           Row{{kDLFloat, 32, 4}, RESTRIDE_UNSUPPORTED},
       }) {
    const DLTensor both = tensor(nullptr, shape, nullptr, row.type);
    EXPECT_EQ(create(both, both).status, row.status)
        << int{row.type.code} << ' ' << int{row.type.bits};
  }
}

TEST(CApiDlpack, RefusesTensorsItCannotRead) {
  std::vector<int64_t> shape = {2, 3}, negative = {2, -3}, huge = {INT64_MAX, 2},
                       far = {INT64_MAX, 1};
  const DLTensor good = tensor(nullptr, shape, nullptr);
  std::vector<DLTensor> bad(7, good);
  bad[0].device.device_type = kDLCUDA;
  bad[1].ndim = -1;
  bad[2].ndim = INT32_MAX;
  bad[3].shape = nullptr;
  bad[4].shape = negative.data();
  bad[5].shape = huge.data();
  bad[6].strides = far.data();
  for (size_t i = 0; i < bad.size(); ++i) {
    EXPECT_NE(create(bad[i], good).status, RESTRIDE_OK) << i;
    EXPECT_NE(create(good, bad[i]).status, RESTRIDE_OK) << i;
  }
  EXPECT_EQ(ask([&](char* message, size_t bytes) {
              restride_plan* plan = nullptr;
              return restride_plan_create_from_dlpack(nullptr, &good, nullptr, &plan, message,
                                                      bytes);
            }).message,
            "source = NULL: must not be");
}

TEST(CApiDlpack, TakesScalarsAndEmptyTensors) {
  float from = 5, to = 0;
  std::vector<int64_t> none, empty = {0, 3};
  const DLTensor source = tensor(&from, none, nullptr), target = tensor(&to, none, nullptr);
  EXPECT_EQ(execute(plan_of(source, target), source, target).message, "");
  EXPECT_EQ(to, 5);
  const DLTensor nothing = tensor(nullptr, empty, nullptr);
  EXPECT_EQ(execute(plan_of(nothing, nothing), nothing, nothing).message, "");
}

}  // namespace

#endif
