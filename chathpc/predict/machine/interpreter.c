/* Interprets NVIDIA machine code (SASS), warp by warp, and counts what every instruction does.
 *
 * The code comes decoded from lowering.py (file "code" of the folder that CHATHPC_MACHINE names), what is wanted from the file
 * "settings"; results go to "launches". A launch is followed block by block in the order of the grid, so many at a time as the
 * device holds, as long as its time allows; then single blocks spread over the rest. Addresses are those of the process: every
 * access is looked up among the allocations. Below lies a model of the L2 cache: lines of 128 bytes in sectors of 32, sixteen ways,
 * least recently used, written back on eviction.
 *
 * Convergence is as on the hardware since Volta: BSSY names who meets at BSYNC; of groups that may go on the one with the
 * lowest address does.
 */
#define _GNU_SOURCE
#include "machine.h"

#include <fcntl.h>
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32 __attribute__((may_alias)); /* registers hold floats as well */
typedef uint64_t u64 __attribute__((may_alias));
typedef int32_t s32;
typedef int64_t s64;

enum operation {
#define OP(name) OP_##name,
#include "operations.h"
#undef OP
};

/* What lowering.py writes; both sides must agree. */
enum kind { K_NONE, K_REGISTER, K_UNIFORM, K_IMMEDIATE, K_CONSTANT, K_PREDICATE, K_UNIFORM_PREDICATE, K_BARRIER, K_PAIR };
enum { M_NEGATE = 1, M_ABSOLUTE = 2, M_INVERT = 4, M_LOW = 8, M_HIGH = 16, M_WIDE = 32, M_BYTE = 64 /* and 128: which byte */ };
enum { F_CARRY = 1, F_SIGNED = 2, F_HIGH = 4, F_WRAP = 8, F_LEFT = 16, F_LONG = 32, F_EXTEND = 64, F_UNIFORM = 128, F_BFLOAT = 1024,
       F_FLOAT = 2048, F_EX = 4096, F_ONES = 8192, F_SHIFT = 16384, F_SATURATE = 512, F_RETURNS = 32768, F_ABSOLUTE = 65536 };
enum { T_U8, T_S8, T_U16, T_S16, T_U32, T_S32, T_U64, T_S64, T_F16, T_F32, T_F64, T_BF16, T_S4, T_U4 };
enum { SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONSTANT, SPACE_GENERIC };

struct operand { u8 kind, modifiers; u16 index; u32 value; };
struct instruction {
    u16 operation; u8 guard, guard_not; u32 flags; u8 sub, sub2, type, width; s32 target;
    struct operand o[8];
};
_Static_assert(sizeof(struct instruction) == 80, "as lowering.py packs it");

struct parameter { u32 offset, size; };
struct kernel {
    char *name; u32 entry, registers, shared, local, parameter_base, parameter_count, max_threads, module;
    struct parameter *parameters;
};
struct variable { char *name; u64 size; u8 *memory; u32 module; };
struct module { u32 first, count; u8 *banks[8]; u32 bank_bytes[8]; };

static struct instruction *code;
static u32 code_count;
static struct kernel *kernels;
static u32 kernel_count;
static struct variable *variables;
static u32 variable_count;
static struct module *modules;
static u32 module_count;

/* ------------------------------------------------------------------------------------------------ allocations */

struct allocation { u64 begin, end; u64 *read, *written; enum machine_space space; };
static struct allocation *allocations;
static u32 allocation_count, allocation_room;

void machine_allocated(void *base, size_t bytes, enum machine_space space)
{
    u64 begin = (u64)base;
    u32 at = 0;
    if (!bytes) return;
    if (allocation_count == allocation_room) {
        allocation_room = allocation_room ? 2 * allocation_room : 64;
        allocations = realloc(allocations, allocation_room * sizeof *allocations);
    }
    while (at < allocation_count && allocations[at].begin < begin) at++;
    memmove(allocations + at + 1, allocations + at, (allocation_count - at) * sizeof *allocations);
    allocations[at] = (struct allocation){begin, begin + bytes, NULL, NULL, space};
    allocation_count++;
}

void machine_freed(void *base)
{
    for (u32 at = 0; at < allocation_count; at++)
        if (allocations[at].begin == (u64)base) {
            free(allocations[at].read);
            free(allocations[at].written);
            memmove(allocations + at, allocations + at + 1, (allocation_count - at - 1) * sizeof *allocations);
            allocation_count--;
            return;
        }
}

static struct allocation *allocation_of(u64 address)
{
    static u32 last;
    if (last < allocation_count && allocations[last].begin <= address && address < allocations[last].end) return allocations + last;
    u32 low = 0, high = allocation_count;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (allocations[middle].end <= address) low = middle + 1;
        else high = middle;
    }
    if (low < allocation_count && allocations[low].begin <= address) return last = low, allocations + low;
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ the L2 cache */

#define WAYS 16
struct line { u64 tag; u32 used; u8 valid, dirty; };
static struct line *cache;
static u32 cache_sets, cache_time;
static u64 dram_read, dram_written, mapped_read, mapped_written, sectors_read, sectors_written; /* in sectors */
static u64 footprint_read, footprint_written;

/* An empty cache of that size. */
static void cache_sized(u64 bytes)
{
    cache_sets = (u32)(bytes / (128 * WAYS));
    if (cache_sets < 1) cache_sets = 1;
    free(cache);
    cache = calloc((size_t)cache_sets * WAYS, sizeof *cache);
    cache_time = 0;
}

static void cache_cold(u64 bytes)
{
    cache_sized(bytes);
    dram_read = dram_written = mapped_read = mapped_written = sectors_read = sectors_written = 0;
    footprint_read = footprint_written = 0;
    for (u32 i = 0; i < allocation_count; i++) {
        free(allocations[i].read);
        free(allocations[i].written);
        allocations[i].read = allocations[i].written = NULL;
    }
}

/* One sector is read or written; true if it was in the cache. */
static bool cache_access(u64 sector, bool write)
{
    u64 tag = (sector >> 2) + 1;
    u32 set = (u32)(((tag * 0x9E3779B97F4A7C15ull) >> 32) * (u64)cache_sets >> 32);
    struct line *lines = cache + (size_t)set * WAYS, *victim = lines;
    u8 bit = (u8)(1 << (sector & 3));
    cache_time++;
    for (int way = 0; way < WAYS; way++) {
        struct line *line = lines + way;
        if (line->tag == tag) {
            bool hit = line->valid & bit;
            line->used = cache_time;
            line->valid |= bit;
            if (write) line->dirty |= bit;
            return hit;
        }
        if (line->used < victim->used) victim = line;
    }
    dram_written += (u64)__builtin_popcount(victim->dirty);
    *victim = (struct line){tag, cache_time, bit, write ? bit : 0};
    return false;
}

static void touch(u64 sector, bool write, bool atomic)
{
    struct allocation *at = allocation_of(sector << 5);
    if (!at) at = allocation_of((sector << 5) + 31);
    if (write) sectors_written++;
    else sectors_read++;
    if (at) {
        u64 number = sector - (at->begin >> 5), **bits = write ? &at->written : &at->read;
        if (!*bits) *bits = calloc(((at->end - at->begin) >> 11) + 2, 8);
        if (!((*bits)[number >> 6] >> (number & 63) & 1)) {
            (*bits)[number >> 6] |= 1ull << (number & 63);
            if (write) footprint_written++;
            else footprint_read++;
        }
        if (at->space == MACHINE_MAPPED) {
            if (write) mapped_written++;
            else mapped_read++;
            return;
        }
    }
    if (!cache_access(sector, write) && (!write || atomic)) dram_read++;
}

/* ------------------------------------------------------------------------------------------------ warps and blocks */

#define NO_BARRIER 255
enum { READY, AT_CONVERGENCE, AT_WARPSYNC };
struct group { u32 mask, pc; u8 state, barrier; u32 wanted; };
struct warp {
    u32 *registers; /* [rows][32]; row `zero` holds RZ, the next takes what nobody reads */
    u32 predicates[8], uniform[64], uniform_predicates[8], barriers[16];
    struct group groups[32];
    u32 group_count, live, index;
    u8 *local;
    bool waits, upper;
    u8 waits_at, reduces, starved;
    u32 highest;
    u64 steps;
};
struct block {
    u32 x, y, z, number, warp_count, threads, slot;
    struct warp *warps;
    u8 *shared;
    u32 shared_bytes;
    u32 arrived[16], expected[16], reduced[16], came[16];
    u32 result;
    bool all;
    bool done;
    u64 steps;
};

static u64 *count_warps, *count_threads, *count_sectors, *count_passes;
static u32 rows, zero_row, local_bytes;
static u8 constants[0x160 + 8192];
static u32 grid_[3], block_[3];
static struct module *module;
static u64 faults, unknown_operations, steps, longest;
static u32 current_pc;

#define SHARED_WINDOW 0x0001000000000000ull
#define LOCAL_WINDOW 0x0002000000000000ull
#define WINDOW 0x0000000001000000ull
#define STARVED 4 /* turns of a group that waits for those behind it; then it has FAIR instructions */
#define FAIR 64
#define HEAP (1ull << 32) /* of device malloc: addresses, not memory */
#define LANES for (int l = 0; l < 32; l++)
typedef u32 row[32] __attribute__((aligned(64)));

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* a busy machine shall not shorten what is followed */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline u32 *row_of(struct warp *w, u32 index) { return w->registers + 32u * (index >= zero_row ? zero_row : index); }
static inline u32 float_bits(float x) { u32 v; memcpy(&v, &x, 4); return v; }
static inline float bits_float(u32 x) { float v; memcpy(&v, &x, 4); return v; }
static inline u64 double_bits(double x) { u64 v; memcpy(&v, &x, 8); return v; }
static inline double bits_double(u64 x) { double v; memcpy(&v, &x, 8); return v; }
static inline float half_float(u16 x) { _Float16 v; memcpy(&v, &x, 2); return (float)v; }
static inline u16 float_half(float x) { if (x != x) return 0x7fff; _Float16 v = (_Float16)x; u16 r; memcpy(&r, &v, 2); return r; }
static inline float bf_float(u16 x) { return bits_float((u32)x << 16); }
static inline u16 float_bf(float x)
{
    u32 v = float_bits(x);
    if (x != x) return 0x7fff;
    return (u16)((v + 0x7fff + (v >> 16 & 1)) >> 16);
}

static u32 constant32(const struct operand *o, u32 offset)
{
    u32 bank = o->index, v = 0;
    if (bank == 0) {
        if (offset + 4 <= sizeof constants) memcpy(&v, constants + offset, 4);
    } else if (bank < 8 && module->banks[bank] && offset + 4 <= module->bank_bytes[bank]) memcpy(&v, module->banks[bank] + offset, 4);
    return v;
}

static inline u32 scalar(struct warp *w, const struct operand *o)
{
    switch (o->kind) {
    case K_UNIFORM: return o->index < 63 ? w->uniform[o->index] : 0;
    case K_IMMEDIATE: return o->value;
    case K_CONSTANT: return constant32(o, o->value);
    default: return 0;
    }
}

/* The 32 values of an operand, as integers: `buffer` is used where they are not a register as it stands. */
static const u32 *source(struct warp *w, const struct operand *o, u32 *buffer)
{
    const u32 *found;
    if (o->kind == K_REGISTER) {
        found = row_of(w, o->index);
        if (!(o->modifiers & (M_NEGATE | M_ABSOLUTE | M_INVERT | M_BYTE))) return found;
    } else {
        u32 v = scalar(w, o);
        LANES buffer[l] = v;
        found = buffer;
        if (!o->modifiers) return found;
    }
    if (o->modifiers & M_BYTE) {
        int shift = 8 * (o->modifiers >> 7) + 16 * !!(o->modifiers & M_HIGH);
        LANES buffer[l] = found[l] >> shift;
        return buffer;
    }
    if (o->modifiers & M_INVERT) LANES buffer[l] = ~found[l];
    else if (o->modifiers & M_NEGATE) LANES buffer[l] = -found[l];
    else LANES buffer[l] = found[l];
    return buffer;
}

static const float *source_float(struct warp *w, const struct operand *o, float *buffer)
{
    u32 *into = (u32 *)buffer;
    const u32 *found;
    if (o->kind == K_REGISTER) {
        found = row_of(w, o->index);
        if (!(o->modifiers & (M_NEGATE | M_ABSOLUTE))) return (const float *)found;
    } else {
        u32 v = scalar(w, o);
        LANES into[l] = v;
        found = into;
    }
    u32 clear = o->modifiers & M_ABSOLUTE ? 0x7fffffffu : ~0u, flip = o->modifiers & M_NEGATE ? 0x80000000u : 0;
    LANES into[l] = (found[l] & clear) ^ flip;
    return buffer;
}

static void source64(struct warp *w, const struct operand *o, u64 *into)
{
    switch (o->kind) {
    case K_REGISTER: {
        const u32 *low = row_of(w, o->index), *high = row_of(w, o->index >= zero_row ? o->index : o->index + 1u);
        LANES into[l] = (u64)high[l] << 32 | low[l];
        break;
    }
    case K_UNIFORM: {
        u64 v = o->index < 62 ? (u64)w->uniform[o->index + 1] << 32 | w->uniform[o->index] : 0;
        LANES into[l] = v;
        break;
    }
    case K_CONSTANT: {
        u64 v = (u64)constant32(o, o->value + 4) << 32 | constant32(o, o->value);
        LANES into[l] = v;
        break;
    }
    default: LANES into[l] = o->modifiers & M_WIDE ? (u64)o->value << 32 : (u64)(s64)(s32)o->value;
    }
}

