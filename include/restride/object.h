/* A kernel compiled ahead of time: what lies in a relocatable object that `restride emit` or
 * restride::emit_object wrote. Link the object, hand its description to restride_plan_load (or
 * Plan::load), and run the plan. The library's code generators are not needed for that.
 *
 * The object may also be called without this library: the header emitted with it says how. */
#ifndef RESTRIDE_OBJECT_H_
#define RESTRIDE_OBJECT_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RESTRIDE_OBJECT_MAGIC "restride"
#define RESTRIDE_OBJECT_VERSION 1
#define RESTRIDE_OBJECT_OPERANDS 8

/* Runs units [first_unit, last_unit). `code` is not used. `operands` holds a pointer for each
 * operand of the description, in its order. Disjoint ranges of units may run at the same time, each
 * with scratch of its own. */
typedef void (*restride_object_entry)(const void* code, void* const* operands, int64_t first_unit,
                                      int64_t last_unit);

typedef enum restride_operand_role {
  RESTRIDE_OPERAND_TARGET = 0,
  RESTRIDE_OPERAND_SOURCE = 1,
  RESTRIDE_OPERAND_SCRATCH = 2
} restride_operand_role;

/* A buffer: bytes [begin, end) relative to the pointer that is passed, which is a multiple of
 * `alignment`. */
typedef struct restride_object_operand {
  int64_t role; /* restride_operand_role */
  int64_t begin;
  int64_t end;
  int64_t alignment;
} restride_object_operand;

typedef struct restride_object {
  char magic[8];              /* RESTRIDE_OBJECT_MAGIC, without a NUL */
  int64_t version;            /* RESTRIDE_OBJECT_VERSION */
  uint64_t required_features; /* bits that only this library reads: restride_plan_load names those
                                 that are missing */
  int64_t unit_count;
  int64_t computes_floats; /* not 0: results depend on the floating-point environment */
  int64_t operand_count;   /* at most RESTRIDE_OBJECT_OPERANDS */
  restride_object_operand operands[RESTRIDE_OBJECT_OPERANDS];
  char target[32];     /* the machine it was compiled for; ends in a NUL, and so does: */
  char signature[256]; /* cut off where it is longer */
  restride_object_entry entry;
} restride_object;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RESTRIDE_OBJECT_H_ */
