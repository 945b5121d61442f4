// Shapes and problems as text: what is canonical comes back, what is not is refused with its
// column.
#include <gtest/gtest.h>

#include <string>

#include "restride/problem.hpp"

namespace restride {
namespace {

TEST(ShapeText, CanonicalTextComesBack) {
  for (const std::string text : {
           "f32[]",
           "pred[7]",
           "f32[2,3]",
           "f32[2,0,3]",
           "f32[2,3]{0,1}",
           "f32[2,3]{0,1:PAD(3,5;zero)}",
           "f32[2,3]{1,0:PAD(2,3;highest)}",
           "f32[3,5]{1,0:T(2,2)}",
           "bf16[3,5]{1,0:T(8,128)(2,1)}",
           "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
           "s4[8]{0:E(4)}",
           "s4[8,8]{1,0:T(8,128)(2,1)L(4)E(4)S(5)PAD(;unknown)}",
           "f32[2]{0:L(8)}",
           "f32[2]{0:S(1)}",
           "f32[]{:S(1)}",
           "f32[2]{0:PAD(;one)}",
           "f8e4m3b11fnuz[1]",
           "c128[1]",
       }) {
    const auto shape = parse_shape(text);
    ASSERT_TRUE(shape) << text << ": " << shape.error().message;
    EXPECT_EQ(to_string(*shape), text);
    const auto again = parse_shape(to_string(*shape));
    ASSERT_TRUE(again);
    EXPECT_TRUE(*again == *shape) << text;
  }
}

TEST(ShapeText, FieldsAreRead) {
  const auto shape = parse_shape("s4[8,8]{0,1:T(*,128)(2,1)L(4)E(4)S(5)PAD(;lowest)}");
  ASSERT_TRUE(shape) << shape.error().message;
  Shape expected{ElementType::s4, {8, 8}, {}};
  expected.layout.minor_to_major = {0, 1};
  expected.layout.tiles = {{Layout::combine, 128}, {2, 1}};
  expected.layout.tail_padding_alignment_in_elements = 4;
  expected.layout.element_size_in_bits = 4;
  expected.layout.memory_space = 5;
  expected.layout.padding_value = PaddingValue::lowest;
  EXPECT_TRUE(*shape == expected);
  const auto padded = parse_shape("f32[2,3]{0,1:PAD(3,5;one)}");
  EXPECT_EQ(padded->layout.padded_dimensions, (std::vector<int64_t>{3, 5}));
  EXPECT_EQ(padded->layout.padding_value, PaddingValue::one);
}

TEST(ShapeText, OtherSpellingsBecomeCanonical) {
  const struct {
    const char *text, *canonical;
  } cases[] = {
      {"f32[2,3]{1,0}", "f32[2,3]"},
      {"f32[]{}", "f32[]"},
      {" f32 [ 2 , 3 ] { 0 , 1 : T ( 2 , 2 ) } ", "f32[2,3]{0,1:T(2,2)}"},
      {"f32[2,3]\t{1,0}\r\n", "f32[2,3]"},
      {"f32[<=2,3]", "f32[2,3]"},
      {"f32[ <= 2]", "f32[2]"},
      {"f32[2]{0:L(1)E(0)S(0)PAD(;zero)}", "f32[2]"},
      {"f32[002]", "f32[2]"},
  };
  for (const auto& row : cases) {
    const auto shape = parse_shape(row.text);
    ASSERT_TRUE(shape) << row.text << ": " << shape.error().message;
    EXPECT_EQ(to_string(*shape), row.canonical);
  }
}

struct Wrong {
  std::string text;
  const char* message;
  ErrorCode code = ErrorCode::invalid_argument;
};

const Wrong wrong_shapes[] = {
    {"", "column 1: expected an element type, found the end"},
    {"  ", "column 3: expected an element type, found the end"},
    {"2", "column 1: expected an element type, found '2'"},
    {"q32[2]", "column 1: 'q32' is not an element type"},
    {"token[]", "column 1: 'token' is not an array: it has no elements to move"},
    {"opaque[]", "column 1: 'opaque' is not an array: it has no elements to move"},
    {"(f32[2], f32[])", "column 1: a tuple is not an array: move its parts one by one"},
    {"f32", "column 4: expected '[', found the end"},
    {"f32(2)", "column 4: expected '[', found '('"},
    {"f32[2", "column 6: expected ',' or ']', found the end"},
    {"f32[2 3]", "column 7: expected ',' or ']', found '3'"},
    {"f32[2,]", "column 7: expected the size of a dimension, found ']'"},
    {"f32[,2]", "column 5: expected the size of a dimension, found ','"},
    {"f32[x]", "column 5: expected the size of a dimension, found 'x'"},
    {"f32[2x]", "column 6: expected ',' or ']', found 'x'"},
    {"f32[?]", "column 5: '?' is an unbounded dimension: its size must be known"},
    {"f32[<=?]", "column 7: expected the bound of a dimension, found '?'"},
    {"f32[-2]", "dimensions[0] = -2: must be at least 0"},
    {"f32[2]]", "column 7: expected the end, found ']'"},
    {"f32[2]{", "column 8: expected a dimension number, found the end"},
    {"f32[2]{0", "column 9: expected ',', ':' or '}', found the end"},
    {"f32[2,3]{1 0}", "column 12: expected ',', ':' or '}', found '0'"},
    {"f32[2]{0,}", "column 10: expected a dimension number, found '}'"},
    {"f32[2]{0:}", "column 10: expected an attribute: T, L, E, S, PAD, found '}'"},
    {"f32[2]{0:", "column 10: expected an attribute: T, L, E, S, PAD, found the end"},
    {"f32[2]{0:Q(1)}", "column 10: 'Q' is not an attribute: T, L, E, S, PAD"},
    {"f32[2]{0:T}", "column 11: expected '(', found '}'"},
    {"f32[2]{0:T(x)}", "column 12: expected an integer or '*', found 'x'"},
    {"f32[2]{0:T(2}", "column 13: expected ',' or ')', found '}'"},
    {"f32[2]{0:L(2}", "column 13: expected ')', found '}'"},
    {"f32[2]{0:L()}", "column 12: expected an integer, found ')'"},
    {"f32[2]{0:L(2)T(2)}", "column 14: 'T' stands twice or too late: the order is T, L, E, S, PAD"},
    {"f32[2]{0:L(2)L(2)}", "column 14: 'L' stands twice or too late: the order is T, L, E, S, PAD"},
    {"f32[2]{0:PAD(3)}", "column 15: expected ',' or ';', found ')'"},
    {"f32[2]{0:PAD(3;)}", "column 16: expected a padding value, found ')'"},
    {"f32[2]{0:PAD(3;null)}",
     "column 16: 'null' is not a padding value: zero, one, lowest, highest, unknown"},
    {"f32[2]{0:PAD(3;zero)S(1)}",
     "column 21: 'S' stands twice or too late: the order is T, L, E, S, PAD"},
    {"f32[2]{0:D(D)}", "column 10: attribute 'D': dimension level types are for sparse arrays",
     ErrorCode::unsupported},
    {"f32[2]{0:#(u32)}", "column 10: attribute '#': index types are for sparse arrays",
     ErrorCode::unsupported},
    {"f32[2]{0:*(u32)}", "column 10: attribute '*': pointer types are for sparse arrays",
     ErrorCode::unsupported},
    {"f32[2]{0:P(f32[2])}", "column 10: attribute 'P': physical shapes are for sparse arrays",
     ErrorCode::unsupported},
    {"f32[2]{0:SC(0:1)}", "column 10: attribute 'SC': split configurations are not supported",
     ErrorCode::unsupported},
    {"f32[2]{0:M(8)}", "column 10: attribute 'M': dynamic shape metadata is not supported",
     ErrorCode::unsupported},
    // Well-formed, but not valid.
    {"f32[2,3]{}", "minor_to_major: has 0 entries: must have 2, one per dimension"},
    {"f32[2,3]{:T(2,2)}", "minor_to_major: has 0 entries: must have 2, one per dimension"},
    {"f32[2,3,4]{5,1,0}", "minor_to_major[0] = 5: must be 0..2"},
    {"f32[2]{0:T()}", "tiles[0]: is empty: must have at least one entry"},
    {"f32[2]{0:T(0)}", "tiles[0][0] = 0: must be at least 1, or *"},
    {"f32[2]{0:T(2)PAD(2;zero)}", "padded_dimensions together with tiles: not supported",
     ErrorCode::unsupported},
    // Hostile.
    {"f32[9223372036854775808]", "column 5: '9223372036854775808' does not fit 64 bits"},
    {"f32[-99999999999999999999999999999999999999]",
     "column 5: '-9999999999999999999999999999999...' does not fit 64 bits"},
    {std::string("f32[2\0]", 7), "column 6: expected ',' or ']', found '\\x00'"},
    {std::string("f32[2]\0", 7), "column 7: expected the end, found '\\x00'"},
    {"f32[2]\xff", "column 7: expected the end, found '\\xff'"},
    {std::string(100, 'f') + "[2]",
     "column 1: 'ffffffffffffffffffffffffffffffff...' is not an element type"},
    {std::string(1 << 20, '['), "text of 1048576 bytes: must be at most 65536"},
    {std::string(60000, '('), "column 1: a tuple is not an array: move its parts one by one"},
};

TEST(ShapeText, WhatIsNoShapeIsRefused) {
  for (const Wrong& row : wrong_shapes) {
    SCOPED_TRACE(row.text.substr(0, 60));
    const auto shape = parse_shape(row.text);
    ASSERT_FALSE(shape);
    EXPECT_EQ(shape.error().message, row.message);
    EXPECT_EQ(shape.error().code, row.code);
  }
}

TEST(ShapeText, NoPrefixOfATextCrashes) {
  const std::string text =
      "add(s4[8,8]{1,0:T(*,128)(2,1)L(4)E(4)S(5)PAD(;unknown)} strides={1,-2} dims={0,1}, "
      "s4[<=8,8]) -> s4[8,8]";
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(parse_problem(text.substr(0, length))) << length;
  }
}

TEST(ProblemText, NoPrefixOfAScaleCrashes) {
  const std::string text = "convert(u8[2,3]) -> f32[2,3] scale={0.5,1e-3} bias={-1.25e+2} dim=0";
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_LE(parse_problem(text.substr(0, length)).has_value(), length >= 28) << length;
  }
}