static void source_double(struct warp *w, const struct operand *o, double *into)
{
    u64 *bits = (u64 *)into;
    source64(w, o, bits);
    u64 clear = o->modifiers & M_ABSOLUTE ? ~(1ull << 63) : ~0ull, flip = o->modifiers & M_NEGATE ? 1ull << 63 : 0;
    LANES bits[l] = (bits[l] & clear) ^ flip;
}

/* Two halves of each of 32 values, as floats. */
static void source_halves(struct warp *w, const struct operand *o, bool bfloat, float *low, float *high)
{
    row buffer;
    struct operand plain = *o;
    plain.modifiers = 0;
    const u32 *v = source(w, &plain, buffer);
    LANES {
        u16 first = (u16)v[l], second = (u16)(v[l] >> 16);
        if (o->modifiers & M_LOW) second = first;
        if (o->modifiers & M_HIGH) first = second;
        low[l] = bfloat ? bf_float(first) : half_float(first);
        high[l] = bfloat ? bf_float(second) : half_float(second);
        if (o->modifiers & M_ABSOLUTE) low[l] = fabsf(low[l]), high[l] = fabsf(high[l]);
        if (o->modifiers & M_NEGATE) low[l] = -low[l], high[l] = -high[l];
    }
}

static inline u32 predicate(struct warp *w, const struct operand *o)
{
    u32 v = ~0u;
    if (o->kind == K_PREDICATE) v = w->predicates[o->index & 7];
    else if (o->kind == K_UNIFORM_PREDICATE) v = w->uniform_predicates[o->index & 7];
    else if (o->kind == K_NONE) return 0;
    return o->modifiers & M_INVERT ? ~v : v;
}

static inline void set_predicate(struct warp *w, const struct operand *o, u32 value, u32 mask)
{
    if (o->kind == K_NONE || o->index >= 7) return;
    if (o->kind == K_UNIFORM_PREDICATE) w->uniform_predicates[o->index] = mask && value >> __builtin_ctz(mask) & 1 ? ~0u : 0;
    else w->predicates[o->index] = (w->predicates[o->index] & ~mask) | (value & mask);
}

static inline void put(struct warp *w, const struct operand *o, const u32 *value, u32 mask)
{
    if (o->kind == K_UNIFORM) {
        if (o->index < 63 && mask) w->uniform[o->index] = value[__builtin_ctz(mask)];
        return;
    }
    if (o->kind != K_REGISTER || o->index >= zero_row) return;
    u32 *to = w->registers + 32u * o->index;
    if (mask == ~0u) {
        LANES to[l] = value[l];
        return;
    }
    LANES {
        u32 on = -(mask >> l & 1);
        to[l] = (value[l] & on) | (to[l] & ~on);
    }
}

static void put_next(struct warp *w, const struct operand *o, int further, const u32 *value, u32 mask)
{
    struct operand next = *o;
    if (o->kind == K_REGISTER && o->index >= zero_row) return;
    next.index = (u16)(next.index + further);
    put(w, &next, value, mask);
}

static void put64(struct warp *w, const struct operand *o, const u64 *value, u32 mask)
{
    row half;
    LANES half[l] = (u32)value[l];
    put(w, o, half, mask);
    LANES half[l] = (u32)(value[l] >> 32);
    put_next(w, o, 1, half, mask);
}

static void put_float(struct warp *w, const struct operand *o, const float *value, u32 mask) { put(w, o, (const u32 *)value, mask); }

enum { CMP_F, CMP_LT, CMP_EQ, CMP_LE, CMP_GT, CMP_NE, CMP_GE, CMP_NUM, CMP_NAN, CMP_LTU, CMP_EQU, CMP_LEU, CMP_GTU, CMP_NEU,
       CMP_GEU, CMP_T, CMP_MAX, CMP_MIN };
#define COMPARED(type)                                                                                                        \
    static inline bool compared_##type(int how, type a, type b)                                                              \
    {                                                                                                                         \
        switch (how) {                                                                                                        \
        case CMP_LT: return a < b;                                                                                            \
        case CMP_EQ: return a == b;                                                                                           \
        case CMP_LE: return a <= b;                                                                                           \
        case CMP_GT: return a > b;                                                                                            \
        case CMP_NE: return a < b || a > b;                                                                                   \
        case CMP_GE: return a >= b;                                                                                           \
        case CMP_NUM: return a == a && b == b;                                                                                \
        case CMP_NAN: return a != a || b != b;                                                                                \
        case CMP_LTU: return !(a >= b);                                                                                       \
        case CMP_EQU: return !(a < b || a > b);                                                                               \
        case CMP_LEU: return !(a > b);                                                                                        \
        case CMP_GTU: return !(a <= b);                                                                                       \
        case CMP_NEU: return !(a == b);                                                                                       \
        case CMP_GEU: return !(a < b);                                                                                        \
        case CMP_T: return true;                                                                                              \
        case CMP_MAX: return a > b || b != b;                                                                                 \
        case CMP_MIN: return a < b || b != b;                                                                                 \
        default: return false;                                                                                                \
        }                                                                                                                     \
    }
COMPARED(float)
COMPARED(double)
COMPARED(s32)
COMPARED(u32)

static inline u32 combined(int how, u32 a, u32 b) { return how == 0 ? a & b : how == 1 ? a | b : a ^ b; }

/* Comparisons give a predicate and, for the second result, its contrary. */
static void set_compared(struct warp *w, const struct instruction *i, u32 found, u32 unordered, u32 mask)
{
    u32 with = predicate(w, &i->o[4]);
    if (i->o[4].kind == K_NONE) with = ~0u;
    u32 second = i->sub == CMP_MAX || i->sub == CMP_MIN ? unordered : ~found;
    u32 first_value = combined(i->sub2, found, with), second_value = combined(i->sub2, second, with);
    set_predicate(w, &i->o[0], first_value, mask);
    set_predicate(w, &i->o[1], second_value, mask);
}

enum { ROUND_NEAREST, ROUND_UP, ROUND_DOWN, ROUND_ZERO };
static __attribute__((noinline)) void round_to(int how)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    fesetround(modes[how & 3]);
}
/* What is in an array is there, and the compiler moves no operation on it to the other side. */
#define BARRIER(array) __asm__ volatile("" : "+m"(array) : : "memory")
static inline float rounded(double exact, int how)
{
    float r = (float)exact;
    if (how == ROUND_NEAREST || (double)r == exact || exact != exact) return r;
    bool above = (double)r > exact;
    if (how == ROUND_UP) return above ? r : nextafterf(r, INFINITY);
    if (how == ROUND_DOWN) return above ? nextafterf(r, -INFINITY) : r;
    return (exact > 0) == above ? nextafterf(r, 0) : r;
}

/* ------------------------------------------------------------------------------------------------ memory */

static void addresses(struct warp *w, const struct instruction *i, u64 *into)
{
    /* o[1]: register (M_WIDE: a pair; value: shift), o[2]: uniform register, o[3]: offset */
    u64 base = (u64)(s64)(s32)i->o[3].value;
    if (i->o[2].kind == K_UNIFORM && i->o[2].index < 63)
        base += i->o[2].modifiers & M_WIDE ? (u64)w->uniform[i->o[2].index + 1] << 32 | w->uniform[i->o[2].index] : w->uniform[i->o[2].index];
    if (i->o[1].kind != K_REGISTER || i->o[1].index >= zero_row) {
        LANES into[l] = base;
        return;
    }
    const u32 *low = row_of(w, i->o[1].index);
    if (i->o[1].modifiers & M_WIDE) {
        const u32 *high = row_of(w, i->o[1].index + 1u);
        LANES into[l] = base + ((u64)high[l] << 32 | low[l]);
    } else {
        u32 shift = i->o[1].value;
        LANES into[l] = base + ((u64)low[l] << shift);
    }
    if (i->sub2 == SPACE_SHARED || i->sub2 == SPACE_LOCAL)
        LANES into[l] &= 0xffffffffu;
}

/* Where lane l of the warp finds `bytes` at an address; NULL if that is nobody's memory. */
static inline u8 *memory_at(struct block *b, struct warp *w, int space, u64 address, u32 bytes, int l)
{
    if (space == SPACE_GENERIC) {
        if (address - SHARED_WINDOW < WINDOW) address -= SHARED_WINDOW, space = SPACE_SHARED;
        else if (address - LOCAL_WINDOW < WINDOW) address -= LOCAL_WINDOW, space = SPACE_LOCAL;
        else space = SPACE_GLOBAL;
    }
    if (space == SPACE_SHARED) return address + bytes <= b->shared_bytes ? b->shared + address : NULL;
    if (space == SPACE_LOCAL) return address + bytes <= local_bytes ? w->local + (u64)local_bytes * (u32)l + address : NULL;
    struct allocation *at = allocation_of(address);
    return at && address + bytes <= at->end ? (u8 *)address : NULL;
}

/* Count the sectors (global) or passes (shared memory, 32 banks of four bytes) that a request takes. */
static void request(struct block *b, struct warp *w, int space, const u64 *address, u32 bytes, u32 mask, bool write, bool atomic)
{
    u64 seen[128];
    u32 count = 0;
    if (!mask) return;
    if (space == SPACE_GENERIC) {
        u64 one = address[__builtin_ctz(mask)];
        space = one - SHARED_WINDOW < WINDOW ? SPACE_SHARED : one - LOCAL_WINDOW < WINDOW ? SPACE_LOCAL : SPACE_GLOBAL;
    }
    if (space == SPACE_GLOBAL) {
        u64 highest = 0;
        LANES if (mask >> l & 1) {
            u64 first = address[l] >> 5, last = (address[l] + bytes - 1) >> 5;
            for (u64 sector = first; sector <= last; sector++) {
                u32 k = 0;
                if (count && sector <= highest)
                    for (k = count; k && seen[k - 1] != sector;) k--;
                if (!k && count < 128) seen[count++] = sector;
                if (sector > highest) highest = sector;
            }
        }
        for (u32 k = 0; k < count; k++) touch(seen[k], write, atomic);
        count_sectors[current_pc] += count;
    } else if (space == SPACE_SHARED) {
        u64 word_of[32];
        u32 taken = 0, words = bytes > 4 ? bytes / 4 : 1, most = 1;
        bool conflicts = false;
        LANES if (mask >> l & 1) {
            /* requests of 8 or 16 bytes go in two or four parts */
            u64 word = address[l] >> 2;
            u32 bank = (u32)(word / words) & 31;
            if (!(taken >> bank & 1)) taken |= 1u << bank, word_of[bank] = word;
            else if (word_of[bank] != word) conflicts = true;
        }
        if (conflicts) {
            u8 uses[32] = {0};
            LANES if (mask >> l & 1) {
                u64 word = address[l] >> 2;
                u32 k = count;
                while (k && seen[k - 1] != word) k--;
                if (!k) {
                    seen[count++] = word;
                    u8 used = ++uses[(word / words) & 31];
                    if (used > most) most = used;
                }
            }
        }
        count_passes[current_pc] += most > words ? most : words;
    } else if (space == SPACE_LOCAL) {
        /* the hardware interleaves a thread's own memory: one word of all lanes lies in one line */
        LANES if (mask >> l & 1) {
            u64 line = address[l] >> 2;
            u32 k = count;
            while (k && seen[k - 1] != line) k--;
            if (!k) seen[count++] = line;
        }
        u64 base = (1ull << 52) + (((u64)b->slot * 32 + w->index) * (local_bytes / 4)) * 4;
        for (u32 k = 0; k < count; k++)
            for (u32 part = 0; part < 4; part++)
                if (mask >> (8 * part) & 0xff) {
                    if (!cache_access(base + seen[k] * 4 + part, write) && !write) dram_read++;
                    count_sectors[current_pc]++;
                }
    }
}

static void load(struct block *b, struct warp *w, const struct instruction *i, u32 mask)
{
    u64 at[32];
    u32 got[4][32];
    u32 bytes = i->width;
    addresses(w, i, at);
    request(b, w, i->sub2, at, bytes, mask, false, false);
    LANES {
        if (!(mask >> l & 1)) continue;
        u8 *from = memory_at(b, w, i->sub2, at[l], bytes, l);
        u32 v[4] = {0, 0, 0, 0};
        if (!from) faults++;
        else switch (i->type) {
        case T_U8: v[0] = *from; break;
        case T_S8: v[0] = (u32)(s32)(int8_t)*from; break;
        case T_U16: { u16 x; memcpy(&x, from, 2); v[0] = x; break; }
        case T_S16: { int16_t x; memcpy(&x, from, 2); v[0] = (u32)(s32)x; break; }
        default: memcpy(v, from, bytes);
        }
        for (u32 k = 0; k < (bytes + 3) / 4; k++) got[k][l] = v[k];
    }
    for (u32 k = 0; k < (bytes + 3) / 4; k++) put_next(w, &i->o[0], (int)k, got[k], mask);
}

static void store(struct block *b, struct warp *w, const struct instruction *i, u32 mask)
{
    u64 at[32];
    u32 bytes = i->width;
    row buffers[4];
    const u32 *from[4];
    addresses(w, i, at);
    request(b, w, i->sub2, at, bytes, mask, true, false);
    for (u32 k = 0; k < (bytes + 3) / 4; k++) {
        struct operand part = i->o[0];
        if ((part.kind == K_REGISTER && part.index < zero_row) || part.kind == K_UNIFORM) part.index = (u16)(part.index + k);
        from[k] = source(w, &part, buffers[k]);
    }
    LANES {
        if (!(mask >> l & 1)) continue;
        u8 *to = memory_at(b, w, i->sub2, at[l], bytes, l);
        u32 v[4];
        if (!to) {
            faults++;
            continue;
        }
        for (u32 k = 0; k < (bytes + 3) / 4; k++) v[k] = from[k][l];
        memcpy(to, v, bytes);
    }
}

