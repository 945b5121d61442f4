// The C interface: NULL everywhere, structs of other sizes, arrays as numbers, tensors of DLPack.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "restride/restride.h"

#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#define RESTRIDE_TEST_DLPACK
#endif

extern "C" int c_api_from_c(void);

namespace {

constexpr const char* transpose = "f32[2,3] -> f32[2,3]{0,1}";

/// Status and message of a call.
struct Answer {
  restride_status status;
  std::string message;
};

template <class Call>
Answer ask(Call call) {
  char message[300] = "untouched";
  const restride_status status = call(message, sizeof message);
  return {status, message};
}

/// Owns a plan made by a call that has to succeed.
class OwnedPlan {
 public:
  template <class Call>
  explicit OwnedPlan(Call call) {
    const Answer answer =
        ask([&](char* message, size_t bytes) { return call(&plan_, message, bytes); });
    EXPECT_EQ(answer.status, RESTRIDE_OK) << answer.message;
  }
  ~OwnedPlan() { restride_plan_destroy(plan_); }
  operator const restride_plan*() const { return plan_; }

 private:
  restride_plan* plan_ = nullptr;
};

OwnedPlan plan_of(const char* text) {
  return OwnedPlan([&](restride_plan** out, char* message, size_t bytes) {
    return restride_plan_create(text, nullptr, out, message, bytes);
  });
}

/// An array with what every array has.
restride_array array_of(const std::vector<int64_t>& dimensions) {
  restride_array array = {};
  array.struct_size = sizeof array;
  array.element_type = RESTRIDE_F32;
  array.rank = static_cast<int64_t>(dimensions.size());
  array.dimensions = dimensions.data();
  array.padding_value = RESTRIDE_ZERO_PAD;
  return array;
}

Answer create(const restride_array* source, const restride_array* target) {
  restride_plan* plan = nullptr;
  const Answer answer = ask([&](char* message, size_t bytes) {
    return restride_plan_create_from_arrays(source, target, nullptr, &plan, message, bytes);
  });
  EXPECT_EQ(plan == nullptr, answer.status != RESTRIDE_OK);
  restride_plan_destroy(plan);
  return answer;
}

std::vector<float> moved(const restride_array& source, const restride_array& target,
                         const std::vector<float>& values, size_t target_elements) {
  const OwnedPlan plan([&](restride_plan** out, char* message, size_t bytes) {
    return restride_plan_create_from_arrays(&source, &target, nullptr, out, message, bytes);
  });
  std::vector<float> result(target_elements, -1.0f);
  const Answer answer = ask([&](char* message, size_t bytes) {
    return restride_plan_execute(plan, values.data(), values.size() * sizeof(float), result.data(),
                                 result.size() * sizeof(float), nullptr, message, bytes);
  });
  EXPECT_EQ(answer.status, RESTRIDE_OK) << answer.message;
  return result;
}

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

const std::vector<float> abc = {1, 2, 3, 4, 5, 6};

TEST(CApiArrays, TakesLayoutsAsNumbers) {
  const std::vector<int64_t> dimensions = {2, 3}, column_major = {0, 1}, padded = {3, 5};
  const restride_array source = array_of(dimensions);
  restride_array target = array_of(dimensions);
  EXPECT_EQ(moved(source, target, abc, 6), abc);
  target.minor_to_major = column_major.data();
  EXPECT_EQ(moved(source, target, abc, 6), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  target.padded_dimensions = padded.data();
  EXPECT_EQ(moved(source, target, abc, 15),
            (std::vector<float>{1, 4, 0, 2, 5, 0, 3, 6, 0, 0, 0, 0, 0, 0, 0}));
  target.padding_value = RESTRIDE_ONE_PAD;
  EXPECT_EQ(moved(source, target, abc, 15),
            (std::vector<float>{1, 4, 1, 2, 5, 1, 3, 6, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(CApiArrays, TakesTiles) {
  // The image of f32[3,5]{1,0:T(2,2)} in the specification; the fill is 0.
  const std::vector<int64_t> dimensions = {3, 5}, ranks = {2}, tile = {2, 2};
  const restride_array source = array_of(dimensions);
  restride_array target = array_of(dimensions);
  target.tile_count = 1;
  target.tile_ranks = ranks.data();
  target.tile_dimensions = tile.data();
  std::vector<float> values(15);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(10 * (i / 5) + i % 5);
  EXPECT_EQ(moved(source, target, values, 24),
            (std::vector<float>{0,  1,  10, 11, 2,  3,  12, 13, 4,  0, 14, 0,
                                20, 21, 0,  0,  22, 23, 0,  0,  24, 0, 0,  0}));
}

TEST(CApiArrays, TakesTilesThatMergeDimensions) {
  // f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)} has 12432 places in the specification.
  const std::vector<int64_t> dimensions = {2, 7, 8, 11, 10}, ranks = {5}, tile = {-1, -7, 2, -1, 3};
  const restride_array source = array_of(dimensions);
  restride_array target = array_of(dimensions);
  target.tile_count = 1;
  target.tile_ranks = ranks.data();
  target.tile_dimensions = tile.data();
  const OwnedPlan plan([&](restride_plan** out, char* message, size_t bytes) {
    return restride_plan_create_from_arrays(&source, &target, nullptr, out, message, bytes);
  });
  restride_plan_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(restride_plan_get_info(plan, &info, nullptr, 0), RESTRIDE_OK);
  EXPECT_EQ(info.target_bytes, 12432 * 4);
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

TEST(CApiArrays, TakesByteStridesAndBroadcasts) {
  const std::vector<int64_t> dimensions = {2, 3}, strides = {4, 8}, row = {3}, along = {1};
  const restride_array target = array_of(dimensions);
  restride_array source = array_of(dimensions);
  source.byte_strides = strides.data();
  EXPECT_EQ(moved(source, target, abc, 6), (std::vector<float>{1, 3, 5, 2, 4, 6}));
  source = array_of(row);
  source.broadcast_rank = 1;
  source.broadcast_dimensions = along.data();
  EXPECT_EQ(moved(source, target, {7, 8, 9}, 6), (std::vector<float>{7, 8, 9, 7, 8, 9}));
}

TEST(CApiArrays, NamesTheFieldThatIsWrong) {
  static const std::vector<int64_t> dimensions = {2, 3}, ranks = {65}, tile = {2, 2};
  struct Row {
    std::function<void(restride_array&)> change;
    const char* message;
  };
  for (const Row& row : std::vector<Row>{
           {[](restride_array& a) { a.element_type = 0; },
            "target.element_type = 0: must be 1..30"},
           {[](restride_array& a) { a.element_type = 31; },
            "target.element_type = 31: must be 1..30"},
           {[](restride_array& a) { a.padding_value = RESTRIDE_INVALID_PAD; },
            "target.padding_value = 0: must be 1..5"},
           {[](restride_array& a) { a.padding_value = 6; },
            "target.padding_value = 6: must be 1..5"},
           {[](restride_array& a) { a.rank = -1; }, "target.rank = -1: must be 0..64"},
           {[](restride_array& a) { a.rank = INT64_MAX; },
            "target.rank = 9223372036854775807: must be 0..64"},
           {[](restride_array& a) { a.dimensions = nullptr; },
            "target.dimensions = NULL: must not be"},
           {[](restride_array& a) { a.tile_count = -1; }, "target.tile_count = -1: must be 0..64"},
           {[](restride_array& a) { a.tile_count = 1; }, "target.tile_ranks = NULL: must not be"},
           {[](restride_array& a) {
              a.tile_count = 1;
              a.tile_ranks = ranks.data();
            },
            "target.tile_dimensions = NULL: must not be"},
           {[](restride_array& a) {
              a.tile_count = 1;
              a.tile_ranks = ranks.data();
              a.tile_dimensions = tile.data();
            },
            "target.tile_ranks[0] = 65: must be 0..64"},
           {[](restride_array& a) { a.broadcast_rank = 2; },
            "target.broadcast_dimensions = NULL: must not be"},
           {[](restride_array& a) {
              a.broadcast_rank = 2;
              a.broadcast_dimensions = tile.data();
            },
            "target.broadcast_rank = 2: only a source is broadcast"},
       }) {
    const restride_array source = array_of(dimensions);
    restride_array target = source;
    row.change(target);
    const Answer answer = create(&source, &target);
    EXPECT_EQ(answer.status, RESTRIDE_INVALID_ARGUMENT);
    EXPECT_EQ(answer.message, row.message);
  }
}

#ifdef RESTRIDE_TEST_DLPACK

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

#endif

}  // namespace