TEST(ShapeText, DeepTilesAreReadInOneGo) {
  std::string text = "f32[2]{0:T(1)";
  for (int i = 0; i < 15000; ++i) text += "(1)";
  const auto shape = parse_shape(text + "}");
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(*buffer_elements(*shape), 2);
  std::string wide = "f32[1";
  for (int i = 0; i < 15000; ++i) wide += ",1";
  EXPECT_EQ(rank(*parse_shape(wide + "]")), 15001);
}

TEST(ProblemText, CanonicalTextComesBack) {
  for (const std::string text : {
           // The examples of the specification.
           "f32[2,3] -> f32[2,3]{0,1}",
           "f32[3] -> f32[2,3]{0,1} dims={1}",
           "f32[2,3] -> f32[2,3]{0,1:PAD(3,5;zero)}",
           "add(f32[4] dims={0}, f32[1,2]) -> f32[4,2]",
           "convert(u8[1080,1920,3]) -> f32[1080,1920,3]{1,0,2}",
           "f32[] -> f32[2,3]",
           "f32[1,3] -> f32[2,3,2] dims={2,1}",
           "convert(f32[3] dims={1}) -> bf16[2,3]",
           "f32[2,3] strides={12,-4} -> f32[2,3]",
           "f32[2,3] strides={0,4} -> f32[2,3] strides={32,8}",
           "f32[3] strides={8} -> f32[2,3] strides={4,8} dims={1}",
           "multiply(f32[3] strides={8} dims={1}, f32[2,3] strides={12,4}) -> f32[2,3]",
           "subtract(f32[2], f32[2]) -> f32[2]",
           "divide(f32[2], f32[2]) -> f32[2]",
           "remainder(f32[2], f32[2]) -> f32[2]",
           "power(f32[2], f32[2]) -> f32[2]",
           "maximum(f32[2], f32[2]) -> f32[2]",
           "minimum(f32[2], f32[2]) -> f32[2]",
           "and(u8[2], u8[2]) -> u8[2]",
           "or(pred[2], pred[2]) -> pred[2]",
           "xor(s64[2], s64[2]) -> s64[2]",
           "equal(f32[2], f32[2]) -> pred[2]",
           "not_equal(c64[2], c64[2]) -> pred[2]",
           "less(f32[2], f32[2]) -> pred[2]",
           "less_equal(f32[2], f32[2]) -> pred[2]",
           "greater(f32[2], f32[2]) -> pred[2]",
           "greater_equal(f32[2], f32[2]) -> pred[2]",
           "convert(u8[10,20,3]) -> f32[10,20,3]{1,0,2} scale={0.017,0.0175,0.0174} "
           "bias={-2.1,-2,-1.8} dim=2",
           "convert(f32[64,128]) -> s8[64,128] scale={0.05} zero_point={3}",
           "convert(f32[2,3] strides={12,-4}) -> s8[2,3] strides={3,1} scale={1e-05,2} dim=0",
           "convert(s8[2]) -> f64[2] scale={1e+300} bias={-1e-300}",
           "convert(s8[2]) -> f64[2] scale={0.1} bias={0.30000000000000004,-0} dim=0",
       }) {
    const auto problem = parse_problem(text);
    ASSERT_TRUE(problem) << text << ": " << problem.error().message;
    EXPECT_EQ(to_string(*problem), text);
  }
}

