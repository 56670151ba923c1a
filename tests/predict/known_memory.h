/* Memory of the stand-ins for the interpreter: what they were told of, in no order. */
#include "machine.h"

#include <stdlib.h>

#ifndef LOG
#define LOG(...) (void)0
#endif

static struct machine_memory known_memory[1 << 16];
static size_t known_count;
static uint64_t used;

void machine_allocated(void *base, size_t bytes, enum machine_space space) {
    LOG("allocated %zu %d\n", bytes, space);
    known_memory[known_count++] = (struct machine_memory){base, bytes, space, 0};
}

void *machine_new(size_t bytes, enum machine_space space) {
    uint64_t whole = (bytes + 4095) & ~(uint64_t)4095;
    if (!bytes || whole < bytes || (space == MACHINE_DEVICE && used + whole > machine_device()->memory_bytes)) return NULL;
    void *base = aligned_alloc(4096, whole);
    for (size_t i = 0; i < whole; i++) ((char *)base)[i] = 0;
    if (space == MACHINE_DEVICE) used += whole;
    machine_allocated(base, bytes, space);
    known_memory[known_count - 1].ours = 1;
    return base;
}

uint64_t machine_device_used(void) { return used; }

int machine_memory_at(const void *address, struct machine_memory *found) {
    for (size_t i = 0; i < known_count; i++)
        if ((size_t)((const char *)address - known_memory[i].base) < known_memory[i].bytes) {
            *found = known_memory[i];
            return 1;
        }
    return 0;
}

void machine_freed(void *base) {
    for (size_t i = 0; i < known_count; i++)
        if (known_memory[i].base == base) {
            LOG("freed\n");
            if (known_memory[i].ours) free(base);
            if (known_memory[i].space == MACHINE_DEVICE) used -= (known_memory[i].bytes + 4095) & ~(uint64_t)4095;
            known_memory[i] = known_memory[--known_count];
            return;
        }
}
