// Description of an object -> its C header, for people who call the function without this library.
#include "plan/object_header.hpp"

#include <algorithm>

#include "target/features.hpp"

namespace restride {
namespace {

std::string upper(std::string_view symbol) {
  std::string text(symbol);
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

/// Text of a problem has no comment's end in it but where tiles are `*`, behind which stands no
/// slash; checked nonetheless.
std::string comment_text(std::string text) {
  for (size_t at = text.find("*/"); at != std::string::npos; at = text.find("*/", at)) {
    text.insert(at + 1, " ");
  }
  return text;
}

std::string operand_line(int64_t index, const restride_object_operand& operand) {
  constexpr const char* roles[] = {"target, written", "source, read",
                                   "scratch, one for every call that runs at the same time"};
  return " *   operands[" + std::to_string(index) + "]  " + roles[operand.role] + ": bytes [" +
         std::to_string(operand.begin) + ", " + std::to_string(operand.end) +
         ") of the pointer, which is aligned to " + std::to_string(operand.alignment) + '\n';
}

std::string calling_convention(const restride_object& object) {
  std::string text =
      " * Calling convention: that of C. `code` is not used and may be NULL. `operands` are\n";
  for (int64_t k = 0; k < object.operand_count; ++k) text += operand_line(k, object.operands[k]);
  text += " * Operands must not overlap. The work is " + std::to_string(object.unit_count) +
          " units; a call runs [first_unit, last_unit), where\n"
          " * 0 <= first_unit <= last_unit <= " +
          std::to_string(object.unit_count) +
          ". Disjoint ranges may run at the same time. Nothing is allocated, called or kept.\n";
  if (object.computes_floats != 0) {
    text +=
        " * Call it in the floating-point environment that C programs start with: rounding to\n"
        " * nearest, denormals kept.\n";
  }
  return text;
}

}  // namespace

std::string object_header(const Problem& problem, const restride_object& object,
                          std::string_view symbol) {
  const std::string name(symbol), macro = upper(symbol);
  const std::string features = to_string_of_features(object.required_features);
  std::string text = "/* " + name + ": " + comment_text(to_string(problem)) +
                     "\n * Compiled ahead of time for " + object.target +
                     ". Required features: " + features +
                     ".\n * On a machine without them it must not be called: restride_plan_load "
                     "(<restride/restride.h>) checks that, and\n * makes a plan of " +
                     name + "_object. To call the function without the library:\n *\n" +
                     calling_convention(object) + " */\n";
  text += "#ifndef " + macro + "_H_\n#define " + macro + "_H_\n\n#include <stdint.h>\n\n";
  text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  text += "#define " + macro + "_REQUIRED_FEATURES \"" + features + "\"\n";
  text += "#define " + macro + "_UNITS " + std::to_string(object.unit_count) + "\n\n";
  text += "void " + name +
          "(const void* code, void* const* operands, int64_t first_unit, int64_t last_unit);\n\n";
  text += "struct restride_object; /* <restride/object.h> */\n";
  text += "extern const struct restride_object " + name + "_object;\n\n";
  return text + "#ifdef __cplusplus\n} /* extern \"C\" */\n#endif\n\n#endif\n";
}

}  // namespace restride