TEST(ProblemText, WhiteSpaceIsFree) {
  const auto problem = parse_problem("\n add ( f32 [4]dims = { 0 },f32[1,2] )->f32[4,2]{ 1,0 }\t");
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_EQ(to_string(*problem), "add(f32[4] dims={0}, f32[1,2]) -> f32[4,2]");
  EXPECT_EQ(to_string(*parse_problem("f32[]->f32[2] dims={}")), "f32[] -> f32[2]");
}

TEST(ProblemText, FieldsAreRead) {
  const auto problem = parse_problem("f32[3] strides={8} -> f32[2,3] strides={4,8} dims={1}");
  ASSERT_TRUE(problem) << problem.error().message;
  ASSERT_EQ(problem->sources.size(), 1u);
  EXPECT_EQ(problem->operation, Operation::copy);
  EXPECT_EQ(problem->sources[0].broadcast_dimensions, std::vector<int64_t>{1});
  EXPECT_EQ(problem->sources[0].byte_strides, std::vector<int64_t>{8});
  EXPECT_EQ(problem->target_byte_strides, (std::vector<int64_t>{4, 8}));
}

TEST(ProblemText, ScalesAreRead) {
  const auto problem =
      parse_problem("convert(u8[4,3])->f32[4,3]scale={ 0.5 , 1e2,-3 }bias={-2.125}dim=1");
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_EQ(problem->affine.scale, (std::vector<double>{0.5, 100, -3}));
  EXPECT_EQ(problem->affine.zero_point, std::vector<double>{});
  EXPECT_EQ(problem->affine.bias, std::vector<double>{-2.125});
  EXPECT_EQ(problem->affine.dimension, 1);
  EXPECT_EQ(parse_problem("convert(u8[4,3]) -> f32[4,3]")->affine, Affine{});
}