enum { A_ADD, A_MIN, A_MAX, A_INC, A_DEC, A_AND, A_OR, A_XOR, A_EXCH, A_CAS, A_CAST, A_POPC };

static u64 atomic_value(int how, int type, u64 old, u64 a, u64 c)
{
    switch (how) {
    case A_EXCH: return a;
    case A_CAS: case A_CAST: return old == a ? c : old;
    case A_AND: return old & a;
    case A_OR: return old | a;
    case A_XOR: return old ^ a;
    case A_INC: return (u32)old >= (u32)a ? 0 : (u32)old + 1;
    case A_DEC: return !(u32)old || (u32)old > (u32)a ? (u32)a : (u32)old - 1;
    case A_POPC: return (u32)old + 1;
    default: break;
    }
    bool lesser = how == A_MIN;
    switch (type) {
    case T_F32: {
        float x = bits_float((u32)old), y = bits_float((u32)a);
        return float_bits(how == A_ADD ? x + y : lesser ? fminf(x, y) : fmaxf(x, y));
    }
    case T_F64: {
        double x = bits_double(old), y = bits_double(a);
        return double_bits(how == A_ADD ? x + y : lesser ? fmin(x, y) : fmax(x, y));
    }
    case T_F16: case T_BF16: {
        u32 r = 0;
        for (int part = 0; part < 32; part += 16) {
            u16 x = (u16)(old >> part), y = (u16)(a >> part);
            u16 z = type == T_F16 ? float_half(half_float(x) + half_float(y)) : float_bf(bf_float(x) + bf_float(y));
            r |= (u32)z << part;
        }
        return r;
    }
    case T_S32: return how == A_ADD ? (u32)((u32)old + (u32)a) : (u32)(lesser ? ((s32)old < (s32)a ? old : a) : ((s32)old > (s32)a ? old : a));
    case T_S64: return how == A_ADD ? old + a : (lesser ? ((s64)old < (s64)a ? old : a) : ((s64)old > (s64)a ? old : a));
    case T_U64: return how == A_ADD ? old + a : (lesser ? (old < a ? old : a) : (old > a ? old : a));
    default: return how == A_ADD ? (u32)((u32)old + (u32)a) : (lesser ? ((u32)old < (u32)a ? (u32)old : (u32)a) : ((u32)old > (u32)a ? (u32)old : (u32)a));
    }
}

static void atomic(struct block *b, struct warp *w, const struct instruction *i, u32 mask)
{
    /* o[0]: result, o[4]: predicate, o[5]: value, o[6]: second value */
    u64 at[32], a[32], c[32], got[32];
    u32 bytes = i->width;
    row first, second;
    addresses(w, i, at);
    request(b, w, i->sub2, at, bytes, mask, false, true);
    request(b, w, i->sub2, at, bytes, mask, true, true);
    if (bytes == 8) {
        source64(w, &i->o[5], a);
        source64(w, &i->o[6], c);
    } else {
        const u32 *x = source(w, &i->o[5], first), *y = source(w, &i->o[6], second);
        LANES a[l] = x[l], c[l] = y[l];
    }
    LANES {
        got[l] = 0;
        if (!(mask >> l & 1)) continue;
        u8 *to = memory_at(b, w, i->sub2, at[l], bytes, l);
        u64 old = 0;
        if (!to) {
            faults++;
            continue;
        }
        memcpy(&old, to, bytes);
        u64 new = atomic_value(i->sub, i->type, old, a[l], c[l]);
        memcpy(to, &new, bytes);
        got[l] = i->sub == A_CAST ? (old == a[l]) : old;
    }
    if (bytes == 8 && i->sub != A_CAST) put64(w, &i->o[0], got, mask);
    else {
        row low;
        LANES low[l] = (u32)got[l];
        put(w, &i->o[0], low, mask);
    }
    set_predicate(w, &i->o[4], ~0u, mask);
}

/* ------------------------------------------------------------------------------------------------ instructions */

enum { BAR_SYNC, BAR_ARRIVE, BAR_POPC, BAR_AND, BAR_OR };

enum { SR_TID_X, SR_TID_Y, SR_TID_Z, SR_CTAID_X, SR_CTAID_Y, SR_CTAID_Z, SR_LANEID, SR_CLOCK, SR_EQMASK, SR_LTMASK, SR_LEMASK,
       SR_GTMASK, SR_GEMASK, SR_ZERO, SR_SMID, SR_WARPID, SR_NCTAID_X, SR_SWINHI, SR_LWINHI, SR_TID };

static u32 special(struct block *b, struct warp *w, u32 which, int l)
{
    u32 thread = w->index * 32 + (u32)l;
    switch (which) {
    case SR_TID_X: return thread % block_[0];
    case SR_TID_Y: return thread / block_[0] % block_[1];
    case SR_TID_Z: return thread / (block_[0] * block_[1]);
    case SR_TID: return thread % block_[0] | thread / block_[0] % block_[1] << 16 | thread / (block_[0] * block_[1]) << 26;
    case SR_CTAID_X: return b->x;
    case SR_CTAID_Y: return b->y;
    case SR_CTAID_Z: return b->z;
    case SR_LANEID: return (u32)l;
    case SR_CLOCK: return (u32)(w->steps * 4);
    case SR_EQMASK: return 1u << l;
    case SR_LTMASK: return (1u << l) - 1;
    case SR_LEMASK: return (2u << l) - 1;
    case SR_GTMASK: return ~((2u << l) - 1);
    case SR_GEMASK: return ~((1u << l) - 1);
    case SR_SMID: return b->slot % machine_device()->multiprocessors;
    case SR_WARPID: return w->index;
    case SR_SWINHI: return (u32)(SHARED_WINDOW >> 32);
    case SR_LWINHI: return (u32)(LOCAL_WINDOW >> 32);
    default: return 0;
    }
}

static inline u32 permuted(u32 a, u32 selector, u32 c)
{
    u64 both = (u64)c << 32 | a;
    u32 r = 0;
    for (int k = 0; k < 4; k++) {
        u32 pick = selector >> (4 * k) & 15;
        u8 byte = (u8)(both >> (8 * (pick & 7)));
        if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
        r |= (u32)byte << (8 * k);
    }
    return r;
}

enum { MUFU_RCP, MUFU_RSQ, MUFU_SQRT, MUFU_EX2, MUFU_LG2, MUFU_SIN, MUFU_COS, MUFU_TANH, MUFU_RCP64H, MUFU_RSQ64H };
static inline float special_function(int which, float x)
{
    switch (which) {
    case MUFU_RCP: return 1.0f / x;
    case MUFU_RSQ: return 1.0f / sqrtf(x);
    case MUFU_SQRT: return sqrtf(x);
    case MUFU_EX2: return exp2f(x);
    case MUFU_LG2: return log2f(x);
    case MUFU_SIN: return sinf(x * 6.28318530717958647692f);
    case MUFU_COS: return cosf(x * 6.28318530717958647692f);
    case MUFU_TANH: return tanhf(x);
    case MUFU_RCP64H: return bits_float((u32)(double_bits(1.0 / bits_double((u64)float_bits(x) << 32)) >> 32));
    case MUFU_RSQ64H: return bits_float((u32)(double_bits(1.0 / sqrt(bits_double((u64)float_bits(x) << 32))) >> 32));
    default: return 0;
    }
}

static double round_double(double x, int how)
{
    return how == ROUND_UP ? ceil(x) : how == ROUND_DOWN ? floor(x) : how == ROUND_ZERO ? trunc(x) : rint(x);
}

static void read_as_double(struct warp *w, const struct operand *o, int type, double *into)
{
    row buffer;
    u64 wide[32];
    if (type == T_F64) {
        source_double(w, o, into);
        return;
    }
    if (type == T_F32) {
        float f[32];
        const float *v = source_float(w, o, f);
        LANES into[l] = (double)v[l];
        return;
    }
    if (type == T_F16 || type == T_BF16) {
        float low[32], high[32];
        source_halves(w, o, type == T_BF16, low, high);
        LANES into[l] = (double)low[l];
        return;
    }
    if (type == T_U64 || type == T_S64) {
        source64(w, o, wide);
        LANES into[l] = type == T_U64 ? (double)wide[l] : (double)(s64)wide[l];
        return;
    }
    const u32 *v = source(w, o, buffer);
    LANES {
        switch (type) {
        case T_U8: into[l] = (u8)v[l]; break;
        case T_S8: into[l] = (int8_t)v[l]; break;
        case T_U16: into[l] = (u16)v[l]; break;
        case T_S16: into[l] = (int16_t)v[l]; break;
        case T_U32: into[l] = v[l]; break;
        default: into[l] = (s32)v[l];
        }
    }
}

/* A whole number as the nearest float, or the next one in a direction; through a double it would be rounded twice. */
static float rounded_whole(u64 magnitude, bool negative, int how)
{
    float r = (float)magnitude;
    bool above = r >= 18446744073709551616.0f || (u64)r > magnitude, exact = !above && (u64)r == magnitude;
    if (how == ROUND_NEAREST || exact) return negative ? -r : r;
    bool up = how == ROUND_ZERO ? false : (how == ROUND_UP) != negative;
    if (above != up) r = bits_float(float_bits(r) + (up ? 1 : -1));
    return negative ? -r : r;
}

static void convert(struct warp *w, const struct instruction *i, u32 mask)
{
    /* type: of the result; sub: of the source; sub2: rounding */
    double x[32];
    row out;
    if (i->type == T_F32 && (i->sub == T_U64 || i->sub == T_S64)) {
        u64 wide[32];
        source64(w, &i->o[1], wide);
        LANES {
            bool negative = i->sub == T_S64 && wide[l] >> 63;
            out[l] = float_bits(rounded_whole(negative ? -wide[l] : wide[l], negative, i->sub2));
        }
        put(w, &i->o[0], out, mask);
        return;
    }
    read_as_double(w, &i->o[1], i->sub, x);
    switch (i->type) {
    case T_F64: {
        u64 wide[32];
        if (i->sub == T_F64 && i->flags & F_EXTEND) LANES x[l] = round_double(x[l], i->sub2);
        LANES wide[l] = double_bits(x[l]);
        put64(w, &i->o[0], wide, mask);
        return;
    }
    case T_F32:
        if (i->flags & F_EXTEND) LANES out[l] = float_bits((float)round_double(x[l], i->sub2));
        else LANES out[l] = float_bits(rounded(x[l], i->sub2));
        break;
    case T_F16: LANES out[l] = float_half((float)x[l]); break;
    case T_BF16: LANES out[l] = float_bf((float)x[l]); break;
    case T_U64: case T_S64: {
        u64 wide[32];
        LANES {
            double v = round_double(x[l], i->sub2);
            if (i->type == T_U64) wide[l] = v >= 18446744073709551615.0 ? ~0ull : v > 0 ? (u64)v : 0;
            else wide[l] = v >= 9223372036854775807.0 ? 0x7fffffffffffffffull : v <= -9223372036854775808.0 ? 1ull << 63 : v == v ? (u64)(s64)v : 1ull << 63;
        }
        put64(w, &i->o[0], wide, mask);
        return;
    }
    default: {
        static const double low[] = {0, -128, 0, -32768, 0, -2147483648.0}, high[] = {255, 127, 65535, 32767, 4294967295.0, 2147483647.0};
        LANES {
            double v = round_double(x[l], i->sub2);
            if (!(v == v)) v = 0;
            v = v < low[i->type] ? low[i->type] : v > high[i->type] ? high[i->type] : v;
            out[l] = i->type == T_U32 ? (u32)v : (u32)(s32)v;
        }
    }
    }
    put(w, &i->o[0], out, mask);
}

static void shuffle(struct warp *w, const struct instruction *i, u32 mask)
{
    /* o[0]: predicate, o[1]: result, o[2]: value, o[3]: lane, o[4]: bounds */
    row va, vb, vc, out;
    const u32 *a = source(w, &i->o[2], va), *b = source(w, &i->o[3], vb), *c = source(w, &i->o[4], vc);
    u32 ok = 0;
    LANES {
        u32 segment = c[l] >> 8 & 31, bound = c[l] & 31, least = (u32)l & segment, most = least | (bound & ~segment);
        s32 from = l;
        u32 lane = b[l] & 31;
        bool in;
        switch (i->sub) {
        case 0: from = (s32)(least | (lane & ~segment)); in = from <= (s32)most; break;
        case 1: from = l - (s32)lane; in = from >= (s32)most; break;
        case 2: from = l + (s32)lane; in = from <= (s32)most; break;
        default: from = (s32)((u32)l ^ lane); in = from <= (s32)most; break;
        }
        if (!in) from = l;
        ok |= (u32)in << l;
        out[l] = a[from & 31];
    }
    put(w, &i->o[1], out, mask);
    set_predicate(w, &i->o[0], ok, mask);
}

/* Element `at` of a register that holds several. */
static double element(u32 v, u32 at, int type)
{
    switch (type) {
    case T_F16: return half_float((u16)(v >> 16 * at));
    case T_BF16: return bf_float((u16)(v >> 16 * at));
    case T_F32: return bits_float(v & 0xffffe000u); /* TF32 has ten bits of fraction */
    case T_S8: return (int8_t)(v >> 8 * at);
    case T_U8: return (u8)(v >> 8 * at);
    case T_S4: return (s32)(v << (28 - 4 * at)) >> 28;
    default: return v >> 4 * at & 15;
    }
}

/* D = A·B + C of a warp. The fragments as the PTX ISA draws them (mma.m16n8k*, mma.m8n8k*): lane l holds of A the row l/4 (and, eight
 * further, of the second register) and of each 4·p columns the p from l%4·p on, p being the elements of a register; of B the same
 * with rows and columns exchanged; of C and D two columns from l%4·2 on.
 * width: rows; sub2: k; type, sub: of A and B; o: D, A, B, C. */
