// validate(Problem): what the parts of a problem can have wrong together.
#include "restride/problem.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace restride {
namespace {

TEST(Problem, TakesWhatTheSpecificationAllows) {
  for (const char* text : {
           "f32[] -> f32[]",
           "f32[0] -> f32[0]",
           "f32[] -> f32[0,3]",
           "f32[256,1,256] -> f32[256,64,256] dims={0,1,2}",
           "f32[2,3] -> f32[3,2] dims={1,0}",
           "f32[2,3] -> f32[2,3] dims={0,1}",
           "f32[2,3]{1,0:PAD(4,4;one)} -> f32[2,3]{1,0:T(2,2)}",
           "f32[1,3] -> f32[2,3,2] dims={2,1}",
           "convert(c64[2]) -> c128[2]",
           "convert(f32[2]) -> c64[2]",
           "convert(c64[2]) -> pred[2]",
           "convert(pred[2]) -> f32[2]",
           "convert(f32[2]) -> f32[2]",
           "convert(f32[]) -> s4[2]{0:E(4)}",
           "add(pred[2], pred[2]) -> pred[2]",
           "multiply(c64[2], c64[2]) -> c64[2]",
           "add(f32[2,3], f32[]) -> f32[2,3]",
           "add(f32[2,3], f32[3] dims={1}) -> f32[2,3]",
           "add(f32[3] dims={1}, f32[2,3]) -> f32[2,3]",
           "add(f32[2,1], f32[1,3]) -> f32[2,3]",
           "add(f32[1,2] dims={1,2}, f32[4,3,1]) -> f32[4,3,2]",
           "add(f32[2,1] dims={0,1}, f32[2,3] dims={0,1}) -> f32[2,3]",
           "less(u8[2], u8[2]{0:PAD(4;zero)}) -> pred[2]{0:PAD(4;highest)}",
           "f8e8m0fnu[2,3] -> f8e8m0fnu[2,3]{0,1}",  // nothing is filled
           "f8e8m0fnu[2,4] -> f8e8m0fnu[2,4]{1,0:T(2,2)}",
           "c64[2] -> c64[2]{0:PAD(2;lowest)}",
           "c64[2]{0:PAD(4;lowest)} -> c64[2]",  // source padding is never read
           "f8e8m0fnu[2] -> f8e8m0fnu[2]{0:PAD(4;unknown)}",
           "f32[2,3] strides={0,-4} -> f32[2,3] strides={-4,8}",
           "f32[2,3] -> f32[2,3] strides={12,4}",
           "f32[2,1,3] -> f32[2,1,3] strides={12,0,4}",  // one element has an address of its own
           "u8[2,3] -> u8[2,3] strides={1,2}",
           "f32[0,3] -> f32[0,3] strides={0,0}",
       }) {
    const auto problem = parse_problem(text);
    EXPECT_TRUE(problem) << text << ": " << problem.error().message;
  }
}

/// The table of the specification with M×N×P×Q = 2×3×4×5, each row with its operands either way
/// round, and with a target that is not what it infers.
TEST(Problem, TakesEveryRowOfTheBroadcastingTable) {
  const struct {
    const char *higher, *lower, *result;
  } rows[] = {
      {"f32[2,3]", "f32[]", "[2,3]"},
      {"f32[2,3]", "f32[3] dims={1}", "[2,3]"},
      {"f32[3,3]", "f32[3] dims={1}", "[3,3]"},
      {"f32[3,3]", "f32[3] dims={0}", "[3,3]"},
      {"f32[2,3,4]", "f32[3,4] dims={1,2}", "[2,3,4]"},
      {"f32[2,3,4,5]", "f32[2] dims={0}", "[2,3,4,5]"},
      {"f32[2,3,4,5]", "f32[5] dims={3}", "[2,3,4,5]"},
      {"f32[2,3,4,5]", "f32[4,5] dims={2,3}", "[2,3,4,5]"},
      {"f32[2,3,4,5]", "f32[3,4] dims={1,2}", "[2,3,4,5]"},
      {"f32[2,3,4,5]", "f32[2,5] dims={0,3}", "[2,3,4,5]"},
      {"f32[2,1]", "f32[2,3]", "[2,3]"},
      {"f32[1,2,5]", "f32[7,2,5]", "[7,2,5]"},
      {"f32[7,2,5]", "f32[7,1,5]", "[7,2,5]"},
      {"f32[2,1]", "f32[1,3]", "[2,3]"},
      {"f32[1,2]", "f32[4] dims={0}", "[4,2]"},
      {"f32[4,3,1]", "f32[1,2] dims={1,2}", "[4,3,2]"},
      {"f32[0]", "f32[1]", "[0]"},
      {"f32[1,2]", "f32[0] dims={0}", "[0,2]"},
  };
  for (const auto& row : rows) {
    const std::string higher = row.higher, lower = row.lower, result = row.result;
    for (const std::string& operands : {higher + ", " + lower, lower + ", " + higher}) {
      const std::string text = "add(" + operands + ") -> f32";
      const auto problem = parse_problem(text + result);
      EXPECT_TRUE(problem) << text << result << ": " << problem.error().message;
      const auto wrong = parse_problem(text + "[9]");
      ASSERT_FALSE(wrong) << text;
      EXPECT_TRUE(wrong.error().message.starts_with("target.dimensions = [9]: must be " + result +
                                                    ", what the sources broadcast to, in add("))
          << wrong.error().message;
    }
  }
}

struct Wrong {
  const char *text, *message;
  ErrorCode code = ErrorCode::invalid_argument;
};

void expect_refused(const std::vector<Wrong>& cases) {
  for (const Wrong& row : cases) {
    SCOPED_TRACE(row.text);
    const auto problem = parse_problem(row.text);
    ASSERT_FALSE(problem);
    EXPECT_EQ(problem.error().message, row.message);
    EXPECT_EQ(problem.error().code, row.code);
  }
}

TEST(Problem, NamesTheShapeThatIsWrong) {
  expect_refused({
      {"f32[2,3]{0,0} -> f32[2,3]", "source.minor_to_major[1] = 0: stands there twice"},
      {"f32[2,3,4] -> f32[2,3,4]{5,1,0}", "target.minor_to_major[0] = 5: must be 0..2"},
      {"add(f32[2]{1}, f32[2]) -> f32[2]", "sources[0].minor_to_major[0] = 1: must be 0..0"},
      {"add(f32[2], f32[2]{0:T(0)}) -> f32[2]",
       "sources[1].tiles[0][0] = 0: must be at least 1, or *"},
      {"u8[1] -> u8[576460752303423489] dims={0}",
       "target.dimensions = [576460752303423489]: 576460752303423489 bytes are more than any "
       "memory has",
       ErrorCode::unsupported},
  });
}

TEST(Problem, RefusesElementTypes) {
  expect_refused({
      {"f32[2] -> s32[2]",
       "target.element_type = s32: must be f32, the type of the source, unless the problem is "
       "convert(...)"},
      {"convert(c64[2]) -> f32[2]",
       "target.element_type = f32: c64 is complex, and complex to real is refused"},
      {"convert(c128[2]) -> u8[2]",
       "target.element_type = u8: c128 is complex, and complex to real is refused"},
      {"add(f32[2], f64[2]) -> f32[2]",
       "sources[1].element_type = f64: must be f32, the type of sources[0]"
       ", in add(f32[2], f64[2])"},
      {"add(f32[2], f32[2]) -> f64[2]",
       "target.element_type = f64: must be f32, the result of add"
       ", in add(f32[2], f32[2])"},
      {"less(f32[2], f32[2]) -> f32[2]",
       "target.element_type = f32: must be pred, the result of less"
       ", in less(f32[2], f32[2])"},
  });
}

/// Which of the operations take a type, by the sentence of the specification. It says nothing of
/// the remainder of complex numbers, which has no meaning.
TEST(Problem, AdmitsTypesToOperationsAsSpecified) {
  const struct {
    const char* operation;
    bool pred, integer, real, complex;
  } cases[] = {
      {"add", true, true, true, true},
      {"subtract", false, true, true, true},
      {"multiply", true, true, true, true},
      {"divide", false, true, true, true},
      {"remainder", false, true, true, false},
      {"power", false, true, true, true},
      {"maximum", true, true, true, false},
      {"minimum", true, true, true, false},
      {"and", true, true, false, false},
      {"or", true, true, false, false},
      {"xor", true, true, false, false},
      {"equal", true, true, true, true},
      {"not_equal", true, true, true, true},
      {"less", true, true, true, false},
      {"less_equal", true, true, true, false},
      {"greater", true, true, true, false},
      {"greater_equal", true, true, true, false},
  };
  for (const auto& row : cases) {
    const std::string name = row.operation;
    const bool compares =
        name.find("equal") != std::string::npos || name == "less" || name == "greater";
    const auto check = [&](const std::string& type, bool taken) {
      const std::string text =
          name + "(" + type + "[2], " + type + "[2]) -> " + (compares ? "pred" : type) + "[2]";
      const auto problem = parse_problem(text);
      EXPECT_EQ(problem.has_value(), taken) << text;
      if (!problem) {
        EXPECT_EQ(problem.error().message, "sources[0].element_type = " + type +
                                               ": is not taken by " + name + ", in " + name + '(' +
                                               type + "[2], " + type + "[2])");
      }
    };
    check("pred", row.pred);
    check("s4", row.integer);
    check("u32", row.integer);
    check("f32", row.real);
    check("f8e5m2", row.real);
    check("c64", row.complex);
    check("c128", row.complex);
  }
}

TEST(Problem, RefusesDimensions) {
  expect_refused({
      {"f32[2,3] -> f32[2,4]",
       "target.dimensions = [2,4]: must be [2,3], the dimensions of the source"},
      {"f32[2,1] -> f32[2,3]",
       "target.dimensions = [2,3]: must be [2,1], the dimensions of the source"},
      {"f32[2,3] -> f32[3]",
       "target.dimensions = [3]: must be [2,3], the dimensions of the source"},
      {"f32[3] -> f32[]", "target.dimensions = []: must be [3], the dimensions of the source"},
      {"convert(f32[2,3]) -> f64[3,2]",
       "target.dimensions = [3,2]: must be [2,3], the dimensions of the source"},
      {"f32[3] -> f32[2,3]",
       "source.broadcast_dimensions: is missing: [3] in [2,3] needs an entry for each dimension"},
      {"f32[3] -> f32[2,3] dims={0}",
       "source.broadcast_dimensions[0] = 0: size mismatch: operand dimension 0 has size 3, "
       "dimension 0 of the result 2"},
      {"f32[3] -> f32[2,3] dims={-1}", "source.broadcast_dimensions[0] = -1: must not be negative"},
      {"f32[] -> f32[2,3] dims={0}",
       "source.broadcast_dimensions: has 1 entries: must have 0, the rank of the operand"},
      {"f32[3,3] -> f32[3,3] dims={0,0}", "source.broadcast_dimensions[1] = 0: stands there twice"},
      {"add(f32[2,3], f32[3]) -> f32[2,3]",
       "sources[1].broadcast_dimensions: is missing: [3] in [2,3] needs an entry for each "
       "dimension"
       ", in add(f32[2,3], f32[3])"},
      {"add(f32[3], f32[2,3]) -> f32[2,3]",
       "sources[0].broadcast_dimensions: is missing: [3] in [2,3] needs an entry for each "
       "dimension"
       ", in add(f32[3], f32[2,3])"},
      {"add(f32[2,3] dims={0,1}, f32[3] dims={1}) -> f32[2,3]",
       "sources[0].broadcast_dimensions: stands at the operand of higher rank: belongs to the "
       "lower one"
       ", in add(f32[2,3], f32[3])"},
      {"add(f32[2,2] dims={1,0}, f32[2,2]) -> f32[2,2]",
       "sources[0].broadcast_dimensions[0] = 1: must be 0: operands of equal rank map in order"
       ", in add(f32[2,2], f32[2,2])"},
      {"add(f32[2,3,4], f32[3,4] dims={2,1}) -> f32[2,3,4]",
       "sources[1].broadcast_dimensions[0] = 2: size mismatch: operand dimension 0 has size 3, "
       "dimension 2 of the result 4"
       ", in add(f32[2,3,4], f32[3,4])"},
      {"add(f32[5,5,5], f32[5,5] dims={2,1}) -> f32[5,5,5]",
       "sources[1].broadcast_dimensions[1] = 1: not strictly increasing: stands behind 2"
       ", in add(f32[5,5,5], f32[5,5])"},
      {"add(f32[7,2,5], f32[7,2,6]) -> f32[7,2,5]",
       "sources[1].dimensions: size mismatch in dimension 2: [7,2,5] against [7,2,6]"
       ", in add(f32[7,2,5], f32[7,2,6])"},
      {"add(f32[4] dims={0}, f32[1,2]) -> f32[1,2]",
       "target.dimensions = [1,2]: must be [4,2], what the sources broadcast to"
       ", in add(f32[4], f32[1,2])"},
      {"add(f32[3], f32[3]) -> f32[2,3]",
       "target.dimensions = [2,3]: must be [3], what the sources broadcast to"
       ", in add(f32[3], f32[3])"},
  });
}

TEST(Problem, RefusesByteStrides) {
  expect_refused({
      {"f32[2,3] strides={4} -> f32[2,3]",
       "source.byte_strides: has 1 entries: must have 2, one per dimension"},
      {"f32[2,3]{0,1} strides={4,8} -> f32[2,3]",
       "source.layout: is {0,1}: must be the default one beside strides"},
      {"f32[2,3] -> f32[2,3]{1,0:L(8)} strides={12,4}",
       "target.layout: is {1,0:L(8)}: must be the default one beside strides"},
      {"f32[2,3] -> f32[2,3] strides={12,4,4}",
       "target.byte_strides: has 3 entries: must have 2, one per dimension"},
      {"f32[2,3] -> f32[2,3] strides={0,4}",
       "target.byte_strides[0] = 0: elements overlap: must step over 4 bytes"},
      {"f32[2,3] -> f32[2,3] strides={8,4}",
       "target.byte_strides[0] = 8: elements overlap: must step over 12 bytes"},
      {"f32[2,3] -> f32[2,3] strides={-8,4}",
       "target.byte_strides[0] = -8: elements overlap: must step over 12 bytes"},
      {"f32[2,3] -> f32[2,3] strides={12,2}",
       "target.byte_strides[1] = 2: elements overlap: must step over 4 bytes"},
      {"add(f32[2], f32[2] strides={4,4}) -> f32[2]",
       "sources[1].byte_strides: has 2 entries: must have 1, one per dimension"},
      {"f32[3] strides={9223372036854775807} -> f32[3]",
       "source.byte_strides[0] = 9223372036854775807: elements would lie beyond any memory"},
      {"f32[2] strides={-9223372036854775808} -> f32[2]",
       "source.byte_strides[0] = -9223372036854775808: elements would lie beyond any memory"},
      {"u8[2,2] strides={400000000000000000,400000000000000000} -> u8[2,2]",
       "source.byte_strides[1] = 400000000000000000: elements would lie beyond any memory"},
  });
}

TEST(Problem, RefusesScales) {
  expect_refused({
      {"convert(u8[2]) -> f32[2] scale={0}", "affine.scale[0] = 0: must not be 0 in f32"},
      {"convert(u8[2]) -> f32[2] scale={1,1e-60} dim=0",
       "affine.scale[1] = 1e-60: must not be 0 in f32"},
      {"convert(u8[2]) -> f64[2] scale={0}", "affine.scale[0] = 0: must not be 0"},
      {"convert(u8[2]) -> f32[2] scale={1} bias={1e39}",
       "affine.bias[0] = 1e+39: must be finite in f32"},
      {"convert(pred[2]) -> f32[2] scale={1}",
       "source.element_type = pred: has no scale: affine conversions are of integers and floats"},
      {"convert(f32[2]) -> c64[2] scale={1}",
       "target.element_type = c64: has no scale: affine conversions are of integers and floats"},
      {"convert(f32[2]) -> s8[2] scale={1} bias={1}",
       "affine.bias: stands at the integer target s8: belongs to floats; integers have a "
       "zero_point"},
      {"convert(u8[2]) -> f32[2] scale={1} zero_point={1} bias={1}",
       "affine.bias: stands beside a zero_point: only one of them is taken"},
      {"convert(u8[2,3]) -> f32[2,3] scale={1,2}",
       "affine.scale: has 2 entries: must have 1, or dim has to be given"},
      {"convert(u8[2,3]) -> f32[2,3] scale={1,2} dim=1",
       "affine.scale: has 2 entries: must have 1 or 3, the size of target dimension 1"},
      {"convert(u8[2,3]) -> f32[2,3] scale={1} bias={1,2,3,4} dim=1",
       "affine.bias: has 4 entries: must have 1 or 3, the size of target dimension 1"},
      {"convert(u8[2,3]) -> f32[2,3] scale={1} dim=2", "affine.dimension = 2: must be 0..1"},
      {"convert(u8[2,3]) -> f32[2,3] scale={1} dim=-2", "affine.dimension = -2: must be 0..1"},
      {"convert(u8[]) -> f32[] scale={1} dim=0",
       "affine.dimension = 0: the target has no dimensions"},
      {"convert(f32[2]) -> s8[2] scale={1} zero_point={128}",
       "affine.zero_point[0] = 128: must be a number of s8, the type of the target"},
      {"convert(f32[2]) -> u4[2] scale={1} zero_point={-1}",
       "affine.zero_point[0] = -1: must be a number of u4, the type of the target"},
      {"convert(f32[2]) -> s8[2] scale={1} zero_point={0.5}",
       "affine.zero_point[0] = 0.5: must be a number of s8, the type of the target"},
  });
  Problem problem = *parse_problem("f32[2] -> f32[2]");
  problem.affine.bias = {1};
  EXPECT_EQ(validate(problem).error().message,
            "affine.scale: is missing: zero_point, bias and dim stand beside a scale");
  problem.affine.scale = {1};
  EXPECT_EQ(validate(problem).error().message, "affine.scale: stands at copy: belongs to convert");
  problem = *parse_problem("convert(f32[2]) -> f64[2]");
  problem.affine.scale = {std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(validate(problem).error().message, "affine.scale[0] = nan: must be finite");
}

TEST(Problem, RefusesFillThatDoesNotExist) {
  expect_refused({
      {"c64[2] -> c64[2]{0:PAD(4;lowest)}", "target.padding_value = lowest: c64 has no order"},
      {"c128[3] -> c128[3]{0:T(2)PAD(;highest)}",
       "target.padding_value = highest: c128 has no order"},
      {"f8e8m0fnu[3] -> f8e8m0fnu[3]{0:T(2)}",
       "target.padding_value = zero: f8e8m0fnu has no zero"},
      {"f8e8m0fnu[3] -> f8e8m0fnu[3]{0:L(4)}",
       "target.padding_value = zero: f8e8m0fnu has no zero"},
  });
}

TEST(Problem, RefusesAWrongNumberOfSources) {
  Problem problem{Operation::copy, {}, Shape{}, {}};
  EXPECT_EQ(validate(problem).error().message, "sources: has 0 entries: copy takes 1");
  problem.sources.resize(2);
  EXPECT_EQ(validate(problem).error().message, "sources: has 2 entries: copy takes 1");
  problem.operation = Operation::add;
  EXPECT_TRUE(validate(problem));
  problem.sources.resize(3);
  EXPECT_EQ(validate(problem).error().message, "sources: has 3 entries: add takes 2");
  problem.operation = static_cast<Operation>(77);
  EXPECT_EQ(validate(problem).error().message, "operation = 77: is no operation");
  EXPECT_EQ(to_string(problem.operation), "invalid");
}

TEST(Problem, StridesOfSingleElementsMeanNothing) {
  Problem problem{Operation::copy, {{{}, {}, {}}}, {}, {}};
  problem.sources[0].shape = *make_shape(ElementType::f32, {1, 3});
  problem.sources[0].byte_strides = {std::numeric_limits<int64_t>::min(), 4};
  problem.target = *make_shape(ElementType::f32, {1, 3});
  problem.target_byte_strides = {std::numeric_limits<int64_t>::min(), 4};
  EXPECT_TRUE(validate(problem));
}

TEST(Problem, OperationsHaveNames) {
  EXPECT_EQ(to_string(Operation::copy), "copy");
  EXPECT_EQ(to_string(Operation::convert), "convert");
  EXPECT_EQ(to_string(Operation::bit_and), "and");
  EXPECT_EQ(to_string(Operation::greater_equal), "greater_equal");
  EXPECT_FALSE(is_binary(Operation::copy));
  EXPECT_FALSE(is_binary(Operation::convert));
  EXPECT_TRUE(is_binary(Operation::add));
  EXPECT_TRUE(is_binary(Operation::greater_equal));
}

}  // namespace
}  // namespace restride
