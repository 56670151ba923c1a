/* What the stand-ins for CUDA's runtime and driver tell the interpreter of machine code.
 *
 * A program is built as always, but linked with such a stand-in: its host part runs here as it is, device memory is memory
 * of the process at the same addresses, and a launched kernel is interpreted instruction by instruction (interpreter.c).
 */
#ifndef CHATHPC_MACHINE_H
#define CHATHPC_MACHINE_H

#include <stddef.h>
#include <stdint.h>

enum machine_space { MACHINE_DEVICE = 0, MACHINE_MAPPED = 1, MACHINE_MANAGED = 2 };

/* Memory that kernels may touch from now on, and no more. */
void machine_allocated(void *base, size_t bytes, enum machine_space space);
void machine_freed(void *base);

/* New memory that they may touch: zero pages that take no room until they are touched, and go with machine_freed. NULL if there is no more; of the
 * device's memory no more is given than it has. */
void *machine_new(size_t bytes, enum machine_space space);
uint64_t machine_device_used(void);

/* Whether nobody has written yet to the memory at an address; where nothing is said somebody has. */
void machine_blank(const void *address, int blank);

/* 1 if an address lies in memory that kernels may touch; `ours`: machine_new gave it. */
struct machine_memory { char *base; size_t bytes; enum machine_space space; int ours; };
int machine_memory_at(const void *address, struct machine_memory *found);

/* Address and size of a variable of the device code by its name there; NULL if it has none of that name. */
void *machine_variable(const char *name, size_t *bytes);

/* 1 if the device code has a kernel of that name; its attributes, as cudaFuncGetAttributes tells them. */
struct machine_kernel { uint32_t registers, static_shared, local, max_threads; };
int machine_kernel(const char *name, struct machine_kernel *found);

/* Interpret a launch. `arguments[i]` points to the value of parameter i, whose sizes the device code tells. Returns 0, or 1 if
 * the device code has no such kernel. Does not return if nothing that comes later is wanted. */
int machine_launch(const char *name, const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_shared,
                   void *const *arguments);

/* The device to be imitated, from the settings; defaults are those of an RTX 3080. */
struct machine_device {
    char name[128];
    uint32_t major, minor, multiprocessors, clock_khz, memory_clock_khz, bus_bits, l2_bytes, shared_per_block,
        shared_per_block_optin, shared_per_multiprocessor, registers_per_block, threads_per_multiprocessor,
        blocks_per_multiprocessor;
    uint64_t memory_bytes;
};
const struct machine_device *machine_device(void);

/* Something that the stand-in does not do was asked for: said once per name in the log, and among the assumptions. */
void machine_missing(const char *name);

/* A function of a runtime that is one of ours under another name. What a caller hands on behind the arguments that this one reads is nobody's
 * business (System V ABI), so prototypes, some of which differ from release to release, need not be repeated. */
#define AS_IT_IS_CALLED(name) #name
#define AS(ours, name) __asm__(".globl " AS_IT_IS_CALLED(name) "\n.set " AS_IT_IS_CALLED(name) ", " AS_IT_IS_CALLED(ours));
#endif
