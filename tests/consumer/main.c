/* Uses the installed package from C: a small transpose, checked. */
#include <restride/restride.h>
#include <stdio.h>

int main(void) {
  const float rows[6] = {1, 2, 3, 4, 5, 6};
  float columns[6] = {0};
  char message[256];
  restride_plan* plan = NULL;
  restride_status status =
      restride_plan_create("f32[2,3] -> f32[2,3]{0,1}", NULL, &plan, message, sizeof message);
  if (status == RESTRIDE_OK) {
    status = restride_plan_execute(plan, rows, sizeof rows, columns, sizeof columns, NULL, message,
                                   sizeof message);
  }
  restride_plan_destroy(plan);
  if (status != RESTRIDE_OK) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  return columns[1] == 4 && columns[2] == 2 ? 0 : 2;
}