static void matrix(struct warp *w, const struct instruction *i, u32 mask)
{
    static const u8 elements[] = {[T_U8] = 4, [T_S8] = 4, [T_F16] = 2, [T_BF16] = 2, [T_F32] = 1, [T_F64] = 1, [T_S4] = 8, [T_U4] = 8};
    static double a[16][64], b[64][8];
    u32 rows_ = i->width, depth = i->sub2, per = elements[i->type], size = i->type == T_F64 ? 2 : 1, halves = rows_ / 8;
    row out[4];
    if (mask != ~0u) return;
    for (u32 l = 0; l < 32; l++) {
        u32 g = l / 4, t = l % 4;
        for (u32 r = 0; r < halves * depth / (4 * per); r++)
            for (u32 k = 0; k < per; k++) {
                u32 column = t * per + k + 4 * per * (r / halves), at = i->o[1].index + r * size;
                a[g + 8 * (r % halves)][column] = size == 2 ? bits_double((u64)row_of(w, at + 1)[l] << 32 | row_of(w, at)[l]) : element(row_of(w, at)[l], k, i->type);
            }
        for (u32 r = 0; r < depth / (4 * per); r++)
            for (u32 k = 0; k < per; k++) {
                u32 line = t * per + k + 4 * per * r, at = i->o[2].index + r * size;
                b[line][g] = size == 2 ? bits_double((u64)row_of(w, at + 1)[l] << 32 | row_of(w, at)[l]) : element(row_of(w, at)[l], k, i->sub);
            }
    }
    bool whole_ = i->type != T_F16 && i->type != T_BF16 && i->type != T_F32 && i->type != T_F64, half = i->flags & F_RETURNS;
    LANES for (u32 r = 0; r < 2 * halves; r++) {
        u32 line = (u32)l / 4 + 8 * (r / 2), column = (u32)l % 4 * 2 + r % 2, at = i->o[3].index >= zero_row ? zero_row : i->o[3].index + (half ? r / 2 : r * size);
        u32 was = row_of(w, at)[l];
        double sum = half ? half_float((u16)(was >> 16 * (r % 2))) : whole_ ? (s32)was : size == 2 ? bits_double((u64)row_of(w, at < zero_row ? at + 1 : at)[l] << 32 | was) : bits_float(was);
        for (u32 k = 0; k < depth; k++) sum += a[line][k] * b[k][column];
        if (half) {
            u32 other = r % 2 ? out[r / 2][l] : 0;
            out[r / 2][l] = other | (u32)float_half((float)sum) << 16 * (r % 2);
        } else if (size == 2) out[2 * r][l] = (u32)double_bits(sum), out[2 * r + 1][l] = (u32)(double_bits(sum) >> 32);
        else if (!whole_) out[r][l] = float_bits((float)sum);
        else {
            if (i->flags & F_SATURATE) sum = sum > 2147483647.0 ? 2147483647.0 : sum < -2147483648.0 ? -2147483648.0 : sum;
            out[r][l] = (u32)(s64)sum;
        }
    }
    for (u32 r = 0; r < (half ? halves : 2 * halves * size); r++) put_next(w, &i->o[0], (int)r, out[r], mask);
}

