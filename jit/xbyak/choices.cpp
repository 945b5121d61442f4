// Choices between elements of four bytes. What a comparison chooses is noted in k7, with AVX2 in a
// register.
#include "xbyak/translator.hpp"

namespace restride::xbyak {

/// The register that notes what is chosen; with AVX-512 one that is not used.
const Translator::Register& Translator::chosen_register(const Hop& hop) {
  constexpr int width = 4;
  return numbered(family_ == Family::evex ? hop.to : temporary(), hop.count * width);
}

/// Signed.
void Translator::choose_greater(const Register& chosen, const Register& a, uint32_t than) {
  if (family_ == Family::evex) return vpcmpgtd(k7, a, constant(than, 4));
  vpcmpgtd(chosen, a, constant(than, 4));
}

void Translator::choose_equal(const Register& chosen, const Register& a, uint32_t value) {
  if (family_ == Family::evex) return vpcmpeqd(k7, a, constant(value, 4));
  vpcmpeqd(chosen, a, constant(value, 4));
}

void Translator::choose_nans(const Register& chosen, const Register& a) {
  constexpr uint8_t unordered = 3;
  if (family_ == Family::evex) return vcmpps(k7, a, a, unordered);
  vcmpps(chosen, a, a, unordered);
}

void Translator::take_chosen(const Register& to, const Register& from, const Register& chosen) {
  if (family_ == Family::evex) return vmovdqu32(to | k7, from);
  vblendvps(to, to, from, chosen);
}

void Translator::take_chosen(const Register& to, uint32_t value, const Register& chosen) {
  if (family_ == Family::evex) return vmovdqu32(to | k7, constant(value, 4));
  vblendvps(to, to, constant(value, 4, 1), chosen);
}

}  // namespace restride::xbyak
