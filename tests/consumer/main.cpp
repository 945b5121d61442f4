// Uses the installed package as a stranger would: a small transpose, checked.
#include <restride/plan.hpp>

int main() {
  const float rows[6] = {1, 2, 3, 4, 5, 6};
  float columns[6] = {};
  const auto problem = restride::parse_problem("f32[2,3] -> f32[2,3]{0,1}");
  if (!problem) return 1;
  const auto plan = restride::Plan::create(*problem);
  if (!plan) return 2;
  plan->execute(rows, columns);
  return columns[1] == 4 && columns[2] == 2 ? 0 : 3;
}
