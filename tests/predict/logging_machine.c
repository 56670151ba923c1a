/* In the place of the interpreter: prints each launch. A kernel's name tells its attributes: k_REGISTERS_SHARED_THREADS. */
#include <stdio.h>
#include <string.h>

#define TOLD(...) printf(__VA_ARGS__)
#include "memory.h"

static char variable[64];

void *machine_variable(const char *name, size_t *bytes) {
    if (!strstr(name, "variable")) return NULL;
    *bytes = sizeof variable;
    return variable;
}

int machine_kernel(const char *name, struct machine_kernel *found) {
    memset(found, 0, sizeof *found);
    found->registers = 32;
    sscanf(name, "k_%u_%u_%u", &found->registers, &found->static_shared, &found->max_threads);
    return !strstr(name, "unknown");
}

int machine_launch(const char *name, const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_shared,
                   void *const *arguments) {
    printf("launch %s %u,%u,%u %u,%u,%u %u", name, grid[0], grid[1], grid[2], block[0], block[1], block[2], dynamic_shared);
    if (strstr(name, "two")) printf(" (%d, %g)", *(int *)arguments[0], *(double *)arguments[1]);
    printf("\n");
    return 0;
}

const struct machine_device *machine_device(void) {
    static const struct machine_device device = {
        .name = "NVIDIA GeForce RTX 3080", .major = 8, .minor = 6, .multiprocessors = 68, .clock_khz = 1710000,
        .memory_clock_khz = 9501000, .bus_bits = 320, .l2_bytes = 5 << 20, .shared_per_block = 48 << 10,
        .shared_per_block_optin = 99 << 10, .shared_per_multiprocessor = 100 << 10, .registers_per_block = 65536,
        .threads_per_multiprocessor = 1536, .blocks_per_multiprocessor = 16, .memory_bytes = (uint64_t)10 << 30};
    return &device;
}

void machine_missing(const char *name) { printf("missing %s\n", name); }
