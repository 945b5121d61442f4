/* The C interface as a C11 program sees it. Returns the line where something went wrong, or 0. */
#include <string.h>

#include "restride/restride.h"

#define EXPECT(condition) \
  if (!(condition)) return __LINE__

struct threads {
  int calls;
};

static int concurrency(void* context) {
  (void)context;
  return 2;
}

static void parallel_for(void* context, int64_t n, void (*task)(void*, int64_t),
                         void* task_context) {
  ((struct threads*)context)->calls++;
  for (int64_t i = n; i-- > 0;) task(task_context, i);
}

static int from_text(void) {
  char message[100];
  restride_plan* plan = NULL;
  const float source[6] = {1, 2, 3, 4, 5, 6};
  const float expected[6] = {1, 4, 2, 5, 3, 6};
  float target[6] = {0};
  EXPECT(restride_plan_create("f32[2,3] -> f32[2,3]{0,1}", NULL, &plan, message, sizeof message) ==
         RESTRIDE_OK);
  EXPECT(message[0] == '\0');
  EXPECT(restride_plan_execute(plan, source, sizeof source, target, sizeof target, NULL, message,
                               sizeof message) == RESTRIDE_OK);
  EXPECT(memcmp(target, expected, sizeof target) == 0);

  restride_plan_info info = {sizeof info};
  EXPECT(restride_plan_get_info(plan, &info, NULL, 0) == RESTRIDE_OK);
  EXPECT(info.source_bytes == 24 && info.target_bytes == 24 && info.unit_count >= 1);
  EXPECT(strlen(info.signature) > 0 && strlen(info.backend) > 0 && strlen(info.target) > 0);
  restride_plan_destroy(plan);
  return 0;
}

static int with_own_cache_and_threads(void) {
  static char source[3000000], target[3000000];
  struct threads threads = {0};
  const restride_executor executor = {sizeof executor, &threads, concurrency, parallel_for};
  const restride_cache_options cache_options = {sizeof cache_options, 10, 0};
  restride_cache* cache = NULL;
  EXPECT(restride_cache_create(&cache_options, &cache, NULL, 0) == RESTRIDE_OK);
  restride_plan_options options = {sizeof options};
  options.backend = RESTRIDE_BACKEND_INTERPRETER;
  options.cache = cache;

  restride_plan* plan = NULL;
  EXPECT(restride_plan_create("u8[3000000] -> u8[3000000]", &options, &plan, NULL, 0) ==
         RESTRIDE_OK);
  memset(source, 7, sizeof source);
  EXPECT(restride_plan_execute(plan, source, sizeof source, target, sizeof target, &executor, NULL,
                               0) == RESTRIDE_OK);
  EXPECT(memcmp(source, target, sizeof source) == 0);
  EXPECT(threads.calls == 1);

  restride_cache_statistics statistics = {sizeof statistics};
  EXPECT(restride_cache_get_statistics(cache, &statistics, NULL, 0) == RESTRIDE_OK);
  EXPECT(statistics.entries == 1 && statistics.compiles == 1);
  restride_cache_clear(cache);
  EXPECT(restride_cache_get_statistics(cache, &statistics, NULL, 0) == RESTRIDE_OK);
  EXPECT(statistics.entries == 0);
  restride_cache_destroy(cache);
  restride_plan_destroy(plan);
  return 0;
}

int c_api_from_c(void) {
  const int line = from_text();
  return line != 0 ? line : with_own_cache_and_threads();
}