/* One instruction that neither branches nor waits, for the lanes of `mask`. */
static void execute(struct block *b, struct warp *w, const struct instruction *i, u32 mask)
{
    row va, vb, vc, out;
    switch (i->operation) {
    case OP_NOP: break;
    case OP_IADD3: {
        /* o: result, carry, carry, a, b, c, carry in, carry in */
        u32 in = i->flags & F_CARRY ? 1 : 0, ones = 0;
        struct operand x = i->o[3], y = i->o[4], z = i->o[5];
        if (x.modifiers & M_NEGATE) ones++, x.modifiers = M_INVERT;
        if (y.modifiers & M_NEGATE) ones++, y.modifiers = M_INVERT;
        if (z.modifiers & M_NEGATE) ones++, z.modifiers = M_INVERT;
        const u32 *a = source(w, &x, va), *c = source(w, &y, vb), *d = source(w, &z, vc);
        u32 p = in ? predicate(w, &i->o[6]) : 0, q = in ? predicate(w, &i->o[7]) : 0;
        if (i->o[1].kind == K_NONE && i->o[2].kind == K_NONE) {
            if (!in) LANES out[l] = a[l] + c[l] + d[l] + ones;
            else LANES out[l] = a[l] + c[l] + d[l] + ones + (p >> l & 1) + (q >> l & 1);
        } else {
            u32 carry = 0, more = 0;
            LANES {
                u64 sum = (u64)a[l] + c[l] + d[l] + ones + (p >> l & 1) + (q >> l & 1);
                out[l] = (u32)sum;
                carry |= (u32)(sum >> 32 > 0) << l;
                more |= (u32)(sum >> 32 > 1) << l;
            }
            set_predicate(w, &i->o[1], carry, mask);
            set_predicate(w, &i->o[2], more, mask);
        }
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_IMAD: {
        const u32 *a = source(w, &i->o[3], va), *c = source(w, &i->o[4], vb), *d = source(w, &i->o[5], vc);
        u32 p = i->flags & F_CARRY ? predicate(w, &i->o[6]) : 0;
        if (i->o[1].kind == K_NONE && !p) LANES out[l] = a[l] * c[l] + d[l];
        else {
            u32 carry = 0;
            LANES {
                u64 sum = (u64)(a[l] * c[l]) + d[l] + (p >> l & 1);
                out[l] = (u32)sum;
                carry |= (u32)(sum >> 32 & 1) << l;
            }
            set_predicate(w, &i->o[1], carry, mask);
        }
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_IMAD_WIDE: case OP_IMAD_HI: {
        u64 addend[32], wide[32];
        const u32 *a = source(w, &i->o[3], va), *c = source(w, &i->o[4], vb);
        u32 p = i->flags & F_CARRY ? predicate(w, &i->o[6]) : 0, carry = 0;
        source64(w, &i->o[5], addend);
        if (i->o[5].modifiers & M_NEGATE) LANES addend[l] = -addend[l];
        if (i->o[5].modifiers & M_INVERT) LANES addend[l] = ~addend[l];
        if (i->flags & F_SIGNED) LANES wide[l] = (u64)((s64)(s32)a[l] * (s64)(s32)c[l]) + addend[l] + (p >> l & 1);
        else LANES wide[l] = (u64)a[l] * c[l] + addend[l] + (p >> l & 1);
        if (i->o[1].kind != K_NONE) {
            LANES carry |= (u32)(wide[l] < addend[l] || (wide[l] == addend[l] && (p >> l & 1) && a[l] && c[l])) << l;
            set_predicate(w, &i->o[1], carry, mask);
        }
        if (i->operation == OP_IMAD_WIDE) put64(w, &i->o[0], wide, mask);
        else {
            LANES out[l] = (u32)(wide[l] >> 32);
            put(w, &i->o[0], out, mask);
        }
        break;
    }
    case OP_LEA: {
        /* o: result, carry, -, a, b, shift */
        u32 shift = scalar(w, &i->o[5]) & 31, ones = 0, carry = 0;
        struct operand x = i->o[3];
        bool negative = x.modifiers & M_NEGATE;
        x.modifiers = 0;
        const u32 *a = source(w, &x, va), *c = source(w, &i->o[4], vb);
        if (negative) ones = 1;
        LANES {
            u32 shifted = a[l] << shift;
            u64 sum = (u64)(negative ? ~shifted : shifted) + c[l] + ones;
            out[l] = (u32)sum;
            carry |= (u32)(sum >> 32 & 1) << l;
        }
        put(w, &i->o[0], out, mask);
        set_predicate(w, &i->o[1], carry, mask);
        break;
    }
    case OP_LEA_HI: {
        /* o: result, carry, high word, a, b, shift, carry in */
        u32 shift = scalar(w, &i->o[5]) & 31, carry = 0;
        struct operand x = i->o[3];
        bool negative = x.modifiers & M_NEGATE;
        x.modifiers = 0;
        const u32 *a = source(w, &x, va), *c = source(w, &i->o[4], vb), *h = source(w, &i->o[2], vc);
        u32 p = i->flags & F_CARRY ? predicate(w, &i->o[6]) : 0;
        LANES {
            u64 v = i->flags & F_EXTEND ? (u64)(s64)(s32)a[l] : (u64)h[l] << 32 | a[l];
            v <<= shift;
            if (negative) v = i->flags & F_CARRY ? ~v : -v;
            u64 sum = (v >> 32) + c[l] + (p >> l & 1);
            out[l] = (u32)sum;
            carry |= (u32)(sum >> 32 & 1) << l;
        }
        put(w, &i->o[0], out, mask);
        set_predicate(w, &i->o[1], carry, mask);
        break;
    }
    case OP_LOP3: {
        /* o: result, predicate, -, a, b, c, predicate in; sub: table */
        const u32 *a = source(w, &i->o[3], va), *c = source(w, &i->o[4], vb), *d = source(w, &i->o[5], vc);
        switch (i->sub) {
        case 0xc0: LANES out[l] = a[l] & c[l]; break;
        case 0xfc: LANES out[l] = a[l] | c[l]; break;
        case 0x3c: LANES out[l] = a[l] ^ c[l]; break;
        default: {
            u32 t[8];
            for (int k = 0; k < 8; k++) t[k] = -(i->sub >> k & 1u);
            LANES {
                u32 x = a[l], y = c[l], z = d[l];
                out[l] = (t[0] & ~x & ~y & ~z) | (t[1] & ~x & ~y & z) | (t[2] & ~x & y & ~z) | (t[3] & ~x & y & z) |
                         (t[4] & x & ~y & ~z) | (t[5] & x & ~y & z) | (t[6] & x & y & ~z) | (t[7] & x & y & z);
            }
        }
        }
        if (i->o[1].kind != K_NONE) {
            u32 any = 0;
            LANES any |= (u32)(out[l] != 0) << l;
            set_predicate(w, &i->o[1], any | predicate(w, &i->o[6]), mask);
        }
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_PLOP3: {
        u32 x = predicate(w, &i->o[2]), y = predicate(w, &i->o[3]), z = predicate(w, &i->o[4]), first = 0, second = 0;
        for (u32 k = 0; k < 8; k++) {
            u32 here = (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
            if (i->sub >> k & 1) first |= here;
            if (i->sub2 >> k & 1) second |= here;
        }
        set_predicate(w, &i->o[0], first, mask);
        set_predicate(w, &i->o[1], second, mask);
        break;
    }
    case OP_SHF: {
        const u32 *a = source(w, &i->o[3], va), *s = source(w, &i->o[4], vb), *h = source(w, &i->o[5], vc);
        u32 most = i->flags & F_LONG ? 64 : 32;
        LANES {
            u32 n = i->flags & F_WRAP ? s[l] & (most - 1) : s[l] > most ? most : s[l];
            u64 v = (u64)h[l] << 32 | a[l];
            if (i->flags & F_LEFT) v = n > 63 ? 0 : v << n;
            else if (i->flags & F_SIGNED) v = (u64)((s64)v >> (n > 63 ? 63 : n));
            else v = n > 63 ? 0 : v >> n;
            out[l] = i->flags & F_HIGH ? (u32)(v >> 32) : (u32)v;
        }
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_ISETP: {
        const u32 *a = source(w, &i->o[2], va), *c = source(w, &i->o[3], vb);
        u32 found = 0;
        if (i->flags & F_SIGNED) {
            switch (i->sub) {
            case CMP_LT: LANES found |= (u32)((s32)a[l] < (s32)c[l]) << l; break;
            case CMP_GE: LANES found |= (u32)((s32)a[l] >= (s32)c[l]) << l; break;
            case CMP_EQ: LANES found |= (u32)(a[l] == c[l]) << l; break;
            case CMP_NE: LANES found |= (u32)(a[l] != c[l]) << l; break;
            default: LANES found |= (u32)compared_s32(i->sub, (s32)a[l], (s32)c[l]) << l;
            }
        } else LANES found |= (u32)compared_u32(i->sub, a[l], c[l]) << l;
        if (i->flags & F_EX) {
            u32 same = 0, low = predicate(w, &i->o[5]);
            LANES same |= (u32)(a[l] == c[l]) << l;
            if (i->sub == CMP_EQ) found &= low;
            else if (i->sub == CMP_NE) found |= low;
            else found = (found & ~same) | (low & same);
        }
        set_compared(w, i, found, 0, mask);
        break;
    }
    case OP_SEL: {
        const u32 *a, *c;
        if (i->flags & F_FLOAT) a = (const u32 *)source_float(w, &i->o[1], (float *)va), c = (const u32 *)source_float(w, &i->o[2], (float *)vb);
        else a = source(w, &i->o[1], va), c = source(w, &i->o[2], vb);
        u32 p = predicate(w, &i->o[3]);
        LANES {
            u32 on = -(p >> l & 1);
            out[l] = (a[l] & on) | (c[l] & ~on);
        }
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_IMNMX: {
        const u32 *a = source(w, &i->o[1], va), *c = source(w, &i->o[2], vb);
        u32 p = predicate(w, &i->o[3]);
        LANES {
            bool less = i->flags & F_SIGNED ? (s32)a[l] < (s32)c[l] : a[l] < c[l];
            out[l] = (less == (bool)(p >> l & 1)) ? a[l] : c[l];
        }
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_IABS: {
        const u32 *a = source(w, &i->o[1], va);
        LANES out[l] = (s32)a[l] < 0 ? -a[l] : a[l];
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_POPC: {
        const u32 *a = source(w, &i->o[1], va);
        LANES out[l] = (u32)__builtin_popcount(a[l]);
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_FLO: {
        const u32 *a = source(w, &i->o[1], va);
        LANES {
            u32 v = i->flags & F_SIGNED && (s32)a[l] < 0 ? ~a[l] : a[l];
            out[l] = v ? (i->flags & F_SHIFT ? (u32)__builtin_clz(v) : 31u - (u32)__builtin_clz(v)) : ~0u;
        }
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_BREV: {
        const u32 *a = source(w, &i->o[1], va);
        LANES {
            u32 v = __builtin_bswap32(a[l]);
            v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
            v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
            out[l] = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
        }
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_PRMT: {
        const u32 *a = source(w, &i->o[1], va), *s = source(w, &i->o[2], vb), *c = source(w, &i->o[3], vc);
        LANES out[l] = permuted(a[l], s[l], c[l]);
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_R2P: {
        const u32 *a = source(w, &i->o[1], va);
        u32 bits = scalar(w, &i->o[2]);
        for (u32 k = 0; k < 7; k++)
            if (bits >> k & 1) {
                u32 v = 0;
                LANES v |= (a[l] >> k & 1) << l;
                w->predicates[k] = (w->predicates[k] & ~mask) | (v & mask);
            }
        break;
    }
    case OP_P2R: {
        const u32 *a = source(w, &i->o[1], va);
        u32 bits = scalar(w, &i->o[2]);
        LANES {
            u32 v = 0;
            for (u32 k = 0; k < 7; k++) v |= (w->predicates[k] >> l & 1) << k;
            out[l] = (a[l] & ~(bits << i->sub)) | (v & bits) << i->sub;
        }
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_MOV:
        put(w, &i->o[0], source(w, &i->o[1], va), mask);
        break;
    case OP_R2UR: {
        const u32 *a = source(w, &i->o[1], va);
        put(w, &i->o[0], a, mask);
        break;
    }
    case OP_S2R:
        LANES out[l] = special(b, w, i->sub, l);
        put(w, &i->o[0], out, mask);
        if (i->flags & F_LONG) {
            LANES out[l] = 0;
            put_next(w, &i->o[0], 1, out, mask);
        }
        break;
    case OP_VOTE: {
        /* o: result, predicate, predicate in; sub: all, any, equal */
        u32 p = predicate(w, &i->o[2]) & mask;
        bool holds = i->sub == 0 ? p == mask : i->sub == 1 ? p != 0 : p == mask || p == 0;
        LANES out[l] = p;
        put(w, &i->o[0], out, mask);
        set_predicate(w, &i->o[1], holds ? ~0u : 0, mask);
        break;
    }
    case OP_SHFL: shuffle(w, i, mask); break;
    case OP_MATCH: {
        u64 a[32];
        u32 all = ~0u;
        if (i->flags & F_LONG) source64(w, &i->o[1], a);
        else {
            const u32 *v = source(w, &i->o[1], va);
            LANES a[l] = v[l];
        }
        LANES {
            u32 same = 0;
            for (u32 k = 0; k < 32; k++)
                if (mask >> k & 1 && a[k] == a[l]) same |= 1u << k;
            out[l] = same;
            if (mask >> l & 1 && same != mask) all = 0;
        }
        if (i->sub == 0) LANES out[l] = all ? mask : 0;
        put(w, &i->o[0], out, mask);
        set_predicate(w, &i->o[2], all, mask);
        break;
    }
    case OP_REDUX: {
        const u32 *a = source(w, &i->o[1], va);
        u32 v = 0;
        bool any = false;
        LANES if (mask >> l & 1) {
            u32 x = a[l];
            if (!any) v = x;
            else switch (i->sub) {
            case A_ADD: v += x; break;
            case A_AND: v &= x; break;
            case A_OR: v |= x; break;
            case A_XOR: v ^= x; break;
            case A_MIN: v = i->flags & F_SIGNED ? ((s32)x < (s32)v ? x : v) : (x < v ? x : v); break;
            default: v = i->flags & F_SIGNED ? ((s32)x > (s32)v ? x : v) : (x > v ? x : v);
            }
            any = true;
        }
        LANES out[l] = v;
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_BMSK: {
        const u32 *a = source(w, &i->o[1], va), *c = source(w, &i->o[2], vb);
        LANES {
            u32 first = i->flags & F_WRAP ? a[l] & 31 : a[l], count = i->flags & F_WRAP ? c[l] & 31 : c[l];
            u32 bits = count >= 32 ? ~0u : (1u << count) - 1;
            out[l] = first >= 32 ? 0 : bits << first;
        }
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_SGXT: {
        const u32 *a = source(w, &i->o[1], va), *c = source(w, &i->o[2], vb);
        LANES {
            u32 n = i->flags & F_WRAP ? c[l] & 31 : c[l] > 32 ? 32 : c[l];
            if (!n) out[l] = 0;
            else if (n == 32) out[l] = a[l];
            else out[l] = i->flags & F_SIGNED ? (u32)((s32)(a[l] << (32 - n)) >> (32 - n)) : a[l] & ((1u << n) - 1);
        }
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_IDP: {
        const u32 *a = source(w, &i->o[1], va), *c = source(w, &i->o[2], vb), *d = source(w, &i->o[3], vc);
        LANES {
            u32 sum = d[l];
            for (int k = 0; k < 32; k += 8) {
                s32 x = i->flags & F_SIGNED ? (int8_t)(a[l] >> k) : (s32)(u8)(a[l] >> k);
                s32 y = i->flags & F_EXTEND ? (int8_t)(c[l] >> k) : (s32)(u8)(c[l] >> k);
                sum += (u32)(x * y);
            }
            out[l] = sum;
        }
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_VABSDIFF: {
        const u32 *a = source(w, &i->o[1], va), *c = source(w, &i->o[2], vb), *d = source(w, &i->o[3], vc);
        LANES {
            if (i->flags & F_WRAP) {
                /* of four bytes each: added up, or each in its place */
                u32 sum = d[l], places = 0;
                for (int k = 0; k < 32; k += 8) {
                    bool is_signed = i->flags & F_SIGNED;
                    s32 x = is_signed ? (int8_t)(a[l] >> k) : (u8)(a[l] >> k), y = is_signed ? (int8_t)(c[l] >> k) : (u8)(c[l] >> k);
                    sum += (u32)abs(x - y);
                    places |= (u32)(u8)abs(x - y) << k;
                }
                out[l] = i->sub ? sum : places;
            } else if (i->flags & F_SIGNED) out[l] = ((s32)a[l] > (s32)c[l] ? a[l] - c[l] : c[l] - a[l]) + d[l];
            else out[l] = (a[l] > c[l] ? a[l] - c[l] : c[l] - a[l]) + d[l];
        }
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_FADD: case OP_FMUL: case OP_FFMA: {
        float fa[32], fb[32], fc[32], r[32] __attribute__((aligned(64)));
        const float *a = source_float(w, &i->o[1], fa), *c = source_float(w, &i->o[2], fb), *d = NULL;
        if (i->operation == OP_FFMA) d = source_float(w, &i->o[3], fc);
        if (i->sub2) round_to(i->sub2);
        BARRIER(fa);
        BARRIER(fb);
        if (i->operation == OP_FADD) LANES r[l] = a[l] + c[l];
        else if (i->operation == OP_FMUL) LANES r[l] = a[l] * c[l];
        else LANES r[l] = __builtin_fmaf(a[l], c[l], d[l]);
        BARRIER(r);
        if (i->sub2) round_to(ROUND_NEAREST);
        if (i->flags & F_SATURATE) LANES r[l] = r[l] > 0 ? (r[l] < 1 ? r[l] : 1) : 0;
        put_float(w, &i->o[0], r, mask);
        break;
    }
    case OP_FSETP: case OP_FSET: {
        float fa[32], fb[32];
        bool set = i->operation == OP_FSET;
        const float *a = source_float(w, &i->o[2], fa), *c = source_float(w, &i->o[3], fb);
        u32 found = 0;
        LANES found |= (u32)compared_float(i->sub, a[l], c[l]) << l;
        if (!set) set_compared(w, i, found, 0, mask);
        else {
            u32 with = i->o[4].kind == K_NONE ? ~0u : predicate(w, &i->o[4]);
            found = combined(i->sub2, found, with);
            LANES out[l] = found >> l & 1 ? (i->flags & F_ONES ? 0x3f800000u : ~0u) : 0;
            put(w, &i->o[0], out, mask);
        }
        break;
    }
    case OP_FMNMX: {
        float fa[32], fb[32], r[32] __attribute__((aligned(64)));
        const float *a = source_float(w, &i->o[1], fa), *c = source_float(w, &i->o[2], fb);
        u32 p = predicate(w, &i->o[3]);
        LANES r[l] = p >> l & 1 ? fminf(a[l], c[l]) : fmaxf(a[l], c[l]);
        put_float(w, &i->o[0], r, mask);
        break;
    }
    case OP_MUFU: {
        float fa[32], r[32] __attribute__((aligned(64)));
        const float *a = source_float(w, &i->o[1], fa);
        LANES r[l] = mask >> l & 1 ? special_function(i->sub, a[l]) : 0;
        put_float(w, &i->o[0], r, mask);
        break;
    }
    case OP_FCHK: {
        float fa[32], fb[32];
        const float *a = source_float(w, &i->o[1], fa), *c = source_float(w, &i->o[2], fb);
        u32 found = 0;
        LANES {
            /* true where the quotient or a step towards it may leave the range: exponents as the slow way of division tests them */
            s32 x = (s32)(float_bits(a[l]) >> 23 & 255), y = (s32)(float_bits(c[l]) >> 23 & 255);
            bool slow = y == 0 || y >= 253 || x <= 24 || x == 255 || x - y >= 126 || x - y <= -125;
            found |= (u32)slow << l;
        }
        set_predicate(w, &i->o[0], found, mask);
        break;
    }
    case OP_DADD: case OP_DMUL: case OP_DFMA: {
        double a[32], c[32], d[32], r[32];
        source_double(w, &i->o[1], a);
        source_double(w, &i->o[2], c);
        if (i->operation == OP_DFMA) source_double(w, &i->o[3], d);
        if (i->sub2) round_to(i->sub2);
        BARRIER(a);
        BARRIER(c);
        if (i->operation == OP_DADD) LANES r[l] = a[l] + c[l];
        else if (i->operation == OP_DMUL) LANES r[l] = a[l] * c[l];
        else LANES r[l] = __builtin_fma(a[l], c[l], d[l]);
        BARRIER(r);
        if (i->sub2) round_to(ROUND_NEAREST);
        put64(w, &i->o[0], (const u64 *)r, mask);
        break;
    }
    case OP_DSETP: {
        double a[32], c[32];
        u32 found = 0, unordered = 0;
        source_double(w, &i->o[2], a);
        source_double(w, &i->o[3], c);
        LANES found |= (u32)compared_double(i->sub, a[l], c[l]) << l;
        LANES unordered |= (u32)(a[l] != a[l] && c[l] != c[l]) << l;
        set_compared(w, i, found, unordered, mask);
        break;
    }
    case OP_HADD2: case OP_HMUL2: case OP_HFMA2: case OP_HMNMX2: {
        bool bf = i->flags & F_BFLOAT;
        float al[32], ah[32], bl[32], bh[32], cl[32], ch[32];
        source_halves(w, &i->o[1], bf, al, ah);
        source_halves(w, &i->o[2], bf, bl, bh);
        if (i->operation == OP_HFMA2) source_halves(w, &i->o[3], bf, cl, ch);
        u32 p = i->operation == OP_HMNMX2 ? predicate(w, &i->o[3]) : 0;
        LANES {
            float x, y;
            switch (i->operation) {
            case OP_HADD2: x = al[l] + bl[l], y = ah[l] + bh[l]; break;
            case OP_HMUL2: x = al[l] * bl[l], y = ah[l] * bh[l]; break;
            case OP_HFMA2: x = fmaf(al[l], bl[l], cl[l]), y = fmaf(ah[l], bh[l], ch[l]); break;
            default: x = p >> l & 1 ? fminf(al[l], bl[l]) : fmaxf(al[l], bl[l]), y = p >> l & 1 ? fminf(ah[l], bh[l]) : fmaxf(ah[l], bh[l]);
            }
            if (i->flags & F_SATURATE) x = x > 0 ? (x < 1 ? x : 1) : 0, y = y > 0 ? (y < 1 ? y : 1) : 0;
            if (i->flags & F_FLOAT) out[l] = float_bits(x);
            else out[l] = bf ? (u32)float_bf(x) | (u32)float_bf(y) << 16 : (u32)float_half(x) | (u32)float_half(y) << 16;
        }
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_HSETP2: case OP_HSET2: {
        bool bf = i->flags & F_BFLOAT;
        float al[32], ah[32], bl[32], bh[32];
        source_halves(w, &i->o[2], bf, al, ah);
        source_halves(w, &i->o[3], bf, bl, bh);
        u32 low = 0, high = 0, with = i->o[4].kind == K_NONE ? ~0u : predicate(w, &i->o[4]);
        LANES {
            low |= (u32)compared_float(i->sub, al[l], bl[l]) << l;
            high |= (u32)compared_float(i->sub, ah[l], bh[l]) << l;
        }
        low = combined(i->sub2, low, with);
        high = combined(i->sub2, high, with);
        if (i->operation == OP_HSETP2) {
            set_predicate(w, &i->o[0], low, mask);
            set_predicate(w, &i->o[1], high, mask);
        } else {
            u32 one = i->flags & F_ONES ? (bf ? 0x3f80 : 0x3c00) : 0xffff;
            LANES out[l] = (low >> l & 1 ? one : 0) | (high >> l & 1 ? one << 16 : 0);
            put(w, &i->o[0], out, mask);
        }
        break;
    }
    case OP_F2F: case OP_F2I: case OP_I2F: case OP_FRND: convert(w, i, mask); break;
    case OP_F2FP: {
        float fa[32], fb[32];
        const float *a = source_float(w, &i->o[1], fa), *c = source_float(w, &i->o[2], fb);
        LANES out[l] = i->flags & F_BFLOAT ? (u32)float_bf(c[l]) | (u32)float_bf(a[l]) << 16 : (u32)float_half(c[l]) | (u32)float_half(a[l]) << 16;
        put(w, &i->o[0], out, mask);
        break;
    }
    case OP_LOAD: load(b, w, i, mask); break;
    case OP_STORE: store(b, w, i, mask); break;
    case OP_ATOM: atomic(b, w, i, mask); break;
    case OP_LDC: {
        /* o[1]: index register, o[2]: uniform, o[3]: offset, o[4].index: bank */
        u64 at[32];
        addresses(w, i, at);
        for (u32 k = 0; k < (i->width + 3u) / 4; k++) {
            LANES {
                u32 v = constant32(&i->o[4], (u32)at[l] + 4 * k);
                if (i->type == T_U8) v = (u8)v;
                else if (i->type == T_S8) v = (u32)(s32)(int8_t)v;
                else if (i->type == T_U16) v = (u16)v;
                else if (i->type == T_S16) v = (u32)(s32)(int16_t)v;
                out[l] = v;
            }
            put_next(w, &i->o[0], (int)k, out, mask);
        }
        break;
    }
    case OP_LDGSTS: {
        /* o[0]: address in shared memory (register, value: offset), o[1..3]: address in global memory */
        u64 at[32], to[32];
        addresses(w, i, at);
        const u32 *shared = source(w, &(struct operand){K_REGISTER, 0, i->o[0].index, 0}, va);
        LANES to[l] = shared[l] + i->o[0].value;
        request(b, w, SPACE_GLOBAL, at, i->width, mask, false, false);
        LANES if (mask >> l & 1) {
            u8 *from = memory_at(b, w, SPACE_GLOBAL, at[l], i->width, l), *into = memory_at(b, w, SPACE_SHARED, to[l], i->width, l);
            if (from && into) memcpy(into, from, i->width);
            else faults++;
        }
        break;
    }
    case OP_LDSM: {
        /* each eight lanes give the rows of one 8x8 matrix of 16-bit values; sub: matrices */
        u64 at[32];
        addresses(w, i, at);
        count_passes[current_pc] += i->sub;
        for (u32 k = 0; k < i->sub; k++) {
            LANES {
                u64 address = at[8 * k + (u32)l / 4] + 4 * ((u32)l & 3);
                u8 *from = memory_at(b, w, SPACE_SHARED, address, 4, l);
                out[l] = 0;
                if (i->flags & F_WRAP) {
                    u8 *x = memory_at(b, w, SPACE_SHARED, at[8 * k + 2 * ((u32)l & 3)] + 2 * ((u32)l / 4), 2, l);
                    u8 *y = memory_at(b, w, SPACE_SHARED, at[8 * k + 2 * ((u32)l & 3) + 1] + 2 * ((u32)l / 4), 2, l);
                    u16 p = 0, q = 0;
                    if (x) memcpy(&p, x, 2);
                    if (y) memcpy(&q, y, 2);
                    out[l] = (u32)p | (u32)q << 16;
                } else if (from) memcpy(&out[l], from, 4);
            }
            put_next(w, &i->o[0], (int)k, out, mask);
        }
        break;
    }
    case OP_MATRIX: matrix(w, i, mask); break;
    case OP_TEXTURE:
        LANES out[l] = 0;
        for (int k = 0; k < (i->sub ? i->sub : 1); k++) put_next(w, &i->o[0], k, out, mask);
        break;
    case OP_QSPC: {
        /* whether a generic address lies in the space `sub` */
        u64 at[32];
        u32 found = 0;
        addresses(w, i, at);
        LANES {
            int space = at[l] - SHARED_WINDOW < WINDOW ? SPACE_SHARED : at[l] - LOCAL_WINDOW < WINDOW ? SPACE_LOCAL : SPACE_GLOBAL;
            found |= (u32)(space == i->sub) << l;
        }
        set_predicate(w, &i->o[4], found, mask);
        break;
    }
    case OP_BMOV_OUT:
        LANES out[l] = w->barriers[i->o[1].index & 15];
        put(w, &i->o[0], out, mask);
        if (i->flags & F_WRAP) w->barriers[i->o[1].index & 15] = 0;
        break;
    case OP_BMOV_IN: {
        const u32 *a = source(w, &i->o[1], va);
        if (mask) w->barriers[i->o[0].index & 15] = a[__builtin_ctz(mask)];
        break;
    }
    case OP_B2R:
        /* The count, and whether all or any said yes, of the reduction that code before it asked for. */
        LANES out[l] = b->result;
        put(w, &i->o[0], out, mask);
        set_predicate(w, &i->o[1], (w->reduces == BAR_AND ? b->all : b->result != 0) ? ~0u : 0, mask);
        break;
    case OP_LEPC: {
        LANES out[l] = current_pc * 16;
        put(w, &i->o[0], out, mask);
        LANES out[l] = 0;
        put_next(w, &i->o[0], 1, out, mask);
        break;
    }
    default: unknown_operations++;
    }
}

/* ------------------------------------------------------------------------------------------------ flow */

enum { AT_BARRIER = AT_WARPSYNC + 1 };

static void drop(struct warp *w, u32 at) { w->groups[at] = w->groups[--w->group_count]; }

static void add_group(struct warp *w, u32 mask, u32 pc)
{
    if (!mask) return;
    for (u32 k = 0; k < w->group_count; k++)
        if (w->groups[k].state == READY && w->groups[k].pc == pc) {
            w->groups[k].mask |= mask;
            return;
        }
    w->groups[w->group_count++] = (struct group){mask, pc, READY, 0, 0};
}

/* Let those go on who wait for lanes that are all there, or gone. */
static void release(struct warp *w)
{
    for (u32 k = 0; k < w->group_count; k++) {
        struct group *g = &w->groups[k];
        u32 there = 0, wanted;
        if (g->state != AT_CONVERGENCE && g->state != AT_WARPSYNC) continue;
        wanted = (g->state == AT_CONVERGENCE ? w->barriers[g->barrier] : g->wanted) & w->live;
        for (u32 j = 0; j < w->group_count; j++)
            if (w->groups[j].state == g->state && (g->state == AT_WARPSYNC || w->groups[j].barrier == g->barrier))
                there |= w->groups[j].mask;
        if ((there & wanted) != wanted) continue;
        u8 state = g->state, barrier = g->barrier;
        for (u32 j = 0; j < w->group_count;) {
            struct group other = w->groups[j];
            if (other.state == state && (state == AT_WARPSYNC || other.barrier == barrier)) {
                drop(w, j);
                add_group(w, other.mask, other.pc + 1);
                j = 0;
            } else j++;
        }
        k = (u32)-1; /* begin again: the list has changed */
    }
}

static void leave(struct warp *w, u32 lanes)
{
    w->live &= ~lanes;
    for (u32 k = 0; k < w->group_count;) {
        w->groups[k].mask &= ~lanes;
        if (!w->groups[k].mask) drop(w, k);
        else k++;
    }
    release(w);
}

/* The group that goes next: the lowest address, so that those behind catch up; the highest if it has not moved for
 * some turns: those behind may spin until it has done something. */
static struct group *chosen(struct warp *w)
{
    struct group *best = NULL;
    for (u32 k = 0; k < w->group_count; k++)
        if (w->groups[k].state == READY && (!best || (w->groups[k].pc < best->pc) != w->upper)) best = &w->groups[k];
    return best;
}

/* Functions that the device's runtime brings, by the number that lowering.py gives them: arguments in R4 and on, the address to
 * return to in R20. */
enum { BUILT_IN = 0x07000000 };
enum { B_PRINTF, B_MALLOC, B_FREE, B_ASSERT };

static u64 device_heap(u64 bytes)
{
    static u8 *heap;
    static u64 used;
    if (!heap) {
        heap = mmap(NULL, HEAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (heap == MAP_FAILED) return heap = NULL, 0;
        machine_allocated(heap, HEAP, MACHINE_DEVICE);
    }
    if (bytes > HEAP - used) return 0;
    u64 found = (u64)heap + used;
    used += (bytes + 15) & ~15ull;
    return found;
}

static void scatter(struct warp *w, u32 mask, const u32 *target);

static void built_in(struct warp *w, u32 which, u32 mask)
{
    row back;
    u32 *low = row_of(w, 4), *high = row_of(w, 5);
    if (which == B_ASSERT) {
        leave(w, mask);
        return;
    }
    LANES if (mask >> l & 1) {
        u64 found = which == B_MALLOC ? device_heap((u64)high[l] << 32 | low[l]) : 0;
        if (which != B_FREE) low[l] = (u32)found, high[l] = (u32)(found >> 32);
    }
    if (which > B_ASSERT) unknown_operations++;
    LANES back[l] = row_of(w, 20)[l] >> 4;
    scatter(w, mask, back);
}

/* Send lanes to where each one's `target` says. */
static void scatter(struct warp *w, u32 mask, const u32 *target)
{
    while (mask) {
        u32 to = target[__builtin_ctz(mask)], same = 0;
        LANES if (mask >> l & 1 && target[l] == to) same |= 1u << l;
        if (to < code_count) add_group(w, same, to);
        else if (to >= BUILT_IN && to < BUILT_IN + 256) built_in(w, to - BUILT_IN, same);
        else faults++, leave(w, same);
        mask &= ~same;
    }
}

/* Run a warp until it waits, ends, or has had its turn. */
static void run_warp(struct block *b, struct warp *w, u32 turn)
{
    if (w->group_count > 1) {
        u32 highest = 0;
        for (u32 k = 0; k < w->group_count; k++)
            if (w->groups[k].state == READY && w->groups[k].pc > highest) highest = w->groups[k].pc;
        w->starved = highest == w->highest ? w->starved + 1 : 0;
        w->highest = highest;
        if (w->starved >= STARVED) w->upper = true, w->starved = 0, turn = FAIR;
    }
    while (turn) {
        struct group *g = chosen(w);
        if (!g) {
            bool waits = false;
            if (!w->live) return;
            for (u32 k = 0; k < w->group_count; k++) waits |= w->groups[k].state == AT_BARRIER;
            if (waits) {
                w->waits = true;
                w->upper = false;
                return;
            }
            /* Nobody can go on: what they wait for will not come. */
            for (u32 k = 0; k < w->group_count; k++) w->groups[k].pc++, w->groups[k].state = READY;
            if (!w->group_count) w->live = 0;
            continue;
        }
        bool alone = w->group_count == 1;
        u32 pc = g->pc, mask = g->mask, stop = ~0u;
        /* Go on until the address of another group is reached. */
        if (!alone)
            for (u32 k = 0; k < w->group_count; k++)
                if (&w->groups[k] != g && w->groups[k].state == READY && w->groups[k].pc > pc && w->groups[k].pc < stop) stop = w->groups[k].pc;
        for (;;) {
            const struct instruction *i = code + pc;
            u32 on = mask;
            if (i->guard != 7) {
                u32 p = i->guard >= 8 ? w->uniform_predicates[i->guard & 7] : w->predicates[i->guard];
                on &= i->guard_not ? ~p : p;
            }
            current_pc = pc;
            count_warps[pc]++;
            count_threads[pc] += (u32)__builtin_popcount(on);
            w->steps++;
            turn--;
            if (i->operation < OP_BRA || i->operation >= OP_LEPC || i->operation == OP_B2R || i->operation == OP_BMOV_OUT || i->operation == OP_BMOV_IN) {
                if (on) {
                    if (i->flags & F_UNIFORM) on = mask;
                    execute(b, w, i, on);
                }
                pc++;
            } else switch (i->operation) {
            case OP_BRA: {
                if (i->sub) {
                    /* Only if the lanes that the operand names are not all here (DIV), or are (CONV). */
                    u32 wanted = scalar(w, &i->o[1]);
                    if (i->o[1].modifiers & M_INVERT) wanted = ~wanted;
                    if (((wanted & w->live & ~mask) == 0) != (i->sub == 2)) on = 0;
                }
                if (i->o[0].kind != K_NONE) on &= predicate(w, &i->o[0]);
                if (on == mask) pc = (u32)i->target;
                else if (on) {
                    g->mask = mask & ~on;
                    g->pc = pc + 1;
                    add_group(w, on, (u32)i->target);
                    goto again;
                } else pc++;
                if (!alone) {
                    g->pc = pc;
                    goto again;
                }
                break;
            }
            case OP_EXIT:
                if (on) {
                    g->pc = pc + 1;
                    leave(w, on);
                    goto again;
                }
                pc++;
                break;
            case OP_CALL: case OP_RET: case OP_BRX: {
                if (!on) {
                    pc++;
                    break;
                }
                row buffer, target;
                if (i->o[0].kind == K_NONE) LANES target[l] = (u32)i->target;
                else {
                    const u32 *v = source(w, &i->o[0], buffer);
                    if (i->operation == OP_BRX && !(i->flags & F_ABSOLUTE)) LANES target[l] = pc + 1 + (u32)(((s32)v[l] + i->target) >> 4);
                    else LANES target[l] = (i->flags & F_ABSOLUTE ? 0 : (u32)i->target) + (v[l] >> 4);
                }
                g->pc = pc + 1;
                g->mask = mask & ~on;
                if (!g->mask) drop(w, (u32)(g - w->groups));
                scatter(w, on, target);
                goto again;
            }
            case OP_BSSY:
                w->barriers[i->o[0].index & 15] = on;
                pc++;
                break;
            case OP_BREAK:
                if (i->o[1].kind != K_NONE) on &= predicate(w, &i->o[1]);
                w->barriers[i->o[0].index & 15] &= ~on;
                g->pc = ++pc;
                if (!alone) {
                    release(w);
                    goto again;
                }
                break;
            case OP_BSYNC:
                if (alone && !(w->barriers[i->o[0].index & 15] & w->live & ~mask)) {
                    pc++;
                    break;
                }
                g->pc = pc;
                g->state = AT_CONVERGENCE;
                g->barrier = i->o[0].index & 15;
                release(w);
                goto again;
            case OP_WARPSYNC: {
                row buffer;
                const u32 *v = source(w, &i->o[0], buffer);
                u32 wanted = v[__builtin_ctz(mask)] & w->live;
                if (alone || !(wanted & ~mask)) {
                    pc++;
                    break;
                }
                g->pc = pc;
                g->state = AT_WARPSYNC;
                g->wanted = wanted;
                release(w);
                goto again;
            }
            case OP_BAR: {
                u32 id = scalar(w, &i->o[0]) & 15, threads = i->o[1].kind == K_NONE ? 0 : i->o[1].kind == K_REGISTER ? row_of(w, i->o[1].index)[__builtin_ctz(mask)] : scalar(w, &i->o[1]);
                if (i->o[0].kind == K_REGISTER) id = row_of(w, i->o[0].index)[__builtin_ctz(mask)] & 15;
                b->came[id] += (u32)__builtin_popcount(mask);
                if (i->sub >= BAR_POPC) b->reduced[id] += (u32)__builtin_popcount(mask & predicate(w, &i->o[2]));
                if (threads) b->expected[id] = threads;
                if (i->sub == BAR_ARRIVE) {
                    b->arrived[id] += 32;
                    pc++;
                    break;
                }
                g->pc = pc + 1;
                g->state = AT_BARRIER;
                w->waits_at = (u8)id;
                w->reduces = i->sub;
                goto again;
            }
            default: pc++; /* YIELD */
            }
            if (pc >= code_count) {
                faults++;
                leave(w, mask);
                break;
            }
            if (pc == stop || !turn) {
                g->pc = pc;
                if (pc == stop) {
                    u32 mine = g->mask;
                    drop(w, (u32)(g - w->groups));
                    add_group(w, mine, pc);
                }
                break;
            }
        }
    again:;
    }
    w->upper = false;
}

static void open_barriers(struct block *b)
{
    for (u32 id = 0; id < 16; id++) {
        u32 waiting = 0, running = 0, elsewhere = 0;
        for (u32 k = 0; k < b->warp_count; k++) {
            struct warp *w = &b->warps[k];
            if (!w->live) continue;
            if (!w->waits) running++;
            else if (w->waits_at == id) waiting++;
            else elsewhere++;
        }
        if (!waiting) continue;
        bool open = b->expected[id] ? waiting * 32 + b->arrived[id] >= b->expected[id] || (!running && !elsewhere) : !running && !elsewhere;
        /* Warps that wait at different barriers which all expect everybody would wait forever. */
        if (!open && !running && elsewhere && !b->expected[id]) {
            bool others = false;
            for (u32 k = 0; k < b->warp_count; k++)
                if (b->warps[k].live && b->warps[k].waits && b->expected[b->warps[k].waits_at]) others = true;
            open = !others;
        }
        if (!open) continue;
        b->result = b->reduced[id];
        b->all = b->result == b->came[id];
        b->came[id] = 0;
        b->reduced[id] = b->arrived[id] = b->expected[id] = 0;
        for (u32 k = 0; k < b->warp_count; k++) {
            struct warp *w = &b->warps[k];
            if (!w->live || !w->waits || w->waits_at != id) continue;
            w->waits = false;
            for (u32 j = 0; j < w->group_count;) {
                struct group g = w->groups[j];
                if (g.state == AT_BARRIER) {
                    drop(w, j);
                    add_group(w, g.mask, g.pc);
                    j = 0;
                } else j++;
            }
        }
    }
}

static void run_block(struct block *b, u32 turn)
{
    bool any = false, ran = false;
    for (u32 k = 0; k < b->warp_count; k++) {
        struct warp *w = &b->warps[k];
        if (!w->live) continue;
        any = true;
        if (w->waits) continue;
        u64 before = w->steps;
        run_warp(b, w, turn);
        steps += w->steps - before;
        ran |= w->steps != before;
    }
    if (!any) {
        b->done = true;
        for (u32 k = 0; k < b->warp_count; k++)
            if (b->warps[k].steps > longest) longest = b->warps[k].steps;
        return;
    }
    open_barriers(b);
    (void)ran;
}

/* ------------------------------------------------------------------------------------------------ launches */

static void begin_block(struct block *b, u32 number, u32 slot, const struct kernel *kernel)
{
    u32 threads = block_[0] * block_[1] * block_[2];
    b->number = number;
    b->x = number % grid_[0];
    b->y = number / grid_[0] % grid_[1];
    b->z = number / (grid_[0] * grid_[1]);
    b->threads = threads;
    b->slot = slot;
    b->done = false;
    b->result = 0;
    memset(b->arrived, 0, sizeof b->arrived);
    memset(b->expected, 0, sizeof b->expected);
    memset(b->reduced, 0, sizeof b->reduced);
    memset(b->came, 0, sizeof b->came);
    memset(b->shared, 0, b->shared_bytes);
    for (u32 k = 0; k < b->warp_count; k++) {
        struct warp *w = &b->warps[k];
        u32 lanes = threads - 32 * k >= 32 ? ~0u : (1u << (threads - 32 * k)) - 1;
        memset(w->registers, 0, (size_t)rows * 128);
        memset(w->predicates, 0, sizeof w->predicates);
        memset(w->uniform_predicates, 0, sizeof w->uniform_predicates);
        memset(w->uniform, 0, sizeof w->uniform);
        memset(w->barriers, 0, sizeof w->barriers);
        w->predicates[7] = w->uniform_predicates[7] = ~0u;
        w->group_count = 1;
        w->groups[0] = (struct group){lanes, kernel->entry, READY, 0, 0};
        w->live = lanes;
        w->index = k;
        w->waits = w->upper = false;
        w->highest = w->starved = 0;
        w->steps = 0;
    }
}

static void make_block(struct block *b, u32 shared)
{
    b->warp_count = (block_[0] * block_[1] * block_[2] + 31) / 32;
    b->shared_bytes = shared;
    b->shared = calloc(1, shared + 16);
    b->warps = calloc(b->warp_count, sizeof *b->warps);
    for (u32 k = 0; k < b->warp_count; k++) {
        b->warps[k].registers = aligned_alloc(64, (size_t)rows * 128);
        b->warps[k].local = local_bytes ? calloc(32, local_bytes) : NULL;
    }
}

static void free_block(struct block *b)
{
    for (u32 k = 0; k < b->warp_count; k++) {
        free(b->warps[k].registers);
        free(b->warps[k].local);
    }
    free(b->warps);
    free(b->shared);
}

#define CHECKPOINTS 64
struct checkpoint { u64 v[9]; };
static struct checkpoint checkpoints[CHECKPOINTS];
static u32 checkpoint_count;
static u64 checkpoint_interval;

/* What memory has done so far, against the instructions followed; every other one goes when there is no room. */
static void checkpoint(void)
{
    struct checkpoint here = {{steps, dram_read, dram_written, footprint_read, footprint_written, mapped_read, mapped_written, sectors_read, sectors_written}};
    if (checkpoint_count == CHECKPOINTS) {
        for (u32 k = 0; k < CHECKPOINTS / 2; k++) checkpoints[k] = checkpoints[2 * k + 1];
        checkpoint_count = CHECKPOINTS / 2;
        checkpoint_interval *= 2;
    }
    checkpoints[checkpoint_count++] = here;
}

struct outcome { u32 begun, finished, sampled; bool complete, cut; double seconds; };

#define TURN 2048

static u32 greatest_common(u32 a, u32 b) { return b ? greatest_common(b, a % b) : a; }

/* How many blocks the device holds at a time. */
static u32 resident_blocks(const struct kernel *kernel, u32 warps, u32 shared)
{
    const struct machine_device *device = machine_device();
    u32 per = device->threads_per_multiprocessor / (warps * 32);
    u32 by_registers = 65536 / ((kernel->registers + 7) / 8 * 8 * warps * 32 + 1);
    u32 by_shared = shared ? device->shared_per_multiprocessor / (shared + 1024) : 32;
    if (by_registers < per) per = by_registers;
    if (by_shared < per) per = by_shared;
    if (device->blocks_per_multiprocessor < per) per = device->blocks_per_multiprocessor;
    return (per ? per : 1) * device->multiprocessors;
}

/* All blocks in the order of the grid, as many at a time as the device holds: the memory's view. If that takes too long, it is left after half of the
 * time, and single blocks spread over the grid are followed to their end: they tell what all execute. */
static struct outcome follow(const struct kernel *kernel, u32 shared, double seconds, bool wanted)
{
    u32 blocks = grid_[0] * grid_[1] * grid_[2], warps = (block_[0] * block_[1] * block_[2] + 31) / 32;
    u64 bytes = (u64)warps * ((u64)rows * 128 + 32ull * local_bytes) + shared + 4096;
    u32 resident = resident_blocks(kernel, warps, shared), slots, used = 0, next = 0, active = 1;
    double begin = now(), until = wanted ? 0.5 * seconds : seconds;
    struct outcome out = {0};
    if (resident > blocks) resident = blocks;
    slots = resident > (1ull << 29) / bytes ? (u32)((1ull << 29) / bytes) : resident;
    if (!slots) slots = 1;
    /* Fewer blocks than the device would hold get their part of the cache. */
    if (slots < resident) cache_sized(machine_device()->l2_bytes * (u64)slots / resident);
    struct block *running = calloc(slots, sizeof *running);
    checkpoint_count = 0;
    checkpoint_interval = TURN;
    steps = longest = faults = unknown_operations = 0;
    u64 last_checkpoint = 0;
    while (active) {
        active = 0;
        for (u32 k = 0; k < slots; k++) {
            struct block *b = &running[k];
            if (k == used && next < blocks) make_block(b, shared), used++;
            else if (k >= used || (b->done && next >= blocks)) continue;
            else if (!b->done) goto go_on;
            begin_block(b, next++, k, kernel);
        go_on:
            run_block(b, TURN);
            if (b->done) out.finished++;
            active = 1;
            if (steps - last_checkpoint >= checkpoint_interval) checkpoint(), last_checkpoint = steps;
            if ((k & 7) == 7 || k + 1 == slots) {
                double t = now() - begin;
                /* What would end in time goes on. */
                if (t > until && (!out.finished || t / out.finished * blocks > seconds || t > seconds)) {
                    active = 0;
                    break;
                }
            }
        }
    }
    checkpoint();
    out.begun = next;
    out.complete = out.finished == blocks;
    if (wanted && !out.complete) {
        u32 stride = (u32)(0.618 * blocks) | 1, block = blocks / 2;
        size_t size = (size_t)code_count * 8;
        u64 *kept[4], *all[4] = {count_warps, count_threads, count_sectors, count_passes};
        while (greatest_common(stride, blocks) != 1) stride++;
        for (int k = 0; k < 4; k++) kept[k] = malloc(size), memcpy(kept[k], all[k], size), memset(all[k], 0, size);
        while (out.sampled < blocks && !out.cut && (now() - begin < seconds || (out.sampled < 3 && now() - begin < 1.5 * seconds))) {
            begin_block(&running[0], block, 0, kernel);
            while (!running[0].done && !out.cut) {
                run_block(&running[0], TURN);
                if (now() - begin > 1.5 * seconds) out.cut = true;
            }
            if (running[0].done) out.sampled++;
            block = (u32)(((u64)block + stride) % blocks);
        }
        /* A block that did not end says less than what all have begun; several say enough without it. */
        if (!out.sampled)
            for (int k = 0; k < 4; k++) memcpy(all[k], kept[k], size);
        else if (out.sampled > 2) out.cut = false;
        for (int k = 0; k < 4; k++) free(kept[k]);
    }
    for (u32 k = 0; k < used; k++) free_block(&running[k]);
    free(running);
    out.seconds = now() - begin;
    return out;
}

/* ------------------------------------------------------------------------------------------------ files */

static struct machine_device imitated = {
    "NVIDIA GeForce RTX 3080", 8, 6, 68, 1440000, 9501000, 320, 5242880, 49152, 101376, 102400, 65536, 1536, 16, 10ull << 30};
static char **wanted_names;
static u32 wanted_count, wanted_grid[3], wanted_block[3], wanted_occurrence;
static bool wanted_shape, wanted_all, whole; /* whole: every launch is followed to its end and recorded */
static double wanted_seconds = 4, other_seconds = 3;
static const char *folder;
static FILE *results;
static u32 *occurrences;
static bool loaded;
static const u8 *blob;
static size_t blob_at;

static u32 get32(void) { u32 v; memcpy(&v, blob + blob_at, 4); blob_at += 4; return v; }
static u64 get64(void) { u64 v; memcpy(&v, blob + blob_at, 8); blob_at += 8; return v; }
static char *get_text(void)
{
    u32 n = get32();
    char *text = malloc(n + 1);
    memcpy(text, blob + blob_at, n);
    text[n] = 0;
    blob_at += n;
    return text;
}
static u8 *get_bytes(u32 *count)
{
    *count = get32();
    u8 *v = malloc(*count + 16);
    memcpy(v, blob + blob_at, *count);
    blob_at += *count;
    return v;
}

static void read_settings(void)
{
    char path[4096], key[64], line[8192];
    snprintf(path, sizeof path, "%s/settings", folder);
    FILE *file = fopen(path, "r");
    if (!file) return;
    while (fgets(line, sizeof line, file)) {
        char *value = strchr(line, ' ');
        if (!value) continue;
        size_t n = (size_t)(value - line);
        if (n >= sizeof key) continue;
        memcpy(key, line, n);
        key[n] = 0;
        value++;
        value[strcspn(value, "\n")] = 0;
        u64 number = strtoull(value, NULL, 10);
#define SETTING(name) else if (!strcmp(key, #name)) imitated.name = (__typeof__(imitated.name))number;
        if (!strcmp(key, "want")) {
            if (!strcmp(value, "*")) wanted_all = true;
            wanted_names = realloc(wanted_names, (wanted_count + 1) * sizeof *wanted_names);
            wanted_names[wanted_count++] = strdup(value);
        } else if (!strcmp(key, "grid")) wanted_shape = true, sscanf(value, "%u %u %u", wanted_grid, wanted_grid + 1, wanted_grid + 2);
        else if (!strcmp(key, "block")) wanted_shape = true, sscanf(value, "%u %u %u", wanted_block, wanted_block + 1, wanted_block + 2);
        else if (!strcmp(key, "occurrence")) wanted_occurrence = (u32)number;
        else if (!strcmp(key, "whole")) whole = number != 0;
        else if (!strcmp(key, "seconds")) wanted_seconds = strtod(value, NULL);
        else if (!strcmp(key, "other_seconds")) other_seconds = strtod(value, NULL);
        else if (!strcmp(key, "name")) snprintf(imitated.name, sizeof imitated.name, "%s", value);
        SETTING(major) SETTING(minor) SETTING(multiprocessors) SETTING(clock_khz) SETTING(memory_clock_khz) SETTING(bus_bits)
        SETTING(l2_bytes) SETTING(shared_per_block) SETTING(shared_per_block_optin) SETTING(shared_per_multiprocessor)
        SETTING(registers_per_block) SETTING(threads_per_multiprocessor) SETTING(blocks_per_multiprocessor) SETTING(memory_bytes)
    }
    fclose(file);
}

/* Layout of the file "code": see lowering.py. */
static void load_code(void)
{
    char path[4096];
    if (loaded) return;
    loaded = true;
    folder = getenv("CHATHPC_MACHINE");
    if (!folder) return;
    read_settings();
    snprintf(path, sizeof path, "%s/launches", folder);
    results = fopen(path, "a");
    snprintf(path, sizeof path, "%s/code", folder);
    int fd = open(path, O_RDONLY);
    if (fd < 0) return;
    off_t size = lseek(fd, 0, SEEK_END);
    blob = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (blob == MAP_FAILED || get32() != 0x31504843) return;
    code_count = get32();
    code = calloc(code_count + 1, sizeof *code);
    memcpy(code, blob + blob_at, (size_t)code_count * sizeof *code);
    blob_at += (size_t)code_count * sizeof *code;
    module_count = get32();
    modules = calloc(module_count, sizeof *modules);
    for (u32 m = 0; m < module_count; m++) {
        modules[m].first = get32();
        modules[m].count = get32();
    }
    variable_count = get32();
    variables = calloc(variable_count, sizeof *variables);
    for (u32 k = 0; k < variable_count; k++) {
        struct variable *v = &variables[k];
        u32 bank, offset, initial;
        v->name = get_text();
        v->module = get32();
        v->size = get64();
        bank = get32();
        offset = get32();
        u8 *content = get_bytes(&initial);
        if (bank == ~0u) {
            v->memory = mmap(NULL, v->size + 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            memcpy(v->memory, content, initial);
            machine_allocated(v->memory, v->size, MACHINE_DEVICE);
        } else {
            struct module *m = &modules[v->module];
            if (!m->banks[bank]) m->banks[bank] = calloc(1, 65536 + 64), m->bank_bytes[bank] = 65536;
            v->memory = m->banks[bank] + offset;
            memcpy(v->memory, content, initial);
        }
        free(content);
    }
    u32 fixes = get32();
    for (u32 k = 0; k < fixes; k++) {
        /* The address of a variable or of code, wanted in a bank or in an operand. */
        u32 in_code = get32(), where = get32(), place = get32(), part = get32(), variable = get32();
        u64 addend = get64();
        u64 value = addend + (variable == ~0u ? 0 : (u64)variables[variable].memory);
        u32 word = part ? (u32)(value >> 32) : (u32)value;
        if (in_code == 1) code[where].o[place].value = word;
        else if (in_code == 2) memcpy(variables[where].memory + place, &value, 8);
        else {
            u32 m = where >> 8, bank = where & 255;
            if (!modules[m].banks[bank]) modules[m].banks[bank] = calloc(1, 65536 + 64), modules[m].bank_bytes[bank] = 65536;
            if (part == 2) memcpy(modules[m].banks[bank] + place, &value, 8);
            else memcpy(modules[m].banks[bank] + place, &word, 4);
        }
    }
    kernel_count = get32();
    kernels = calloc(kernel_count, sizeof *kernels);
    occurrences = calloc(kernel_count + 1, sizeof *occurrences);
    for (u32 k = 0; k < kernel_count; k++) {
        struct kernel *one = &kernels[k];
        one->name = get_text();
        one->module = get32();
        one->entry = get32();
        one->registers = get32();
        one->shared = get32();
        one->local = get32();
        one->max_threads = get32();
        one->parameter_base = get32();
        one->parameter_count = get32();
        one->parameters = calloc(one->parameter_count + 1, sizeof *one->parameters);
        for (u32 j = 0; j < one->parameter_count; j++) one->parameters[j].offset = get32(), one->parameters[j].size = get32();
    }
    count_warps = calloc(code_count + 1, 8);
    count_threads = calloc(code_count + 1, 8);
    count_sectors = calloc(code_count + 1, 8);
    count_passes = calloc(code_count + 1, 8);
}

const struct machine_device *machine_device(void)
{
    load_code();
    return &imitated;
}

static struct kernel *kernel_of(const char *name)
{
    load_code();
    for (u32 k = 0; k < kernel_count; k++)
        if (!strcmp(kernels[k].name, name)) return &kernels[k];
    return NULL;
}

int machine_kernel(const char *name, struct machine_kernel *found)
{
    struct kernel *kernel = kernel_of(name);
    if (!kernel) return 0;
    u32 bytes = 0;
    for (u32 j = 0; j < kernel->parameter_count; j++) {
        u32 end = kernel->parameters[j].offset + kernel->parameters[j].size;
        if (end > bytes) bytes = end;
    }
    *found = (struct machine_kernel){kernel->registers, kernel->shared, kernel->local, kernel->parameter_count, bytes, kernel->max_threads};
    return 1;
}

void *machine_variable(const char *name, size_t *bytes)
{
    load_code();
    for (u32 k = 0; k < variable_count; k++)
        if (!strcmp(variables[k].name, name)) {
            if (bytes) *bytes = variables[k].size;
            return variables[k].memory;
        }
    return NULL;
}

void machine_missing(const char *name)
{
    static const char *said[256];
    static u32 count;
    load_code();
    for (u32 k = 0; k < count; k++)
        if (!strcmp(said[k], name)) return;
    if (count == 256 || !results) return;
    said[count++] = strdup(name);
    fprintf(results, "{\"missing\": \"%s\"}\n", name);
    fflush(results);
}

static void write_counts(const char *key, const u64 *warps, const u64 *threads, const u64 *sectors, const u64 *passes)
{
    bool first = true;
    fprintf(results, ", \"%s\": [", key);
    for (u32 k = 0; k < code_count; k++)
        if (warps[k]) {
            fprintf(results, "%s[%u,%llu,%llu,%llu,%llu]", first ? "" : ",", k, (unsigned long long)warps[k], (unsigned long long)threads[k],
                    (unsigned long long)sectors[k], (unsigned long long)passes[k]);
            first = false;
        }
    fprintf(results, "]");
}

static void write_launch(const struct kernel *kernel, const struct outcome *out, u32 dynamic, u32 occurrence, u32 skipped)
{
    u32 end = kernel->parameter_base;
    fprintf(results, "{\"kernel\": \"%s\", \"grid\": [%u,%u,%u], \"block\": [%u,%u,%u], \"dynamic_shared\": %u, \"occurrence\": %u",
            kernel->name, grid_[0], grid_[1], grid_[2], block_[0], block_[1], block_[2], dynamic, occurrence);
    fprintf(results, ", \"registers\": %u, \"shared\": %u, \"local\": %u", kernel->registers, kernel->shared, kernel->local);
    fprintf(results, ", \"begun\": %u, \"finished\": %u, \"sampled\": %u, \"complete\": %s, \"cut\": %s, \"seconds\": %.3f, \"faults\": %llu, \"unknown\": %llu, \"longest\": %llu, \"skipped\": %u",
            out->begun, out->finished, out->sampled, out->complete ? "true" : "false", out->cut ? "true" : "false", out->seconds,
            (unsigned long long)faults, (unsigned long long)unknown_operations, (unsigned long long)longest, skipped);
    for (u32 j = 0; j < kernel->parameter_count; j++)
        if (kernel->parameter_base + kernel->parameters[j].offset + kernel->parameters[j].size > end) end = kernel->parameter_base + kernel->parameters[j].offset + kernel->parameters[j].size;
    fprintf(results, ", \"parameters\": [");
    for (u32 j = 0; j < kernel->parameter_count; j++) {
        fprintf(results, "%s\"", j ? "," : "");
        for (u32 k = 0; k < kernel->parameters[j].size && k < 64; k++) fprintf(results, "%02x", constants[kernel->parameter_base + kernel->parameters[j].offset + k]);
        fprintf(results, "\"");
    }
    fprintf(results, "], \"memory\": [");
    for (u32 k = 0; k < checkpoint_count; k++) {
        for (u32 j = 0; j < 9; j++) fprintf(results, j ? ",%llu" : k ? ",[%llu" : "[%llu", (unsigned long long)checkpoints[k].v[j]);
        fprintf(results, "]");
    }
    fprintf(results, "], \"allocations\": [");
    bool first = true;
    for (u32 k = 0; k < allocation_count; k++) {
        struct allocation *a = &allocations[k];
        u64 read = 0, written = 0, words = ((a->end - a->begin) >> 11) + 2;
        if (!a->read && !a->written) continue;
        for (u64 j = 0; j < words; j++) {
            if (a->read) read += (u64)__builtin_popcountll(a->read[j]);
            if (a->written) written += (u64)__builtin_popcountll(a->written[j]);
        }
        fprintf(results, "%s[%llu,%llu,%llu,%d]", first ? "" : ",", (unsigned long long)(a->end - a->begin), (unsigned long long)read, (unsigned long long)written, a->space);
        first = false;
    }
    fprintf(results, "]");
    write_counts("counts", count_warps, count_threads, count_sectors, count_passes);
    fprintf(results, "}\n");
    fflush(results);
}

int machine_launch(const char *name, const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_shared, void *const *arguments)
{
    static double spent;
    static u32 skipped, recorded;
    struct kernel *kernel = kernel_of(name);
    if (!kernel) {
        machine_missing(name);
        return 1;
    }
    u32 occurrence = occurrences[kernel - kernels]++;
    bool wanted = false, shaped = true;
    for (u32 k = 0; k < wanted_count; k++) wanted |= !strcmp(wanted_names[k], name);
    if (wanted_shape)
        for (int k = 0; k < 3; k++) shaped &= grid[k] == wanted_grid[k] && block[k] == wanted_block[k];
    bool final = wanted && shaped && occurrence >= wanted_occurrence;
    if (wanted_all) wanted = occurrence == 0, final = false;
    bool full = wanted_all ? wanted : final;
    double seconds = full ? wanted_seconds : 0.5 * (other_seconds - spent);
    if (!full && seconds > 1) seconds = 1;
    if (whole) full = wanted = true, final = false, seconds = 1e9;
    if (!full && (seconds < 0.02 || occurrence > 200)) {
        skipped++;
        return 0;
    }
    memcpy(grid_, grid, sizeof grid_);
    memcpy(block_, block, sizeof block_);
    module = &modules[kernel->module];
    zero_row = kernel->registers + 8 > 255 ? 255 : kernel->registers + 8;
    rows = zero_row + 1;
    local_bytes = (kernel->local + 1024 + 15) & ~15u;
    memset(constants, 0, sizeof constants);
    memcpy(constants, block_, 12);
    memcpy(constants + 0xc, grid_, 12);
    u32 window = (u32)(LOCAL_WINDOW >> 32), shared_window = (u32)(SHARED_WINDOW >> 32);
    memcpy(constants + 0x24, &window, 4);
    memcpy(constants + 0x1c, &shared_window, 4);
    memcpy(constants + 0x28, &local_bytes, 4);
    for (u32 j = 0; j < kernel->parameter_count; j++)
        if (kernel->parameter_base + kernel->parameters[j].offset + kernel->parameters[j].size <= sizeof constants)
            memcpy(constants + kernel->parameter_base + kernel->parameters[j].offset, arguments[j], kernel->parameters[j].size);
    memset(count_warps, 0, (size_t)code_count * 8);
    memset(count_threads, 0, (size_t)code_count * 8);
    memset(count_sectors, 0, (size_t)code_count * 8);
    memset(count_passes, 0, (size_t)code_count * 8);
    cache_cold(imitated.l2_bytes);
    struct outcome out = follow(kernel, kernel->shared + dynamic_shared, seconds, full);
    if (!full) spent += out.seconds;
    if (!full && !out.complete) skipped++;
    if (wanted && results && (full || recorded < 8)) write_launch(kernel, &out, dynamic_shared, occurrence, skipped), recorded++;
    if (final) {
        fflush(NULL);
        _exit(0);
    }
    return 0;
}
