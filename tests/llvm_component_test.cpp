// What the LLVM component does without running anything: objects and text for every target, on any
// host.
#include "llvm_component.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "support/program_cases.hpp"

namespace restride {
namespace {

const LlvmComponent& component() { return **llvm_component(); }

/// The programs of the cases that a target has; of the pieces, which are thousands, some.
std::vector<testing::ProgramCase> cases_for(const Target& target) {
  std::vector<testing::ProgramCase> cases = testing::loop_cases();
  for (int bytes = 16; bytes <= target.vector_bytes; bytes *= 2) {
    size_t number = 0;
    for (testing::ProgramCase& test : testing::operation_cases(bytes)) {
      if (++number % 61 == 0 && verify(test.program, target)) cases.push_back(std::move(test));
    }
  }
  return cases;
}

const testing::ProgramCase& units_walk() {
  static const testing::ProgramCase found = testing::loop_cases()[1];
  return found;
}

class LlvmComponentFor : public ::testing::TestWithParam<Target> {};

INSTANTIATE_TEST_SUITE_P(Every, LlvmComponentFor,
                         ::testing::ValuesIn(known_targets().begin(), known_targets().end()),
                         [](const auto& info) { return info.param.name; });

TEST_P(LlvmComponentFor, EmitsARelocatableObjectThatDefinesTheSymbol) {
  const uint16_t machine = GetParam().architecture == Architecture::x86_64 ? EM_X86_64 : EM_AARCH64;
  for (const testing::ProgramCase& test : cases_for(GetParam())) {
    const auto object = component().emit_object(test.program, GetParam(), "kernel_17", {});
    ASSERT_TRUE(object) << test.name << ": " << object.error().message;
    Elf64_Ehdr head;
    ASSERT_GT(object->size(), sizeof head) << test.name;
    std::memcpy(&head, object->data(), sizeof head);
    EXPECT_EQ(std::memcmp(head.e_ident, ELFMAG, SELFMAG), 0) << test.name;
    EXPECT_EQ(head.e_type, ET_REL) << test.name;
    EXPECT_EQ(head.e_machine, machine) << test.name;
    const std::string_view bytes(reinterpret_cast<const char*>(object->data()), object->size());
    EXPECT_NE(bytes.find("kernel_17"), bytes.npos) << test.name;
  }
}

TEST_P(LlvmComponentFor, EmitsAssemblyThatCallsNothing) {
  for (const testing::ProgramCase& test : cases_for(GetParam())) {
    const auto text = component().emit_assembly(test.program, GetParam(), "kernel_17");
    ASSERT_TRUE(text) << test.name << ": " << text.error().message;
    EXPECT_NE(text->find("kernel_17:"), text->npos) << *text;
    EXPECT_NE(text->find("\tret"), text->npos) << *text;
    EXPECT_EQ(text->find("\tcall"), text->npos) << *text;
    EXPECT_EQ(text->find("\tbl\t"), text->npos) << *text;
  }
}

TEST(LlvmComponent, DisassemblesUpToTheLastReturnAndShowsTheRestAsBytes) {
  struct Row {
    const char* target;
    std::vector<uint8_t> code;
    std::vector<const char*> lines;
  };
  const std::vector<Row> rows = {
      // test eax, eax; jne behind the first ret; ret; nop; ret; two bytes
      {"sse2",
       {0x85, 0xc0, 0x75, 0x01, 0xc3, 0x90, 0xc3, 0x12, 0x34},
       {"     0\ttest\teax, eax\n", "     4\tret\n", "     5\tnop\n", "     6\tret\n",
        "     7\t.byte 12 34\n"}},
      // vpermi2b zmm0, zmm1, zmm2; ret
      {"avx512_vbmi",
       {0x62, 0xf2, 0x75, 0x48, 0x75, 0xc2, 0xc3},
       {"     0\tvpermi2b\tzmm0, zmm1, zmm2\n", "     6\tret\n"}},
      // zip1 v0.16b, v1.16b, v2.16b; ret
      {"neon",
       {0x20, 0x38, 0x02, 0x4e, 0xc0, 0x03, 0x5f, 0xd6, 0xff},
       {"     0\tzip1\tv0.16b, v1.16b, v2.16b\n", "     4\tret\n", "     8\t.byte ff\n"}},
      {"sse2", {}, {}},
  };
  for (const Row& row : rows) {
    const auto text = component().disassemble(row.code, *find_target(row.target));
    ASSERT_TRUE(text) << row.target << ": " << text.error().message;
    for (const char* line : row.lines) EXPECT_NE(text->find(line), text->npos) << line << *text;
    EXPECT_EQ(text->empty(), row.code.empty());
  }
}

TEST(LlvmComponent, EmitsOneLoopWithoutACopyOfItsBody) {
  const auto text = component().emit_assembly(units_walk().program, *find_target("avx2"), "walk");
  ASSERT_TRUE(text) << text.error().message;
  size_t jumps = 0;
  for (size_t at = text->find("\tj"); at != text->npos; at = text->find("\tj", at + 1)) ++jumps;
  EXPECT_EQ(jumps, 2u) << *text;  // nothing to do, and again
}

}  // namespace
}  // namespace restride