TEST(ProblemText, WhatIsNoProblemIsRefused) {
  const Wrong cases[] = {
      {"", "column 1: expected an element type, found the end"},
      {"f32[2]", "column 7: expected '->', found the end"},
      {"f32[2] - > f32[2]", "column 8: expected '->', found '-'"},
      {"f32[2] ->", "column 10: expected an element type, found the end"},
      {"f32[2] -> f32[2] f32[2]", "column 18: expected the end, found 'f32'"},
      {"f32[3] dims={1} -> f32[2,3]", "column 8: 'dims' of a relayout stands behind its target"},
      {"f32[3] -> f32[2,3] dims={1", "column 27: expected ',' or '}', found the end"},
      {"f32[3] -> f32[2,3] dims{1}", "column 24: expected '=', found '{'"},
      {"f32[3] -> f32[2,3] dims=1", "column 25: expected '{', found '1'"},
      {"f32[3] -> f32[2,3] dims={x}", "column 26: expected an integer, found 'x'"},
      {"f32[3] -> f32[2,3] dims={1} strides={4,8}", "column 29: expected the end, found 'strides'"},
      {"convert f32[2] -> f32[2]", "column 9: expected '(', found 'f32'"},
      {"convert(f32[2], f32[2]) -> f32[2]", "column 15: expected ')', found ','"},
      {"add(f32[2]) -> f32[2]", "column 11: expected ',', found ')'"},
      {"add(f32[2], f32[2], f32[2]) -> f32[2]", "column 19: expected ')', found ','"},
      {"add(f32[2], f32[2]) -> f32[2,2] dims={0}", "column 33: expected the end, found 'dims'"},
      {"add(f32[2], f32[2])", "column 20: expected '->', found the end"},
      {"convert(u8[2]) -> f32[2] scale=1", "column 32: expected '{', found '1'"},
      {"convert(u8[2]) -> f32[2] scale={1.5", "column 36: expected ',' or '}', found the end"},
      {"convert(u8[2]) -> f32[2] scale={1..5}", "column 35: expected ',' or '}', found '.'"},
      {"convert(u8[2]) -> f32[2] scale={nan}", "column 33: expected a number, found 'nan'"},
      {"convert(u8[2]) -> f32[2] scale={-inf}", "column 33: expected a number, found '-'"},
      {"convert(u8[2]) -> f32[2] scale={.5}", "column 33: expected a number, found '.'"},
      {"convert(u8[2]) -> f32[2] scale={0x2}", "column 34: expected ',' or '}', found 'x2'"},
      {"convert(u8[2]) -> f32[2] scale={1e999}", "column 33: '1e999' does not fit f64"},
      {"convert(u8[2]) -> f32[2] scale={1} scale={1}",
       "column 36: expected the end, found 'scale'"},
      {"convert(u8[2]) -> f32[2] bias={1}", "column 26: expected the end, found 'bias'"},
      {"convert(u8[2]) -> f32[2] scale={1} bias={1} zero_point={1}",
       "column 45: expected the end, found 'zero_point'"},
      {"convert(u8[2]) -> f32[2] scale={1} dim=0.5", "column 41: expected the end, found '.'"},
      {"f32[2] -> f32[2] scale={1}", "column 18: expected the end, found 'scale'"},
      {"add(f32[2], f32[2]) -> f32[2] scale={1}", "column 31: expected the end, found 'scale'"},
      {"copy(f32[2]) -> f32[2]", "column 1: 'copy' is not an element type"},
      {"frobnicate(f32[2]) -> f32[2]", "column 1: 'frobnicate' is not an element type"},
      {std::string(1 << 17, ' '), "text of 131072 bytes: must be at most 65536"},
  };
  for (const Wrong& row : cases) {
    SCOPED_TRACE(row.text.substr(0, 60));
    const auto problem = parse_problem(row.text);
    ASSERT_FALSE(problem);
    EXPECT_EQ(problem.error().message, row.message);
  }
}

}  // namespace
}  // namespace restride
