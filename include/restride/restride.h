/* The C interface of restride. C99 and later, C++ too.
 *
 * Every function that can fail returns a status and, if given room, leaves one line of text in
 * `message` (cut to `message_bytes` - 1 bytes and ended by a NUL; empty on success; message may be
 * NULL). No argument may crash the library: a NULL that is not allowed is
 * RESTRIDE_INVALID_ARGUMENT, and the message names it.
 *
 * Every struct begins with its size: set it to sizeof. A program compiled against an older header
 * passes a smaller one, and what it does not know gets its default, 0. One compiled against a newer
 * header may pass a larger one as long as what this library does not know is all 0.
 *
 * Handles may be used from any thread at the same time, but for the call that destroys them. */
#ifndef RESTRIDE_RESTRIDE_H_
#define RESTRIDE_RESTRIDE_H_

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define RESTRIDE_API
#else
#define RESTRIDE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum restride_status {
  RESTRIDE_OK = 0,
  RESTRIDE_INVALID_ARGUMENT = 1, /* the caller's fault: the message names the field and the value */
  RESTRIDE_UNSUPPORTED = 2,      /* well-formed, but not something this build or machine does */
  RESTRIDE_COMPILE_FAILED = 3,   /* a backend could not turn a valid program into code */
  RESTRIDE_RESOURCE_EXHAUSTED = 4 /* memory, code space or a limit set by the caller */
} restride_status;

typedef enum restride_element_type {
  RESTRIDE_PRED = 1,
  RESTRIDE_S1 = 2,
  RESTRIDE_S2 = 3,
  RESTRIDE_S4 = 4,
  RESTRIDE_S8 = 5,
  RESTRIDE_S16 = 6,
  RESTRIDE_S32 = 7,
  RESTRIDE_S64 = 8,
  RESTRIDE_U1 = 9,
  RESTRIDE_U2 = 10,
  RESTRIDE_U4 = 11,
  RESTRIDE_U8 = 12,
  RESTRIDE_U16 = 13,
  RESTRIDE_U32 = 14,
  RESTRIDE_U64 = 15,
  RESTRIDE_F16 = 16,
  RESTRIDE_BF16 = 17,
  RESTRIDE_F32 = 18,
  RESTRIDE_F64 = 19,
  RESTRIDE_F8E5M2 = 20,
  RESTRIDE_F8E4M3 = 21,
  RESTRIDE_F8E4M3FN = 22,
  RESTRIDE_F8E4M3B11FNUZ = 23,
  RESTRIDE_F8E3M4 = 24,
  RESTRIDE_F8E5M2FNUZ = 25,
  RESTRIDE_F8E4M3FNUZ = 26,
  RESTRIDE_F8E8M0FNU = 27,
  RESTRIDE_F4E2M1FN = 28,
  RESTRIDE_C64 = 29,
  RESTRIDE_C128 = 30
} restride_element_type;

/* Numbered as XLA's PaddingType. */
typedef enum restride_padding_value {
  RESTRIDE_INVALID_PAD = 0,
  RESTRIDE_ZERO_PAD = 1,
  RESTRIDE_ONE_PAD = 2,
  RESTRIDE_LOWEST_PAD = 3,
  RESTRIDE_HIGHEST_PAD = 4,
  RESTRIDE_UNKNOWN_PAD = 5
} restride_padding_value;

typedef enum restride_backend {
  RESTRIDE_BACKEND_AUTOMATIC = 0,
  RESTRIDE_BACKEND_INTERPRETER = 1,
  RESTRIDE_BACKEND_XBYAK = 2,
  RESTRIDE_BACKEND_LLVM = 3
} restride_backend;

/* ---- Caches ---- */

typedef struct restride_cache restride_cache;

typedef struct restride_cache_options {
  size_t struct_size;
  int64_t max_entries;    /* signatures kept; 0: the default */
  int64_t max_code_bytes; /* generated code kept; 0: the default */
} restride_cache_options;

typedef struct restride_cache_statistics {
  size_t struct_size; /* set before the call */
  int64_t hits;
  int64_t misses;
  int64_t compiles;
  int64_t failures;
  int64_t evictions;
  int64_t entries;
  int64_t code_bytes;
} restride_cache_statistics;

/* `options` may be NULL. */
RESTRIDE_API restride_status restride_cache_create(const restride_cache_options* options,
                                                   restride_cache** out, char* message,
                                                   size_t message_bytes);
/* Plans made through the cache stay valid. NULL is fine. */
RESTRIDE_API void restride_cache_destroy(restride_cache* cache);
/* Forgets everything. A NULL cache is the one of the process, here and below. */
RESTRIDE_API void restride_cache_clear(restride_cache* cache);
RESTRIDE_API restride_status restride_cache_get_statistics(const restride_cache* cache,
                                                           restride_cache_statistics* out,
                                                           char* message, size_t message_bytes);

/* ---- Plans ---- */

typedef struct restride_plan restride_plan;

typedef struct restride_plan_options {
  size_t struct_size;
  int backend;           /* restride_backend */
  const char* target;    /* NULL: the machine this runs on */
  restride_cache* cache; /* NULL: the one of the process; must outlive the call only */
  /* How a runtime lends a thread for kernels that take milliseconds to compile: has task(argument)
   * called once, now or later, on any thread; another backend serves until then. NULL: the call
   * waits for the kernels. */
  void (*background_run)(void* background_context, void (*task)(void* argument), void* argument);
  void* background_context;
  /* Not 0: the few likely plans are run on buffers of the library's own, and the fastest is kept;
   * for at most so many seconds, 0: a tenth of one. */
  int measure;
  double measure_seconds;
} restride_plan_options;

