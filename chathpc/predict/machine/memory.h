/* Memory that kernels may touch (machine.h): part of the interpreter, and of what stands in for it in tests, which print what they are TOLD. */
#include "machine.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef TOLD
#define TOLD(...)
#endif

/* Registers hold integers and floats: each may be read as the other. */
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32 __attribute__((may_alias));
typedef uint64_t u64 __attribute__((may_alias));
typedef int32_t s32;
typedef int64_t s64;
typedef float real __attribute__((may_alias));

/* `finished`: the least part of a launch that writes there and was left, in the order of its blocks; `blank`: nobody has written there. */
struct allocation { u64 begin, end; u64 *read, *written; enum machine_space space; bool ours, blank; double finished; };
static struct allocation *allocations;
static u32 allocation_count, allocation_room;
static u64 device_used; /* bytes of the device's memory that were given */

/* The first allocation that ends behind an address. */
static u32 allocation_at(u64 address)
{
    u32 low = 0, high = allocation_count;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (allocations[middle].end <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

void machine_allocated(void *base, size_t bytes, enum machine_space space)
{
    u32 at = allocation_at((u64)base);
    TOLD("allocated %zu %d\n", bytes, space);
    if (!bytes) return;
    if (allocation_count == allocation_room) {
        allocation_room = allocation_room ? 2 * allocation_room : 64;
        allocations = realloc(allocations, allocation_room * sizeof *allocations);
    }
    memmove(allocations + at + 1, allocations + at, (allocation_count++ - at) * sizeof *allocations);
    allocations[at] = (struct allocation){(u64)base, (u64)base + bytes, NULL, NULL, space, false, false, 1};
}

static u64 whole_pages(u64 bytes) { return (bytes + 4095) & ~4095ull; }

/* Zero pages that take no room until they are touched; NULL if there are no more. They lie at the same addresses in every run, as these decide what
 * meets in the cache: one behind the other, as long as there is room. */
static void *pages(u64 bytes)
{
    static u64 next = 1ull << 45;
    void *wanted = (void *)next;
    next = next + bytes < 3ull << 45 ? next + whole_pages(bytes) + 4096 : 1ull << 45;
    void *base = mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

void *machine_new(size_t bytes, enum machine_space space)
{
    u64 mapped = whole_pages(bytes);
    bool fits = bytes && mapped >= bytes && (space != MACHINE_DEVICE || device_used + mapped <= machine_device()->memory_bytes);
    void *base = fits ? pages(mapped) : NULL;
    if (!base) return NULL;
    machine_allocated(base, bytes, space);
    allocations[allocation_at((u64)base)].ours = true;
    if (space == MACHINE_DEVICE) device_used += mapped;
    return base;
}

uint64_t machine_device_used(void) { return device_used; }

void machine_freed(void *base)
{
    u32 at = allocation_at((u64)base);
    if (at == allocation_count || allocations[at].begin != (u64)base) return;
    struct allocation *gone = &allocations[at];
    TOLD("freed\n");
    size_t mapped = whole_pages(gone->end - gone->begin);
    if (gone->ours) munmap(base, mapped), device_used -= gone->space == MACHINE_DEVICE ? mapped : 0;
    free(gone->read);
    free(gone->written);
    memmove(allocations + at, allocations + at + 1, (--allocation_count - at) * sizeof *allocations);
}

static inline struct allocation *allocation_of(u64 address)
{
    static u32 last;
    if (last >= allocation_count || address < allocations[last].begin || address >= allocations[last].end) {
        u32 at = allocation_at(address);
        if (at == allocation_count || allocations[at].begin > address) return NULL;
        last = at;
    }
    return allocations + last;
}

void machine_blank(const void *address, int blank)
{
    struct allocation *at = allocation_of((u64)address);
    if (at) at->blank = blank;
}

int machine_memory_at(const void *address, struct machine_memory *found)
{
    const struct allocation *at = allocation_of((u64)address);
    if (at) *found = (struct machine_memory){(char *)at->begin, at->end - at->begin, at->space, at->ours};
    return at != NULL;
}