/* The most dimensions an array may have here, and the most tiles. */
#define RESTRIDE_MAX_RANK 64

/* An array as dimensions and a layout. Lists are `rank` long and indexed by dimension, unless said
 * otherwise; NULL leaves them out. */
typedef struct restride_array {
  size_t struct_size;
  int element_type;                    /* restride_element_type */
  int64_t rank;                        /* 0..RESTRIDE_MAX_RANK */
  const int64_t* dimensions;           /* sizes; may be NULL at rank 0 */
  const int64_t* minor_to_major;       /* fastest dimension first; NULL: row-major */
  const int64_t* padded_dimensions;    /* NULL: not padded */
  int padding_value;                   /* restride_padding_value: must be set, usually ZERO_PAD */
  int64_t tile_count;                  /* 0..RESTRIDE_MAX_RANK */
  const int64_t* tile_ranks;           /* `tile_count` lengths, each 0..RESTRIDE_MAX_RANK */
  const int64_t* tile_dimensions;      /* all tiles one after the other; negative: `*` */
  const int64_t* byte_strides;         /* NULL: the layout decides */
  int64_t broadcast_rank;              /* of a source: 0, or `rank` */
  const int64_t* broadcast_dimensions; /* of a source: the target dimension of each dimension */
} restride_array;

/* From text: "f32[2,3] -> f32[2,3]{0,1}". `options` may be NULL, here and below. */
RESTRIDE_API restride_status restride_plan_create(const char* problem,
                                                  const restride_plan_options* options,
                                                  restride_plan** out, char* message,
                                                  size_t message_bytes);

/* A relayout or broadcast of one array into another. */
RESTRIDE_API restride_status restride_plan_create_from_arrays(const restride_array* source,
                                                              const restride_array* target,
                                                              const restride_plan_options* options,
                                                              restride_plan** out, char* message,
                                                              size_t message_bytes);

/* A copy between two tensors of one shape. Both are `const DLTensor*` from <dlpack/dlpack.h>, whose
 * type has no name that could be declared here. Only what describes the tensors is read, not their
 * data. Needs tensors on the CPU with one lane. */
RESTRIDE_API restride_status restride_plan_create_from_dlpack(const void* source_tensor,
                                                              const void* target_tensor,
                                                              const restride_plan_options* options,
                                                              restride_plan** out, char* message,
                                                              size_t message_bytes);

/* A plan that runs a kernel which was compiled ahead of time, by `restride emit`, and linked into
 * this program. On a machine that lacks features which the kernel needs this is
 * RESTRIDE_UNSUPPORTED, and the message names them. */
struct restride_object; /* <restride/object.h> */
RESTRIDE_API restride_status restride_plan_load(const struct restride_object* object,
                                                restride_plan** out, char* message,
                                                size_t message_bytes);

/* NULL is fine. */
RESTRIDE_API void restride_plan_destroy(restride_plan* plan);

typedef struct restride_plan_info {
  size_t struct_size; /* set before the call */
  int64_t source_bytes;
  int64_t target_bytes;
  int64_t unit_count;
  int64_t code_bytes;
  double compile_seconds;
  const char* signature; /* these three live as long as the plan */
  const char* backend;
  const char* target;
  int64_t source_count; /* 2 for a binary operation, else 1; source_bytes is the first one's */
} restride_plan_info;

RESTRIDE_API restride_status restride_plan_get_info(const restride_plan* plan,
                                                    restride_plan_info* out, char* message,
                                                    size_t message_bytes);

/* The bytes of source `source` of a plan; 0 for a source that it does not have, or NULL. */
RESTRIDE_API int64_t restride_plan_source_bytes(const restride_plan* plan, int64_t source);

/* ---- Running ---- */

/* How a runtime lends its threads. parallel_for runs task(task_context, i) for every i in [0, n)
 * and returns when all are done. Both functions must be safe from any thread. */
typedef struct restride_executor {
  size_t struct_size;
  void* context; /* passed to both */
  int (*concurrency)(void* context);
  void (*parallel_for)(void* context, int64_t n, void (*task)(void* task_context, int64_t index),
                       void* task_context);
} restride_executor;

/* Runs a plan with one source on buffers of exactly source_bytes and target_bytes that do not
 * overlap. `executor` may be NULL: everything is done by the calling thread. */
RESTRIDE_API restride_status restride_plan_execute(const restride_plan* plan, const void* source,
                                                   size_t source_bytes, void* target,
                                                   size_t target_bytes,
                                                   const restride_executor* executor, char* message,
                                                   size_t message_bytes);

/* A buffer that a plan reads. */
typedef struct restride_source {
  const void* data;
  size_t bytes;
} restride_source;

/* The same with any number of sources, in the order of the problem: exactly as many as the plan
 * has. */
RESTRIDE_API restride_status restride_plan_execute_sources(
    const restride_plan* plan, const restride_source* sources, int64_t source_count, void* target,
    size_t target_bytes, const restride_executor* executor, char* message, size_t message_bytes);

/* Runs a plan made from tensors on tensors that are described as those were. */
RESTRIDE_API restride_status restride_plan_execute_dlpack(const restride_plan* plan,
                                                          const void* source_tensor,
                                                          const void* target_tensor,
                                                          const restride_executor* executor,
                                                          char* message, size_t message_bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RESTRIDE_RESTRIDE_H_ */
