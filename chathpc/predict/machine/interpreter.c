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
#include "memory.h"

#include <fcntl.h>
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum operation {
#define OP(name) OP_##name,
#include "operations.h"
#undef OP
};

/* What lowering.py writes; both sides must agree. */
enum kind { K_NONE, K_REGISTER, K_UNIFORM, K_IMMEDIATE, K_CONSTANT, K_PREDICATE, K_UNIFORM_PREDICATE, K_BARRIER };
enum { M_NEGATE = 1, M_ABSOLUTE = 2, M_INVERT = 4, M_LOW = 8, M_HIGH = 16, M_WIDE = 32, M_BYTE = 64 /* and 128: which byte */ };
enum { F_CARRY = 1, F_SIGNED = 2, F_HIGH = 4, F_WRAP = 8, F_LEFT = 16, F_LONG = 32, F_EXTEND = 64, F_SATURATE = 512, F_BFLOAT = 1024,
       F_FLOAT = 2048, F_EX = 4096, F_ONES = 8192, F_SHIFT = 16384, F_HALF = 32768, F_ABSOLUTE = 65536 };
enum { T_U8, T_S8, T_U16, T_S16, T_U32, T_S32, T_U64, T_S64, T_F16, T_F32, T_F64, T_BF16, T_S4, T_U4 };
enum { SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONSTANT, SPACE_GENERIC };

/* Of an instruction o[0] is the result, o[1] to o[3] the sources, o[4] and o[5] predicates written, o[6] and o[7] predicates read. */
struct operand { u8 kind, modifiers; u16 index; u32 value, row; };
struct instruction {
    u16 operation; u8 guard, guard_not; u32 flags; u8 sub, sub2, type, width; s32 target;
    struct operand o[8];
};

struct parameter { u32 offset, size; };
struct kernel {
    char *name;
    u32 module, entry, registers, shared, local, max_threads, parameter_base, parameter_count; /* in the order of the file */
    struct parameter *parameters;
};
struct variable { char *name; u64 size; u8 *memory; u32 module; };
struct module { u32 first, count; u8 *banks[8]; };
enum { BANK_BYTES = 65536 };

static struct instruction *code;
static u32 code_count;
static struct kernel *kernels;
static u32 kernel_count;
static struct variable *variables;
static u32 variable_count;
static struct module *modules;
static u32 module_count;

/* ------------------------------------------------------------------------------------------------ the L2 cache */

#define WAYS 16
/* A tag is a hash of the line's number: of 2^32 lines one is taken for another. */
struct set { u32 tags[WAYS], used[WAYS]; u8 valid[WAYS], dirty[WAYS]; } __attribute__((aligned(64)));
static struct set *cache;
static u32 cache_sets, cache_time;
/* What has happened so far, in sectors but for the first: the order is that of "memory" in the results. */
static struct traffic {
    u64 steps, dram_read, dram_written, footprint_read, footprint_written, mapped_read, mapped_written, sectors_read, sectors_written;
} traffic;

/* An empty cache of that size. */
static void cache_sized(u64 bytes)
{
    u32 sets = (u32)(bytes / (128 * WAYS)) ? (u32)(bytes / (128 * WAYS)) : 1;
    if (sets != cache_sets) free(cache), cache = aligned_alloc(64, (cache_sets = sets) * sizeof *cache);
    memset(cache, 0, cache_sets * sizeof *cache);
    cache_time = 0;
}

static void cache_cold(u64 bytes)
{
    cache_sized(bytes);
    traffic = (struct traffic){0};
    for (u32 i = 0; i < allocation_count; i++) {
        free(allocations[i].read);
        free(allocations[i].written);
        allocations[i].read = allocations[i].written = NULL;
    }
}

static inline struct set *set_of(u64 hash) { return cache + ((hash >> 32) * cache_sets >> 32); }
static inline u64 hash_of(u64 line) { return (line + 1) * 0x9E3779B97F4A7C15ull; }

/* Sectors of one line are read or written: `bits` says which of its four. Returns how many of them were not there. */
static u32 cache_access(u64 line, u32 bits, bool write)
{
    u64 hash = hash_of(line);
    struct set *set = set_of(hash);
    u32 tag = (u32)(hash ^ line), found = 0, way = 0;
    for (u32 k = 0; k < WAYS; k++) found |= (u32)(set->tags[k] == tag) << k;
    if (found) {
        way = (u32)__builtin_ctz(found);
        found = bits & set->valid[way];
    } else {
        for (u32 k = 1; k < WAYS; k++)
            if (set->used[k] < set->used[way]) way = k;
        traffic.dram_written += (u64)__builtin_popcount(set->dirty[way]);
        set->tags[way] = tag;
        set->valid[way] = set->dirty[way] = 0;
    }
    set->used[way] = ++cache_time;
    set->valid[way] |= (u8)bits;
    if (write) set->dirty[way] |= (u8)bits;
    return (u32)__builtin_popcount(bits & ~found);
}

static void touch(struct allocation *owner, u64 line, u32 bits, bool write, bool atomic)
{
    u32 count = (u32)__builtin_popcount(bits);
    if (!owner && !(owner = allocation_of(line << 7))) owner = allocation_of((line << 7) + 127);
    *(write ? &traffic.sectors_written : &traffic.sectors_read) += count;
    if (owner) {
        u64 place = 4 * (line - (owner->begin >> 7)), **seen = write ? &owner->written : &owner->read;
        if (!*seen) *seen = calloc(((owner->end - owner->begin) >> 11) + 3, 8);
        u64 *word = *seen + (place >> 6), new = ((u64)bits << (place & 63)) & ~*word;
        *word |= new;
        *(write ? &traffic.footprint_written : &traffic.footprint_read) += (u64)__builtin_popcountll(new);
        if (owner->space == MACHINE_MAPPED) {
            *(write ? &traffic.mapped_written : &traffic.mapped_read) += count;
            return;
        }
    }
    u32 missing = cache_access(line, bits, write);
    if (!write || atomic) traffic.dram_read += missing;
}

/* ------------------------------------------------------------------------------------------------ warps and blocks */

/* A value of each lane of a warp. */
typedef u32 row[32] __attribute__((aligned(64)));
typedef u64 wide_row[32] __attribute__((aligned(64)));
typedef real real_row[32] __attribute__((aligned(64)));
typedef double double_row[32] __attribute__((aligned(64)));

enum { READY, AT_CONVERGENCE, AT_WARPSYNC, AT_BARRIER };
struct group { u32 mask, pc; u8 state, barrier; u32 wanted; };
/* Rows of 32 lanes: uniform registers (each lane the same), zeros, what nobody reads, registers. Those from POOL on are the
 * immediates and constants of the code. */
enum { ROW_UNIFORM = 0, ROW_ZERO = 63, ROW_TRASH = 64, ROW_REGISTER = 65, POOL = 1 << 20 };
/* Predicates: P0 to P7, UP0 to UP7, and one that is false. */
enum { P_NONE = 16 };
struct warp {
    u32 *rows[2]; /* of registers, and of the pool as if it began at 0 */
    u32 predicates[32];
    row barriers[16]; /* of each lane: who meets there */
    struct group groups[32];
    u32 group_count, live, index, highest;
    u8 *local; /* words of the 32 lanes side by side, as the hardware has them */
    bool waits, upper;
    u8 waits_at, reduces, starved;
    u64 steps;
};
struct block {
    u32 x, y, z, warp_count, slot;
    struct warp *warps;
    u8 *shared;
    u32 shared_bytes;
    u32 arrived[16], expected[16], reduced[16], came[16];
    u32 result;
    bool all, done;
};
struct count { u64 warps, threads, sectors, passes, requests; };

static struct count *counts;
static u32 local_bytes, registers; /* of a thread */
static u8 constants[BANK_BYTES];
static u32 grid_[3], block_[3];
static struct module *module;
static u32 *pool;
static struct { u32 bank, value; } *pool_of; /* bank ~0: an immediate */
static u32 pool_count, pool_room;
static row *places[3]; /* of the threads of each warp in their block */
/* Accesses to nobody's memory, instructions that are not known, and those of the longest warp. */
static struct told { u64 faults, unknown, longest; } told;
static u32 current_pc;

#define SHARED_WINDOW 0x0001000000000000ull
#define LOCAL_WINDOW 0x0002000000000000ull
#define WINDOW 0x0000000001000000ull
#define STARVED 4 /* turns of a group that waits for those behind it; then it has FAIR instructions */
#define FAIR 64
#define HEAP (1ull << 32) /* of device malloc: addresses, not memory */
#define ARENA (1ull << 32) /* of blocks, likewise */
/* For each lane: at once where no lane depends on another, or one after the other. */
#define LANES _Pragma("GCC ivdep") for (int l = 0; l < 32; l++)
#define ACTIVE(mask) for (int l = 0; l < 32; l++) if ((mask) >> l & 1)

/* What following has taken so far: nanoseconds of instructions by their kind, of sectors, and of warps that begin (24 launches of the labels on one
 * processor: 0.4 to 1.5 times what they took). No clock is read: a launch is followed as far in every run and on every machine. */
static u64 work;
enum { PLAIN = 7, PER_SECTOR = 20, PER_WARP = 220 };
static const u8 dearer[OP_YIELD + 1] = {
    [OP_DADD] = 70, [OP_DMUL] = 70, [OP_DFMA] = 70, [OP_DSETP] = 70, [OP_MUFU] = 110, [OP_CONVERT] = 110, [OP_F2FP] = 110,
    [OP_HADD2] = 110, [OP_HMUL2] = 110, [OP_HFMA2] = 110, [OP_HSETP2] = 110, [OP_HSET2] = 110, [OP_HMNMX2] = 110, [OP_SHFL] = 90,
    [OP_LOAD] = 90, [OP_STORE] = 90, [OP_ATOM] = 90, [OP_LDGSTS] = 90, [OP_LDSM] = 90, [OP_TEXTURE] = 90, [OP_MATRIX] = 250,
};
static double now(void) { return 1e-9 * (double)(work + PER_SECTOR * (traffic.sectors_read + traffic.sectors_written)); }

static inline u32 float_bits(float x) { u32 v; memcpy(&v, &x, 4); return v; }
static inline float bits_float(u32 x) { float v; memcpy(&v, &x, 4); return v; }
static inline u64 double_bits(double x) { u64 v; memcpy(&v, &x, 8); return v; }
static inline double bits_double(u64 x) { double v; memcpy(&v, &x, 8); return v; }
static inline float half_float(u16 x) { _Float16 v; memcpy(&v, &x, 2); return (float)v; }
static inline u16 float_half(float x) { _Float16 v = (_Float16)x; u16 r; memcpy(&r, &v, 2); return x != x ? 0x7fff : r; }
static inline float bf_float(u16 x) { return bits_float((u32)x << 16); }
static inline u16 float_bf(float x) { u32 v = float_bits(x); return x != x ? 0x7fff : (u16)((v + 0x7fff + (v >> 16 & 1)) >> 16); }
static inline float to_float(u16 x, bool bfloat) { return bfloat ? bf_float(x) : half_float(x); }
static inline u16 from_float(float x, bool bfloat) { return bfloat ? float_bf(x) : float_half(x); }
/* Where one is no number the other is the result. */
#define LESSER(a, b) ((a) < (b) || (b) != (b) ? (a) : (b))
#define GREATER(a, b) ((a) > (b) || (b) != (b) ? (a) : (b))

/* The lowest bits of a number, with their sign if that is asked for. */
static inline u32 extended(u32 v, u32 bits, bool is_signed)
{
    if (bits >= 32) return v;
    if (!bits) return 0;
    return is_signed ? (u32)((s32)(v << (32 - bits)) >> (32 - bits)) : v & ((1u << bits) - 1);
}

static u32 constant32(u32 bank, u32 offset)
{
    const u8 *from = bank == 0 ? constants : bank < 8 ? module->banks[bank] : NULL;
    u32 v = 0;
    if (from && offset <= BANK_BYTES - 4) memcpy(&v, from + offset, 4);
    return v;
}

/* ------------------------------------------------------------------------------------------------ operands */

static inline u32 *row_at(struct warp *w, u32 at) { return w->rows[at / POOL] + 32ull * at; }
static inline u32 first_of(struct warp *w, const struct operand *o, u32 mask) { return row_at(w, o->row)[mask ? __builtin_ctz(mask) : 0]; }

static const u32 *changed(const u32 *from, u32 modifiers, u32 *into)
{
    if (modifiers & M_BYTE) {
        int shift = 8 * (int)(modifiers >> 7) + 16 * !!(modifiers & M_HIGH);
        LANES into[l] = from[l] >> shift;
    } else if (modifiers & M_INVERT) LANES into[l] = ~from[l];
    else if (modifiers & M_NEGATE) LANES into[l] = -from[l];
    else return from;
    return into;
}

/* The 32 values of an operand, as integers or floats: `buffer` is used where they are not a row as it stands. */
static inline const u32 *integers(struct warp *w, const struct operand *o, u32 *buffer)
{
    const u32 *found = row_at(w, o->row);
    return o->modifiers ? changed(found, o->modifiers, buffer) : found;
}

static inline const real *reals(struct warp *w, const struct operand *o, real *buffer)
{
    const u32 *found = row_at(w, o->row);
    if (!(o->modifiers & (M_NEGATE | M_ABSOLUTE))) return (const real *)found;
    u32 clear = o->modifiers & M_ABSOLUTE ? 0x7fffffffu : ~0u, flip = o->modifiers & M_NEGATE ? 0x80000000u : 0;
    LANES ((u32 *)buffer)[l] = (found[l] & clear) ^ flip;
    return buffer;
}

static void wides(struct warp *w, const struct operand *o, u64 *into)
{
    const u32 *low = row_at(w, o->row);
    if (o->kind == K_REGISTER || o->kind == K_UNIFORM) {
        const u32 *high = o->row == ROW_ZERO ? low : low + 32;
        LANES into[l] = (u64)high[l] << 32 | low[l];
        return;
    }
    u64 v = o->kind == K_CONSTANT ? (u64)constant32(o->index, o->value + 4) << 32 | low[0] : o->modifiers & M_WIDE ? (u64)o->value << 32 : (u64)(s64)(s32)o->value;
    LANES into[l] = v;
}

static void doubles(struct warp *w, const struct operand *o, double *into)
{
    u64 *bits = (u64 *)into, clear = o->modifiers & M_ABSOLUTE ? ~(1ull << 63) : ~0ull, flip = o->modifiers & M_NEGATE ? 1ull << 63 : 0;
    wides(w, o, bits);
    LANES bits[l] = (bits[l] & clear) ^ flip;
}

/* Two halves of each of 32 values, as floats. */
static void halves(struct warp *w, const struct operand *o, bool bfloat, real *low, real *high)
{
    const u32 *v = row_at(w, o->row);
    u32 first = o->modifiers & M_HIGH ? 16 : 0, second = o->modifiers & M_LOW ? 0 : 16;
    u32 clear = o->modifiers & M_ABSOLUTE ? 0x7fff : 0xffff, flip = o->modifiers & M_NEGATE ? 0x8000 : 0;
    LANES {
        low[l] = to_float((u16)((v[l] >> first & clear) ^ flip), bfloat);
        high[l] = to_float((u16)((v[l] >> second & clear) ^ flip), bfloat);
    }
}

static inline u32 predicate(struct warp *w, const struct operand *o)
{
    u32 v = w->predicates[o->row & 31];
    return o->modifiers & M_INVERT ? ~v : v;
}

static inline void set_predicate(struct warp *w, const struct operand *o, u32 value, u32 mask)
{
    if (o->row % 8 == 7 || o->row >= P_NONE || !mask) return;
    if (o->row >= 8) value = value >> __builtin_ctz(mask) & 1 ? ~0u : 0, mask = ~0u;
    w->predicates[o->row] = (w->predicates[o->row] & ~mask) | (value & mask);
}

/* Write a result, or the one `further` rows behind it. */
static inline void put(struct warp *w, const struct operand *o, u32 further, const u32 *value, u32 mask)
{
    u32 *to = w->rows[0] + 32ull * (o->row + further);
    if (o->row == ROW_TRASH || o->row + further == ROW_ZERO) return;
    if (o->kind == K_UNIFORM) {
        u32 v = value[mask ? __builtin_ctz(mask) : 0];
        LANES to[l] = v;
    } else if (mask == ~0u) LANES to[l] = value[l];
    else LANES {
        u32 on = -(mask >> l & 1);
        to[l] = (value[l] & on) | (to[l] & ~on);
    }
}

static void put_wide(struct warp *w, const struct operand *o, const u64 *value, u32 mask)
{
    row half;
    LANES half[l] = (u32)value[l];
    put(w, o, 0, half, mask);
    LANES half[l] = (u32)(value[l] >> 32);
    put(w, o, 1, half, mask);
}

/* A bit of each lane where a value is not zero. */
static inline u32 set_lanes(const u32 *value)
{
    u32 found = 0;
    LANES found |= (u32)(value[l] != 0) << l;
    return found;
}

enum { CMP_F, CMP_LT, CMP_EQ, CMP_LE, CMP_GT, CMP_NE, CMP_GE, CMP_NUM, CMP_NAN, CMP_LTU, CMP_EQU, CMP_LEU, CMP_GTU, CMP_NEU,
       CMP_GEU, CMP_T, CMP_MAX, CMP_MIN };
/* Compare two rows in one of the ways: a bit of each lane. */
#define COMPARED(name, type)                                                                                                          \
    static u32 name(u32 how, const type *a, const type *b)                                                                            \
    {                                                                                                                                 \
        u32 found = 0;                                                                                                                \
        switch (how) {                                                                                                                \
            WAY(LT, a[l] < b[l]) WAY(EQ, a[l] == b[l]) WAY(LE, a[l] <= b[l]) WAY(GT, a[l] > b[l]) WAY(GE, a[l] >= b[l])                \
            WAY(NE, a[l] < b[l] || a[l] > b[l]) WAY(NUM, a[l] == a[l] && b[l] == b[l]) WAY(NAN, a[l] != a[l] || b[l] != b[l])          \
            WAY(LTU, !(a[l] >= b[l])) WAY(EQU, !(a[l] < b[l] || a[l] > b[l])) WAY(LEU, !(a[l] > b[l])) WAY(GTU, !(a[l] <= b[l]))       \
            WAY(NEU, a[l] != b[l]) WAY(GEU, !(a[l] < b[l])) WAY(T, true) WAY(MAX, a[l] > b[l] || b[l] != b[l])                         \
            WAY(MIN, a[l] < b[l] || b[l] != b[l])                                                                                     \
        }                                                                                                                             \
        return found;                                                                                                                 \
    }
#define WAY(name, holds) case CMP_##name: LANES found |= (u32)(holds) << l; break;
COMPARED(compared_floats, real)
COMPARED(compared_doubles, double)
COMPARED(compared_signed, s32)
COMPARED(compared_unsigned, u32)

static inline u32 combined(u32 how, u32 a, u32 b) { return how == 0 ? a & b : how == 1 ? a | b : a ^ b; }

/* Comparisons give a predicate and, for the second result, its contrary. */
static void set_compared(struct warp *w, const struct instruction *i, u32 found, u32 second, u32 mask)
{
    u32 with = i->o[6].kind == K_NONE ? ~0u : predicate(w, &i->o[6]);
    set_predicate(w, &i->o[4], combined(i->sub2, found, with), mask);
    set_predicate(w, &i->o[5], combined(i->sub2, second, with), mask);
}

enum { ROUND_NEAREST, ROUND_UP, ROUND_DOWN, ROUND_ZERO };
static __attribute__((noinline)) void round_to(u32 how)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    fesetround(modes[how & 3]);
}
/* What is in an array is there, and the compiler moves no operation on it to the other side. */
#define BARRIER(array) __asm__ volatile("" : "+m"(array) : : "memory")

/* ------------------------------------------------------------------------------------------------ memory */

/* Where the lanes of a request go. `straight`: each lane's bytes follow those of the lane before it; `owner`: all of it is his. */
struct access { wide_row at; u32 bytes, mask; u8 space; bool straight; u64 low, high; struct allocation *owner; };

static void addresses(struct warp *w, const struct instruction *i, u64 *into)
{
    /* o[1]: register (M_WIDE: a pair; value: shift), o[2]: uniform register, o[3]: offset */
    const u32 *low = row_at(w, i->o[1].row), *high = low + 32, *uniform = row_at(w, i->o[2].row);
    u64 base = (u64)(s64)(s32)i->o[3].value + uniform[0];
    if (i->o[2].modifiers & M_WIDE && i->o[2].row != ROW_ZERO) base += (u64)uniform[32] << 32;
    if (i->o[1].row == ROW_ZERO) LANES into[l] = base;
    else if (i->o[1].modifiers & M_WIDE) LANES into[l] = base + ((u64)high[l] << 32 | low[l]);
    else {
        u32 shift = i->o[1].value & 31;
        LANES into[l] = base + ((u64)low[l] << shift);
        if (i->sub2 == SPACE_SHARED || i->sub2 == SPACE_LOCAL) LANES into[l] &= 0xffffffffu;
    }
}

static u8 space_of(u64 address) { return address - SHARED_WINDOW < WINDOW ? SPACE_SHARED : address - LOCAL_WINDOW < WINDOW ? SPACE_LOCAL : SPACE_GLOBAL; }

/* The addresses of a request for the lanes of `mask`, not none. Generic ones become those of a space if all are of the same. */
static void prepare(struct warp *w, const struct instruction *i, u32 space, u32 bytes, u32 mask, struct access *x)
{
    u32 first = (u32)__builtin_ctz(mask);
    u64 begin, low = ~0ull, high = 0, bends = 0;
    addresses(w, i, x->at);
    if (space == SPACE_GENERIC) {
        u8 one = space_of(x->at[first]);
        bool same = true;
        ACTIVE(mask) same &= space_of(x->at[l]) == one;
        if (same) {
            u64 window = one == SPACE_SHARED ? SHARED_WINDOW : one == SPACE_LOCAL ? LOCAL_WINDOW : 0;
            LANES x->at[l] -= window;
            space = one;
        }
    }
    begin = x->at[first] - (u64)first * bytes;
    LANES {
        u64 on = -(u64)(mask >> l & 1);
        bends |= (x->at[l] ^ (begin + (u64)l * bytes)) & on;
    }
    if (!bends) low = x->at[first], high = begin + (u64)bytes * (32 - (u32)__builtin_clz(mask));
    else ACTIVE(mask) {
        low = x->at[l] < low ? x->at[l] : low;
        high = x->at[l] + bytes > high ? x->at[l] + bytes : high;
    }
    x->bytes = bytes, x->mask = mask, x->space = (u8)space, x->low = low, x->high = high;
    x->straight = !bends && high > low && !(mask & (mask + (mask & -mask)));
    if (space == SPACE_GLOBAL) __builtin_prefetch(set_of(hash_of(low >> 7)));
    x->owner = space == SPACE_GLOBAL ? allocation_of(low) : NULL;
    if (x->owner && (high > x->owner->end || high < low)) x->owner = NULL;
}

/* Where lane l finds the four bytes (or fewer) of `part`; NULL if that is nobody's memory. */
static inline u8 *place_of(struct block *b, struct warp *w, const struct access *x, int l, u32 part)
{
    u64 at = x->at[l];
    u8 space = x->space;
    if (space == SPACE_GENERIC) {
        space = space_of(at);
        at -= space == SPACE_SHARED ? SHARED_WINDOW : space == SPACE_LOCAL ? LOCAL_WINDOW : 0;
    }
    if (space == SPACE_SHARED) return at < b->shared_bytes && at + x->bytes <= b->shared_bytes ? b->shared + at + 4 * part : NULL;
    if (space == SPACE_LOCAL) {
        at += 4 * part;
        return at < local_bytes ? w->local + (at >> 2) * 128 + 4 * (u32)l + (at & 3) : NULL;
    }
    if (!x->owner) {
        struct allocation *owner = allocation_of(at);
        if (!owner || at + x->bytes > owner->end) return NULL;
    }
    return (u8 *)at + 4 * part;
}

/* Distinct lines of a request, each with its sectors. */
struct lines { u32 count; u64 line[128]; u32 bits[128]; };
static void add_line(struct lines *lines, u64 line, u32 bits)
{
    static struct { u64 line; u32 stamp, at; } table[256];
    static u32 stamp;
    if (!lines->count) stamp++;
    for (u32 k = (u32)(line * 0x9E3779B97F4A7C15ull >> 56);; k = (k + 1) & 255) {
        if (table[k].stamp == stamp && table[k].line == line) {
            lines->bits[table[k].at] |= bits;
            return;
        }
        if (table[k].stamp == stamp) continue;
        if (lines->count == 128) return;
        table[k].line = line, table[k].stamp = stamp, table[k].at = lines->count;
        lines->line[lines->count] = line, lines->bits[lines->count++] = bits;
        return;
    }
}

/* Passes that shared memory, 32 banks of four bytes, takes. Of 8 or 16 bytes a lane it serves a half or a quarter of the warp at a time, or twice
 * as many lanes if all share their address with the one beside them, or all with the next but one (NVIDIA's forum, topic 77228). */
static u32 passes_of(const struct access *x)
{
    u32 shift = x->bytes > 8 ? 4 : x->bytes > 4 ? 3 : 2, words = 1u << (shift - 2), lanes = 32 / words, passes = 0, apart[2] = {0};
    if (x->straight) return words;
    if (words > 1) {
        ACTIVE(x->mask) for (int far = 1; far <= 2; far++) apart[far - 1] |= x->mask >> (l ^ far) & (x->at[l] != x->at[l ^ far]);
        if (!apart[0] || !apart[1]) lanes *= 2;
    }
    for (u32 first = 0; first < 32; first += lanes) {
        u32 most = 0, part = x->mask & (lanes < 32 ? (1u << lanes) - 1 : ~0u) << first;
        u64 known[32][32];
        u8 uses[32] = {0};
        ACTIVE(part) {
            u64 unit = x->at[l] >> shift;
            u32 bank = (u32)unit & (32 / words - 1), k = 0;
            while (k < uses[bank] && known[bank][k] != unit) k++;
            if (k == uses[bank]) known[bank][uses[bank]++] = unit;
            if (uses[bank] > most) most = uses[bank];
        }
        passes += most;
    }
    return passes;
}

/* The same of atomic operations, which share no pass. */
static u32 lanes_of_a_bank(const struct access *x)
{
    u32 uses[32] = {0}, most = 0;
    ACTIVE(x->mask) {
        u32 used = ++uses[x->at[l] >> 2 & 31];
        if (used > most) most = used;
    }
    return most;
}

/* Count what a request takes: sectors, and passes of L1, which has one for each line, or of shared memory ("wavefronts" of Nsight Compute's Kernel
 * Profiling Guide: what one cycle serves). Those of atomic operations are counted where these meet; they read and write in one request. */
static void request(struct block *b, struct warp *w, const struct access *x, bool write, bool atomic)
{
    struct lines lines;
    u8 space = x->space == SPACE_GENERIC ? space_of(x->at[__builtin_ctz(x->mask)]) : x->space;
    u32 sectors = 0;
    if (!atomic || !write) counts[current_pc].requests++;
    if (space == SPACE_SHARED) {
        counts[current_pc].passes += atomic ? lanes_of_a_bank(x) : passes_of(x);
        return;
    }
    if (space == SPACE_GLOBAL && x->straight) {
        u64 from = x->low >> 5, to = (x->high - 1) >> 5;
        if (!atomic || !write) counts[current_pc].sectors += to - from + 1;
        if (!atomic) counts[current_pc].passes += (to >> 2) - (from >> 2) + 1;
        for (u64 line = from >> 2; line <= to >> 2; line++) {
            u32 bits = 15;
            if (line == from >> 2) bits &= 15u << (from & 3);
            if (line == to >> 2) bits &= 15u >> (3 - (to & 3));
            touch(x->owner, line, bits, write, atomic);
        }
        return;
    }
    lines.count = 0;
    if (space == SPACE_GLOBAL) {
        ACTIVE(x->mask) for (u64 sector = x->at[l] >> 5; sector <= (x->at[l] + x->bytes - 1) >> 5; sector++) add_line(&lines, sector >> 2, 1u << (sector & 3));
    } else ACTIVE(x->mask) for (u32 part = 0; part < (x->bytes + 3) / 4; part++) add_line(&lines, (x->at[l] >> 2) + part, 1u << (l / 8));
    for (u32 k = 0; k < lines.count; k++) {
        sectors += (u32)__builtin_popcount(lines.bits[k]);
        if (space == SPACE_GLOBAL) touch(x->owner, lines.line[k], lines.bits[k], write, atomic);
        else {
            /* A thread's own memory lies behind all other addresses. */
            u32 missing = cache_access((1ull << 50) + ((u64)b->slot * 32 + w->index) * (local_bytes / 4) + lines.line[k], lines.bits[k], write);
            if (!write) traffic.dram_read += missing;
        }
    }
    if (!atomic || !write) counts[current_pc].sectors += sectors;
    if (!atomic) counts[current_pc].passes += lines.count;
}

/* Whether all lanes of a request find memory; lane l then at *origin + its address. */
static bool reached(struct block *b, const struct access *x, u8 **origin)
{
    *origin = x->space == SPACE_SHARED ? b->shared : NULL;
    return x->owner || (x->space == SPACE_SHARED && x->high > x->low && x->high <= b->shared_bytes);
}

static void load(struct block *b, struct warp *w, const struct instruction *i, u32 mask)
{
    struct access x;
    row got;
    u8 *from, *origin;
    u32 words = (i->width + 3) / 4;
    prepare(w, i, i->sub2, i->width, mask, &x);
    request(b, w, &x, false, false);
    bool all = reached(b, &x, &origin), whole = all && x.straight && mask == ~0u && i->width >= 4;
    for (u32 k = 0; k < words; k++) {
        const u32 *line = (const u32 *)(origin + x.low) + k;
        if (whole && words == 1) memcpy(got, line, sizeof got);
        else if (whole) LANES got[l] = line[(u32)l * words];
        else if (all && i->width >= 4) LANES got[l] = *(const u32 *)(origin + (mask >> l & 1 ? x.at[l] : x.low) + 4 * k);
        else ACTIVE(mask) {
            u32 v = 0;
            if (!(from = all ? origin + x.at[l] + 4 * k : place_of(b, w, &x, l, k))) told.faults++;
            else memcpy(&v, from, x.bytes < 4 ? x.bytes : 4);
            got[l] = extended(v, 8u * i->width, i->type & 1);
        }
        put(w, &i->o[0], k, got, mask);
    }
}

static void store(struct block *b, struct warp *w, const struct instruction *i, u32 mask)
{
    struct access x;
    u8 *to, *origin;
    u32 words = (i->width + 3) / 4;
    prepare(w, i, i->sub2, i->width, mask, &x);
    request(b, w, &x, true, false);
    bool all = reached(b, &x, &origin), whole = all && x.straight && mask == ~0u && i->width >= 4;
    for (u32 k = 0; k < words; k++) {
        const u32 *from = row_at(w, i->o[0].row == ROW_ZERO ? ROW_ZERO : i->o[0].row + k);
        u32 *line = (u32 *)(origin + x.low) + k;
        if (whole && words == 1) memcpy(line, from, sizeof(row));
        else if (whole) LANES line[(u32)l * words] = from[l];
        else if (all && i->width >= 4) {
            ACTIVE(mask) *(u32 *)(origin + x.at[l] + 4 * k) = from[l];
        }
        else ACTIVE(mask) {
            if ((to = all ? origin + x.at[l] + 4 * k : place_of(b, w, &x, l, k))) memcpy(to, &from[l], x.bytes < 4 ? x.bytes : 4);
            else told.faults++;
        }
    }
}

enum { A_ADD, A_MIN, A_MAX, A_INC, A_DEC, A_AND, A_OR, A_XOR, A_EXCH, A_CAS, A_CAST, A_POPC };

/* Sum, lesser or greater of two numbers of a type. */
#define REDUCED(type, a, b) (how == A_ADD ? (type)((type)(a) + (type)(b)) : how == A_MIN ? LESSER((type)(a), (type)(b)) : GREATER((type)(a), (type)(b)))

static u64 atomic_value(u32 how, u32 type, u64 old, u64 a, u64 c)
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
    if (how == A_ADD && type < T_F16) return type >= T_U64 ? old + a : (u32)(old + a);
    switch (type) {
    case T_F32: return float_bits(REDUCED(float, bits_float((u32)old), bits_float((u32)a)));
    case T_F64: return double_bits(REDUCED(double, bits_double(old), bits_double(a)));
    case T_F16: case T_BF16: {
        u32 r = 0;
        for (int part = 0; part < 32; part += 16)
            r |= (u32)from_float(REDUCED(float, to_float((u16)(old >> part), type == T_BF16), to_float((u16)(a >> part), type == T_BF16)), type == T_BF16) << part;
        return r;
    }
    case T_S32: return (u32)REDUCED(s32, old, a);
    case T_S64: return (u64)REDUCED(s64, old, a);
    case T_U64: return REDUCED(uint64_t, old, a);
    default: return REDUCED(uint32_t, old, a);
    }
}

/* Places of L2 that atomic operations go to, each in one slice: how many passes there, which come one after another, and of which blocks (modulo 64).
 * Where there are so many that two have one hash none of them is busy. See docs/predict.md for what PLACE (bits of an address) rests on. */
enum { MEETINGS = 1 << 16, PLACE = 9, DOUBLES = 3 /* passes of a sum of doubles */ };
static struct meeting { u64 passes, blocks; } meetings[MEETINGS];
static u64 met; /* passes of all places */

/* An atomic request of a warp. Lanes at one address come in one pass each, those at different words of a sector share one: L1 sends as many
 * (l1tex__t_output_wavefronts and l1tex__m_l1tex2xbar_write_sectors of Nsight Compute), and L2 combines nothing. */
static void meet(const struct block *b, const struct access *x, u32 each)
{
    u64 sector[32];
    u32 passes[32], count = 0, number = b->x + grid_[0] * (b->y + grid_[1] * b->z);
    for (u32 rest = x->mask; rest;) {
        u64 at = x->at[__builtin_ctz(rest)];
        u32 same = 0, times, k = 0;
        LANES same |= (u32)(x->at[l] == at) << l;
        times = each * (u32)__builtin_popcount(same & rest);
        rest &= ~same;
        while (k < count && sector[k] != at >> 5) k++;
        if (k == count) sector[count] = at >> 5, passes[count++] = times;
        else if (times > passes[k]) passes[k] = times;
    }
    for (u32 k = 0; k < count; k++) {
        struct meeting *one = &meetings[hash_of(sector[k] >> (PLACE - 5)) >> 48];
        one->passes += passes[k], one->blocks |= 1ull << number % 64;
        counts[current_pc].passes += passes[k];
        met += passes[k];
    }
}

static void atomic(struct block *b, struct warp *w, const struct instruction *i, u32 mask)
{
    /* o[0]: result, o[4]: predicate, o[5]: value, o[6]: second value */
    struct access x;
    wide_row a, c, got = {0};
    prepare(w, i, i->sub2, i->width, mask, &x);
    request(b, w, &x, false, true);
    if (x.space != SPACE_SHARED) request(b, w, &x, true, true), meet(b, &x, i->type == T_F64 ? DOUBLES : 1);
    wides(w, &i->o[5], a);
    wides(w, &i->o[6], c);
    ACTIVE(mask) {
        u8 *to = place_of(b, w, &x, l, 0);
        u64 old = 0, most = i->width == 8 ? ~0ull : 0xffffffffu;
        if (!to) {
            told.faults++;
            continue;
        }
        memcpy(&old, to, i->width);
        u64 new = atomic_value(i->sub, i->type, old, a[l] & most, c[l] & most);
        memcpy(to, &new, i->width);
        got[l] = i->sub == A_CAST ? old == (a[l] & most) : old;
    }
    if (i->width == 8 && i->sub != A_CAST) put_wide(w, &i->o[0], got, mask);
    else {
        row low;
        LANES low[l] = (u32)got[l];
        put(w, &i->o[0], 0, low, mask);
    }
    set_predicate(w, &i->o[4], ~0u, mask);
}

/* cp.async: o[0]: address in shared memory (value: offset), o[1..3]: address in global memory, o[6]: whether to copy, or else
 * fill with zeros. */
static void copy(struct block *b, struct warp *w, const struct instruction *i, u32 mask)
{
    struct access x, y;
    u32 skipped = i->o[6].kind == K_NONE ? 0 : mask & ~predicate(w, &i->o[6]);
    const u32 *to = row_at(w, i->o[0].row);
    if (mask & ~skipped) {
        prepare(w, i, SPACE_GLOBAL, i->width, mask & ~skipped, &x);
        request(b, w, &x, false, false);
    }
    y.space = SPACE_SHARED, y.bytes = i->width, y.mask = mask, y.straight = false;
    LANES y.at[l] = (u64)to[l] + i->o[0].value;
    ACTIVE(mask) {
        bool zeros = skipped >> l & 1;
        u8 *from = zeros ? NULL : place_of(b, w, &x, l, 0), *into = place_of(b, w, &y, l, 0);
        if (zeros && into) memset(into, 0, i->width);
        else if (from && into) memcpy(into, from, i->width);
        else if (!zeros) told.faults++;
    }
}

/* Each eight lanes give the rows of one 8x8 matrix of 16-bit values; sub: matrices; F_WRAP: transposed. */
static void load_matrix(struct block *b, struct warp *w, const struct instruction *i, u32 mask)
{
    struct access x;
    row out;
    prepare(w, i, SPACE_SHARED, 16, ~0u, &x);
    counts[current_pc].passes += i->sub, counts[current_pc].requests++;
    for (u32 k = 0; k < i->sub; k++) {
        LANES out[l] = 0;
        for (u32 l = 0; l < 32; l++)
            for (u32 part = 0; part < 2; part++) {
                u32 line = i->flags & F_WRAP ? 2 * (l & 3) + part : l / 4, column = i->flags & F_WRAP ? l / 4 : 2 * (l & 3) + part;
                u8 *from = place_of(b, w, &x, (int)(8 * k + line), 0);
                u16 v = 0;
                if (from) memcpy(&v, from + 2 * column, 2);
                else told.faults++;
                out[l] |= (u32)v << 16 * part;
            }
        put(w, &i->o[0], k, out, mask);
    }
}

/* ------------------------------------------------------------------------------------------------ instructions */

enum { SR_TID_X, SR_TID_Y, SR_TID_Z, SR_CTAID_X, SR_CTAID_Y, SR_CTAID_Z, SR_LANEID, SR_CLOCK, SR_EQMASK, SR_LTMASK, SR_LEMASK,
       SR_GTMASK, SR_GEMASK, SR_ZERO, SR_SMID, SR_WARPID, SR_NCTAID_X, SR_SWINHI, SR_LWINHI, SR_TID };

/* Special registers: of each lane, or the same for all. */
static void special(struct block *b, struct warp *w, u32 which, u32 *into)
{
    u32 v = 0;
    switch (which) {
    case SR_TID_X: case SR_TID_Y: case SR_TID_Z: memcpy(into, places[which][w->index], sizeof(row)); return;
    case SR_TID: LANES into[l] = places[0][w->index][l] | places[1][w->index][l] << 16 | places[2][w->index][l] << 26; return;
    case SR_LANEID: LANES into[l] = (u32)l; return;
    case SR_EQMASK: LANES into[l] = 1u << l; return;
    case SR_LTMASK: LANES into[l] = (1u << l) - 1; return;
    case SR_LEMASK: LANES into[l] = (2u << l) - 1; return;
    case SR_GTMASK: LANES into[l] = ~((2u << l) - 1); return;
    case SR_GEMASK: LANES into[l] = ~((1u << l) - 1); return;
    case SR_CTAID_X: v = b->x; break;
    case SR_CTAID_Y: v = b->y; break;
    case SR_CTAID_Z: v = b->z; break;
    case SR_CLOCK: v = (u32)(w->steps * 4); break;
    case SR_SMID: v = b->slot % machine_device()->multiprocessors; break;
    case SR_WARPID: v = w->index; break;
    case SR_NCTAID_X: v = grid_[0]; break;
    case SR_SWINHI: v = (u32)(SHARED_WINDOW >> 32); break;
    case SR_LWINHI: v = (u32)(LOCAL_WINDOW >> 32); break;
    default: break;
    }
    LANES into[l] = v;
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

static inline u32 reversed(u32 v)
{
    v = __builtin_bswap32(v);
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    return (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
}

static inline u32 shifted(u32 flags, u32 low, u32 high, u32 by)
{
    u32 most = flags & F_LONG ? 64 : 32, n = flags & F_WRAP ? by & (most - 1) : by > most ? most : by;
    u64 v = (u64)high << 32 | low;
    if (flags & F_LEFT) v = n > 63 ? 0 : v << n;
    else if (flags & F_SIGNED) v = (u64)((s64)v >> (n > 63 ? 63 : n));
    else v = n > 63 ? 0 : v >> n;
    return flags & F_HIGH ? (u32)(v >> 32) : (u32)v;
}

static inline u32 bounded(u32 v, s32 least, s32 most) { return (u32)((s32)v < least ? least : (s32)v > most ? most : (s32)v); }

/* The lesser or greater of numbers or their halves (F_HALF), not below zero if so asked (F_SHIFT); sub: of a sum and a number (1), of three (2). */
static u32 bounded_parts(const struct instruction *i, u32 a, u32 c, u32 d, bool lesser)
{
    u32 wide = i->flags & F_HALF ? 16 : 32, result = 0;
    bool is_signed = i->flags & F_SIGNED;
    for (u32 k = 0; k < 32; k += wide) {
        u32 x = extended(a >> k, wide, is_signed), y = extended(c >> k, wide, is_signed), z = extended(d >> k, wide, is_signed);
        if (i->sub == 1) x = extended(x + y, wide, is_signed), y = z;
        if ((is_signed ? (s32)x < (s32)y : x < y) != lesser) x = y;
        if (i->sub == 2 && (is_signed ? (s32)x < (s32)z : x < z) != lesser) x = z;
        if (i->flags & F_SHIFT && (s32)x < 0) x = 0;
        result |= (wide == 32 ? x : x & 0xffff) << k;
    }
    return result;
}

/* Parts of `bits` bits of two words, one by one: the sum of products, or of differences, or the differences each in its place. */
static u32 by_parts(const struct instruction *i, u32 a, u32 c, u32 sum)
{
    u32 places = 0;
    for (u32 k = 0; k < 4; k++) {
        u32 wide = i->operation == OP_IDP && i->sub ? 16 : 8; /* two parts of 16 bits times the lower (1) or upper (2) two bytes */
        if (wide == 16 && k > 1) break;
        s32 x = (s32)extended(a >> wide * k, wide, i->flags & F_SIGNED);
        s32 y = (s32)extended(c >> (8 * k + (wide == 16 && i->sub == 2 ? 16 : 0)), 8, i->flags & F_EXTEND);
        sum += i->operation == OP_IDP ? (u32)(x * y) : (u32)abs(x - y);
        places |= (u32)(u8)abs(x - y) << 8 * k;
    }
    return i->operation == OP_IDP || i->sub ? sum : places;
}

/* As exact as the device's own, 2^-22, and for all lanes at once: series of 2^x, log2 and sin(2 pi x) on a short range. */
static inline float two_to(float x)
{
    float bounded = x > 256 ? 256 : x < -256 ? -256 : x, n = rintf(bounded), t = (bounded - n) * 0.69314718056f;
    float r = 1 + t * (1 + t * (0.5f + t * (1 / 6.0f + t * (1 / 24.0f + t * (1 / 120.0f + t * (1 / 720.0f + t / 5040))))));
    s32 first = (s32)n / 2, second = (s32)n - first; /* by two factors: each is a normal number */
    r *= bits_float((u32)(first + 127) << 23);
    r *= bits_float((u32)(second + 127) << 23);
    return x != x ? x : r;
}

static inline float log_two(float x)
{
    s32 bits = (s32)float_bits(x), exponent = (bits - 0x3f3504f3) >> 23; /* from the root of a half on */
    float m = bits_float((u32)(bits - exponent * 0x800000)), t = (m - 1) / (m + 1), q = t * t;
    float r = (float)exponent + t * 2.8853900818f * (1 + q * (1 / 3.0f + q * (1 / 5.0f + q * (1 / 7.0f + q / 9))));
    return x > 0 ? (x < INFINITY ? r : x) : x == 0 ? -INFINITY : NAN;
}

static inline float sine(float turns)
{
    float r = turns - rintf(turns), y = (r > 0.25f ? 0.5f - r : r < -0.25f ? -0.5f - r : r) * 6.28318530717958647692f, q = y * y;
    return y * (1 - q * (1 / 6.0f - q * (1 / 120.0f - q * (1 / 5040.0f - q * (1 / 362880.0f - q / 39916800)))));
}

enum { MUFU_RCP, MUFU_RSQ, MUFU_SQRT, MUFU_EX2, MUFU_LG2, MUFU_SIN, MUFU_COS, MUFU_TANH, MUFU_RCP64H, MUFU_RSQ64H };
static void special_function(u32 which, const real *x, real *r, u32 mask)
{
    switch (which) {
    case MUFU_RCP: LANES r[l] = 1.0f / x[l]; break;
    case MUFU_RSQ: LANES r[l] = 1.0f / sqrtf(x[l]); break;
    case MUFU_SQRT: LANES r[l] = sqrtf(x[l]); break;
    case MUFU_EX2: LANES r[l] = two_to(x[l]); break;
    case MUFU_LG2: LANES r[l] = log_two(x[l]); break;
    case MUFU_SIN: LANES r[l] = sine(x[l]); break;
    case MUFU_COS: LANES r[l] = sine(x[l] - rintf(x[l]) + 0.25f); break;
    case MUFU_TANH: ACTIVE(mask) r[l] = tanhf(x[l]); break;
    default: /* the upper half of a double gives that of the result */
        LANES {
            double v = bits_double((u64)float_bits(x[l]) << 32);
            r[l] = bits_float((u32)(double_bits(1.0 / (which == MUFU_RSQ64H ? sqrt(v) : v)) >> 32));
        }
    }
}

static inline double round_double(double x, u32 how)
{
    return how == ROUND_UP ? ceil(x) : how == ROUND_DOWN ? floor(x) : how == ROUND_ZERO ? trunc(x) : rint(x);
}

/* A whole number as the nearest float, or the next one in a direction; through a double it would be rounded twice. */
static float rounded_whole(u64 magnitude, bool negative, u32 how)
{
    float r = (float)magnitude;
    bool above = r >= 18446744073709551616.0f || (u64)r > magnitude, exact = !above && (u64)r == magnitude;
    bool up = how == ROUND_ZERO ? false : (how == ROUND_UP) != negative;
    if (how != ROUND_NEAREST && !exact && above != up) r = bits_float(float_bits(r) + (up ? 1 : -1));
    return negative ? -r : r;
}

static void read_as_double(struct warp *w, const struct operand *o, u32 type, double *into)
{
    real_row first, second;
    wide_row wide;
    row buffer;
    switch (type) {
    case T_F64: doubles(w, o, into); break;
    case T_F32: {
        const real *v = reals(w, o, first);
        LANES into[l] = (double)v[l];
        break;
    }
    case T_F16: case T_BF16:
        halves(w, o, type == T_BF16, first, second);
        LANES into[l] = (double)first[l];
        break;
    case T_U64: case T_S64:
        wides(w, o, wide);
        LANES into[l] = type == T_U64 ? (double)wide[l] : (double)(s64)wide[l];
        break;
    default: {
        const u32 *v = integers(w, o, buffer), bits = type <= T_S8 ? 8 : type <= T_S16 ? 16 : 32;
        bool is_signed = type & 1;
        LANES {
            u32 x = extended(v[l], bits, is_signed);
            into[l] = is_signed ? (double)(s32)x : (double)x;
        }
    }
    }
}

/* Conversions: type: of the result; sub: of the source; sub2: rounding; F_EXTEND: to a whole number of the same type. */
static void convert(struct warp *w, const struct instruction *i, u32 mask)
{
    static const double least[] = {0, -128, 0, -32768, 0, -2147483648.0, 0, -9223372036854775808.0};
    static const double most[] = {255, 127, 65535, 32767, 4294967295.0, 2147483647.0, 18446744073709551616.0, 9223372036854775808.0};
    double_row x;
    wide_row wide;
    row out;
    read_as_double(w, &i->o[1], i->sub, x);
    if (i->flags & F_EXTEND) LANES x[l] = round_double(x[l], i->sub2);
    if (i->type == T_F64) LANES wide[l] = double_bits(x[l]);
    else if (i->type == T_F32 && (i->sub == T_U64 || i->sub == T_S64)) {
        wides(w, &i->o[1], wide);
        LANES {
            bool negative = i->sub == T_S64 && wide[l] >> 63;
            out[l] = float_bits(rounded_whole(negative ? -wide[l] : wide[l], negative, i->sub2));
        }
    } else if (i->type == T_F32) {
        if (i->sub2 && !(i->flags & F_EXTEND)) round_to(i->sub2);
        BARRIER(x);
        LANES ((real *)out)[l] = (float)x[l];
        BARRIER(out);
        if (i->sub2) round_to(ROUND_NEAREST);
    } else if (i->type == T_F16 || i->type == T_BF16) LANES out[l] = from_float((float)x[l], i->type == T_BF16);
    else LANES {
        /* What is no number becomes 0, or the least of 64 bits. */
        double v = round_double(x[l], i->sub2), low = least[i->type & 7], high = most[i->type & 7];
        bool is_signed = i->type & 1;
        if (!(v > low)) wide[l] = v != v && i->type < T_U64 ? 0 : v != v ? 1ull << 63 : (u64)(s64)low;
        else if (v >= high) wide[l] = i->type == T_U64 ? ~0ull : i->type == T_S64 ? ~0ull >> 1 : (u64)(s64)high;
        else wide[l] = is_signed ? (u64)(s64)v : (u64)v;
        out[l] = (u32)wide[l];
    }
    if (i->type == T_F64 || i->type == T_U64 || i->type == T_S64) put_wide(w, &i->o[0], wide, mask);
    else put(w, &i->o[0], 0, out, mask);
}

static void shuffle(struct warp *w, const struct instruction *i, u32 mask)
{
    /* o[1]: value, o[2]: lane, o[3]: bounds, o[4]: whether the lane is within them */
    row va, vb, vc, out;
    const u32 *a = integers(w, &i->o[1], va), *b = integers(w, &i->o[2], vb), *c = integers(w, &i->o[3], vc);
    u32 ok = 0;
    for (s32 l = 0; l < 32; l++) {
        u32 segment = c[l] >> 8 & 31, bound = c[l] & 31, least = (u32)l & segment, most = least | (bound & ~segment), lane = b[l] & 31;
        s32 from = i->sub == 0 ? (s32)(least | (lane & ~segment)) : i->sub == 1 ? l - (s32)lane : i->sub == 2 ? l + (s32)lane : (s32)((u32)l ^ lane);
        bool in = i->sub == 1 ? from >= (s32)most : from <= (s32)most;
        ok |= (u32)in << l;
        out[l] = a[(in ? from : l) & 31];
    }
    put(w, &i->o[0], 0, out, mask);
    set_predicate(w, &i->o[4], ok, mask);
}

/* Element `at` of a register that holds several. */
static double element(u32 v, u32 at, u32 type)
{
    switch (type) {
    case T_F16: case T_BF16: return to_float((u16)(v >> 16 * at), type == T_BF16);
    case T_F32: return bits_float(v & 0xffffe000u); /* TF32 has ten bits of fraction */
    case T_S8: case T_U8: { u32 x = extended(v >> 8 * at, 8, type == T_S8); return (s32)x; }
    default: { u32 x = extended(v >> 4 * at, 4, type == T_S4); return (s32)x; }
    }
}

static inline double double_at(struct warp *w, u32 at, u32 l) { return bits_double((u64)row_at(w, at == ROW_ZERO ? at : at + 1)[l] << 32 | row_at(w, at)[l]); }

/* D = A·B + C of a warp. The fragments as the PTX ISA draws them (mma.m16n8k*, mma.m8n8k*): lane l holds of A the row l/4 (and, eight
 * further, of the second register) and of each 4·p columns the p from l%4·p on, p being the elements of a register; of B the same
 * with rows and columns exchanged; of C and D two columns from l%4·2 on.
 * width: rows; sub2: k; type, sub: of A and B; F_HALF: C and D are halves; o: D, A, B, C. */
static void matrix(struct warp *w, const struct instruction *i, u32 mask)
{
    static const u8 elements[] = {[T_U8] = 4, [T_S8] = 4, [T_F16] = 2, [T_BF16] = 2, [T_F32] = 1, [T_F64] = 1, [T_S4] = 8, [T_U4] = 8};
    static double a[16][64], b[64][8];
    u32 depth = i->sub2, per = elements[i->type], size = i->type == T_F64 ? 2 : 1, parts = i->width / 8;
    bool whole = i->type <= T_S8 || i->type >= T_S4, half = i->flags & F_HALF;
    row out[8];
    if (mask != ~0u || !per || i->width > 16 || depth > 64) return;
    for (u32 l = 0; l < 32; l++) {
        u32 g = l / 4, t = l % 4;
        for (u32 r = 0; r < parts * depth / (4 * per); r++)
            for (u32 k = 0; k < per; k++) {
                u32 at = i->o[1].row + r * size;
                a[g + 8 * (r % parts)][t * per + k + 4 * per * (r / parts)] = size == 2 ? double_at(w, at, l) : element(row_at(w, at)[l], k, i->type);
            }
        for (u32 r = 0; r < depth / (4 * per); r++)
            for (u32 k = 0; k < per; k++) {
                u32 at = i->o[2].row + r * size;
                b[t * per + k + 4 * per * r][g] = size == 2 ? double_at(w, at, l) : element(row_at(w, at)[l], k, i->sub);
            }
    }
    for (u32 l = 0; l < 32; l++)
        for (u32 r = 0; r < 2 * parts; r++) {
            u32 line = l / 4 + 8 * (r / 2), column = l % 4 * 2 + r % 2, at = i->o[3].row == ROW_ZERO ? ROW_ZERO : i->o[3].row + (half ? r / 2 : r * size);
            u32 was = row_at(w, at)[l];
            double sum = half ? half_float((u16)(was >> 16 * (r % 2))) : whole ? (s32)was : size == 2 ? double_at(w, at, l) : bits_float(was);
            for (u32 k = 0; k < depth; k++) sum += a[line][k] * b[k][column];
            if (half) out[r / 2][l] = (r % 2 ? out[r / 2][l] : 0) | (u32)float_half((float)sum) << 16 * (r % 2);
            else if (size == 2) out[2 * r][l] = (u32)double_bits(sum), out[2 * r + 1][l] = (u32)(double_bits(sum) >> 32);
            else if (!whole) out[r][l] = float_bits((float)sum);
            else if (i->flags & F_SATURATE) out[r][l] = (u32)(s32)(sum > 2147483647.0 ? 2147483647.0 : sum < -2147483648.0 ? -2147483648.0 : sum);
            else out[r][l] = (u32)(s64)sum;
        }
    for (u32 r = 0; r < (half ? parts : 2 * parts * size); r++) put(w, &i->o[0], r, out[r], mask);
}

enum { BAR_SYNC, BAR_ARRIVE, BAR_POPC, BAR_AND, BAR_OR };

/* Operations on integers that give one row: o[1] to o[3] are a, c and d. */
#define INTEGER(name, value) case OP_##name: LANES out[l] = (value); break;
/* One instruction on integers, predicates or bits. False if it is none. */
static bool execute_integers(struct block *b, struct warp *w, const struct instruction *i, u32 mask)
{
    const struct operand *o = i->o;
    row va, vc, vd, out;
    const u32 *a = integers(w, &o[1], va), *c = integers(w, &o[2], vc), *d = integers(w, &o[3], vd);
    const u32 flags = i->flags, p = flags & F_CARRY ? predicate(w, &o[6]) : 0;
    switch (i->operation) {
    case OP_IADD3: {
        if (flags & F_HALF) { /* of halves */
            u32 factor[2];
            for (int k = 0; k < 2; k++) factor[k] = o[k + 1].modifiers & M_NEGATE ? ~0u : 1;
            a = row_at(w, o[1].row), c = row_at(w, o[2].row);
            LANES out[l] = ((a[l] * factor[0] + c[l] * factor[1]) & 0xffff) | ((a[l] & 0xffff0000u) * factor[0] + (c[l] & 0xffff0000u) * factor[1]);
            break;
        }
        if (o[4].kind == K_NONE && o[5].kind == K_NONE && !(flags & F_CARRY)) {
            LANES out[l] = a[l] + c[l] + d[l];
            break;
        }
        /* With carries -x is ~x + 1. */
        u32 q = flags & F_CARRY ? predicate(w, &o[7]) : 0, carry = 0, more = 0, ones = 0, flip[3];
        for (int k = 0; k < 3; k++) flip[k] = o[k + 1].modifiers & (M_NEGATE | M_INVERT) ? ~0u : 0, ones += o[k + 1].modifiers & M_NEGATE;
        a = row_at(w, o[1].row), c = row_at(w, o[2].row), d = row_at(w, o[3].row);
        LANES {
            u64 sum = (u64)(a[l] ^ flip[0]) + (c[l] ^ flip[1]) + (d[l] ^ flip[2]) + ones + (p >> l & 1) + (q >> l & 1);
            out[l] = (u32)sum;
            carry |= (u32)(sum >> 32 > 0) << l;
            more |= (u32)(sum >> 32 > 1) << l;
        }
        set_predicate(w, &o[4], carry, mask);
        set_predicate(w, &o[5], more, mask);
        break;
    }
    case OP_IMAD: {
        u32 carry = 0;
        LANES out[l] = a[l] * c[l] + d[l] + (p >> l & 1);
        if (o[4].kind == K_NONE) break;
        LANES carry |= (u32)(((u64)(a[l] * c[l]) + d[l] + (p >> l & 1)) >> 32) << l;
        set_predicate(w, &o[4], carry, mask);
        break;
    }
    case OP_IMAD_WIDE: case OP_IMAD_HI: {
        wide_row addend, wide;
        u32 carry = 0;
        wides(w, &o[3], addend);
        if (o[3].modifiers & M_NEGATE) LANES addend[l] = -addend[l];
        if (o[3].modifiers & M_INVERT) LANES addend[l] = ~addend[l];
        if (flags & F_SIGNED) LANES wide[l] = (u64)((s64)(s32)a[l] * (s64)(s32)c[l]) + addend[l] + (p >> l & 1);
        else LANES wide[l] = (u64)a[l] * c[l] + addend[l] + (p >> l & 1);
        LANES carry |= (u32)(wide[l] < addend[l]) << l;
        set_predicate(w, &o[4], carry, mask);
        if (i->operation == OP_IMAD_WIDE) {
            put_wide(w, &o[0], wide, mask);
            return true;
        }
        LANES out[l] = (u32)(wide[l] >> 32);
        break;
    }
    case OP_LEA: case OP_LEA_HI: {
        /* o[1] shifted by `sub`, o[2] added, o[3]: high word of what is shifted */
        bool negative = o[1].modifiers & M_NEGATE, high = i->operation == OP_LEA_HI;
        u32 carry = 0, shift = i->sub & 31;
        a = row_at(w, o[1].row);
        LANES {
            u64 v = (flags & F_EXTEND ? (u64)(s64)(s32)a[l] : (u64)d[l] << 32 | a[l]) << shift;
            u32 part = high ? (u32)((negative ? flags & F_CARRY ? ~v : -v : v) >> 32) : negative ? ~(u32)v : (u32)v;
            u64 sum = (u64)part + c[l] + (high ? p >> l & 1 : negative);
            out[l] = (u32)sum;
            carry |= (u32)(sum >> 32) << l;
        }
        set_predicate(w, &o[4], carry, mask);
        break;
    }
    case OP_LOP3: {
        u32 t[8];
        for (int k = 0; k < 8; k++) t[k] = -(i->sub >> k & 1u);
        if (i->sub == 0xc0) LANES out[l] = a[l] & c[l];
        else if (i->sub == 0xfc) LANES out[l] = a[l] | c[l];
        else if (i->sub == 0x3c) LANES out[l] = a[l] ^ c[l];
        else LANES {
            u32 x = a[l], y = c[l], z = d[l];
            out[l] = (~x & ((~y & ((t[0] & ~z) | (t[1] & z))) | (y & ((t[2] & ~z) | (t[3] & z))))) |
                     (x & ((~y & ((t[4] & ~z) | (t[5] & z))) | (y & ((t[6] & ~z) | (t[7] & z)))));
        }
        if (o[4].kind != K_NONE) set_predicate(w, &o[4], set_lanes(out) | predicate(w, &o[6]), mask);
        break;
    }
    case OP_PLOP3: {
        u32 x = predicate(w, &o[6]), y = predicate(w, &o[7]), z = predicate(w, &o[3]), first = 0, second = 0;
        for (u32 k = 0; k < 8; k++) {
            u32 here = (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
            if (i->sub >> k & 1) first |= here;
            if (i->sub2 >> k & 1) second |= here;
        }
        set_predicate(w, &o[4], first, mask);
        set_predicate(w, &o[5], second, mask);
        return true;
    }
    case OP_ISETP: {
        u32 found = flags & F_SIGNED ? compared_signed(i->sub, (const s32 *)a, (const s32 *)c) : compared_unsigned(i->sub, a, c);
        if (flags & F_EX) {
            u32 low = predicate(w, &o[7]), same = compared_unsigned(CMP_EQ, a, c);
            found = i->sub == CMP_EQ ? found & low : i->sub == CMP_NE ? found | low : (found & ~same) | (low & same);
        }
        set_compared(w, i, found, ~found, mask);
        return true;
    }
    case OP_SEL: {
        u32 chosen = predicate(w, &o[6]);
        LANES out[l] = chosen >> l & 1 ? a[l] : c[l];
        break;
    }
    case OP_IMNMX: {
        u32 lesser = predicate(w, &o[6]);
        if (i->sub || flags & (F_HALF | F_SHIFT)) LANES out[l] = bounded_parts(i, a[l], c[l], d[l], lesser >> l & 1);
        else if (flags & F_SIGNED) LANES out[l] = ((s32)a[l] < (s32)c[l]) == (lesser >> l & 1) ? a[l] : c[l];
        else LANES out[l] = (a[l] < c[l]) == (lesser >> l & 1) ? a[l] : c[l];
        break;
    }
    /* two numbers as bytes (type) or shorts, and what was there moved up */
    INTEGER(I2IP, d[l] << 16 | (i->type == T_U8 ? bounded(a[l], 0, 255) << 8 | bounded(c[l], 0, 255) : (bounded(a[l], -128, 127) & 0xff) << 8 | (bounded(c[l], -128, 127) & 0xff)))
    INTEGER(SHF, shifted(flags, a[l], d[l], c[l]))
    INTEGER(MOV, a[l])
    INTEGER(IABS, (s32)a[l] < 0 ? -a[l] : a[l])
    INTEGER(POPC, (u32)__builtin_popcount(a[l]))
    INTEGER(BREV, reversed(a[l]))
    case OP_PRMT:
        if (o[2].kind != K_IMMEDIATE) LANES out[l] = permuted(a[l], c[l], d[l]);
        else {
            LANES out[l] = 0;
            for (u32 k = 0; k < 4; k++) {
                u32 pick = c[0] >> 4 * k & 15, by = 8 * (pick & 3), ones = pick & 8 ? 0xff : 0;
                const u32 *from = pick & 4 ? d : a;
                if (ones) LANES out[l] |= (-(from[l] >> by >> 7 & 1) & ones) << 8 * k;
                else LANES out[l] |= (from[l] >> by & 0xff) << 8 * k;
            }
        }
        break;
    INTEGER(SGXT, extended(a[l], flags & F_WRAP ? c[l] & 31 : c[l], flags & F_SIGNED))
    INTEGER(IDP, by_parts(i, a[l], c[l], d[l]))
    case OP_FLO:
        LANES {
            u32 v = flags & F_SIGNED && (s32)a[l] < 0 ? ~a[l] : a[l], zeros = v ? (u32)__builtin_clz(v) : 32;
            out[l] = !v ? ~0u : flags & F_SHIFT ? zeros : 31 - zeros;
        }
        break;
    case OP_BMSK:
        LANES {
            u32 first = flags & F_WRAP ? a[l] & 31 : a[l], count = flags & F_WRAP ? c[l] & 31 : c[l];
            out[l] = first >= 32 ? 0 : (count >= 32 ? ~0u : (1u << count) - 1) << first;
        }
        break;
    case OP_VABSDIFF:
        if (flags & F_WRAP) LANES out[l] = by_parts(i, a[l], c[l], d[l]);
        else if (flags & F_SIGNED) LANES out[l] = ((s32)a[l] > (s32)c[l] ? a[l] - c[l] : c[l] - a[l]) + d[l];
        else LANES out[l] = (a[l] > c[l] ? a[l] - c[l] : c[l] - a[l]) + d[l];
        break;
    case OP_R2P:
        for (u32 k = 0; k < 7; k++)
            if (c[0] >> k & 1) {
                u32 v = 0;
                LANES v |= (a[l] >> k & 1) << l;
                w->predicates[k] = (w->predicates[k] & ~mask) | (v & mask);
            }
        return true;
    case OP_P2R:
        LANES {
            u32 v = 0;
            for (u32 k = 0; k < 7; k++) v |= (w->predicates[k + (i->sub2 & 8)] >> l & 1) << k;
            out[l] = (a[l] & ~(c[0] << i->sub)) | (v & c[0]) << i->sub;
        }
        break;
    case OP_S2R:
        special(b, w, i->sub, out);
        put(w, &o[0], 0, out, mask);
        LANES out[l] = 0;
        if (flags & F_LONG) put(w, &o[0], 1, out, mask);
        return true;
    case OP_VOTE: {
        /* sub: all, any, equal */
        u32 yes = predicate(w, &o[6]) & mask;
        LANES out[l] = yes;
        set_predicate(w, &o[4], (i->sub == 1 ? yes != 0 : yes == mask || (i->sub == 2 && !yes)) ? ~0u : 0, mask);
        break;
    }
    case OP_MATCH: {
        wide_row x;
        u32 all = ~0u;
        wides(w, &o[1], x);
        if (!(flags & F_LONG)) LANES x[l] = a[l];
        LANES out[l] = 0;
        ACTIVE(mask) {
            for (u32 k = 0; k < 32; k++) out[l] |= (u32)(mask >> k & 1 && x[k] == x[l]) << k;
            if (out[l] != mask) all = 0;
        }
        if (i->sub == 0) LANES out[l] = mask & all;
        set_predicate(w, &o[4], all, mask);
        break;
    }
    case OP_REDUX: {
        u32 v = a[__builtin_ctz(mask)];
        ACTIVE(mask & (mask - 1)) v = (u32)atomic_value(i->sub, flags & F_SIGNED ? T_S32 : T_U32, v, a[l], 0);
        LANES out[l] = v;
        break;
    }
    default: return false;
    }
    put(w, &o[0], 0, out, mask);
    return true;
}

/* One instruction on floats. False if it is none. */
static bool execute_floats(struct warp *w, const struct instruction *i, u32 mask)
{
    const struct operand *o = i->o;
    real_row va, vc, vd, r;
    const real *a = reals(w, &o[1], va), *c = reals(w, &o[2], vc), *d = reals(w, &o[3], vd);
    u32 *out = (u32 *)r;
    switch (i->operation) {
    case OP_FADD: case OP_FMUL: case OP_FFMA:
        if (i->sub2) {
            round_to(i->sub2);
            BARRIER(va);
            BARRIER(vc);
        }
        if (i->operation == OP_FADD) LANES r[l] = a[l] + c[l];
        else if (i->operation == OP_FMUL) LANES r[l] = a[l] * c[l];
        else LANES r[l] = __builtin_fmaf(a[l], c[l], d[l]);
        if (i->sub2) {
            BARRIER(r);
            round_to(ROUND_NEAREST);
        }
        if (i->flags & F_SATURATE) LANES r[l] = r[l] > 0 ? (r[l] < 1 ? r[l] : 1) : 0;
        break;
    case OP_FSETP: {
        u32 found = compared_floats(i->sub, a, c);
        set_compared(w, i, found, ~found, mask);
        return true;
    }
    case OP_FSET: {
        u32 found = combined(i->sub2, compared_floats(i->sub, a, c), o[6].kind == K_NONE ? ~0u : predicate(w, &o[6]));
        LANES out[l] = found >> l & 1 ? (i->flags & F_ONES ? 0x3f800000u : ~0u) : 0;
        break;
    }
    case OP_FSEL: {
        u32 chosen = predicate(w, &o[6]);
        LANES r[l] = chosen >> l & 1 ? a[l] : c[l];
        break;
    }
    case OP_FMNMX: {
        u32 lesser = predicate(w, &o[6]);
        LANES r[l] = lesser >> l & 1 ? LESSER(a[l], c[l]) : GREATER(a[l], c[l]);
        break;
    }
    case OP_MUFU: special_function(i->sub, a, r, mask); break;
    case OP_FCHK: {
        /* true where the quotient or a step towards it may leave the range: exponents as the slow way of division tests them */
        u32 found = 0;
        LANES {
            s32 x = (s32)(float_bits(a[l]) >> 23 & 255), y = (s32)(float_bits(c[l]) >> 23 & 255);
            found |= (u32)(y == 0 || y >= 253 || x <= 24 || x == 255 || x - y >= 126 || x - y <= -125) << l;
        }
        set_predicate(w, &o[4], found, mask);
        return true;
    }
    case OP_F2FP:
        LANES out[l] = (u32)from_float(c[l], i->flags & F_BFLOAT) | (u32)from_float(a[l], i->flags & F_BFLOAT) << 16;
        break;
    default: return false;
    }
    /* What is no number is always the same one; halves of doubles only look so. */
    if (i->operation < OP_MUFU || (i->operation == OP_MUFU && i->sub < MUFU_RCP64H)) LANES out[l] = r[l] != r[l] ? 0x7fffffffu : out[l];
    put(w, &o[0], 0, out, mask);
    return true;
}

static void execute_doubles(struct warp *w, const struct instruction *i, u32 mask)
{
    double_row a, c, d, r;
    doubles(w, &i->o[1], a);
    doubles(w, &i->o[2], c);
    if (i->operation == OP_DSETP) {
        u32 found = compared_doubles(i->sub, a, c), neither = compared_doubles(CMP_NAN, a, a) & compared_doubles(CMP_NAN, c, c);
        set_compared(w, i, found, i->sub == CMP_MAX || i->sub == CMP_MIN ? neither : ~found, mask);
        return;
    }
    if (i->operation == OP_DFMA) doubles(w, &i->o[3], d);
    if (i->sub2) round_to(i->sub2);
    BARRIER(a);
    BARRIER(c);
    if (i->operation == OP_DADD) LANES r[l] = a[l] + c[l];
    else if (i->operation == OP_DMUL) LANES r[l] = a[l] * c[l];
    else LANES r[l] = __builtin_fma(a[l], c[l], d[l]);
    BARRIER(r);
    if (i->sub2) round_to(ROUND_NEAREST);
    put_wide(w, &i->o[0], (const u64 *)r, mask);
}

/* Pairs of halves: arithmetic, comparisons to predicates (HSETP2) or to ones (HSET2). */
static void execute_halves(struct warp *w, const struct instruction *i, u32 mask)
{
    const struct operand *o = i->o;
    bool bf = i->flags & F_BFLOAT;
    real_row a[2], c[2], d[2];
    row out = {0};
    u32 with = o[6].kind == K_NONE ? ~0u : predicate(w, &o[6]);
    halves(w, &o[1], bf, a[0], a[1]);
    halves(w, &o[2], bf, c[0], c[1]);
    if (i->operation == OP_HSETP2 || i->operation == OP_HSET2) {
        u32 low = combined(i->sub2, compared_floats(i->sub, a[0], c[0]), with), high = combined(i->sub2, compared_floats(i->sub, a[1], c[1]), with);
        u32 one = i->flags & F_ONES ? (bf ? 0x3f80 : 0x3c00) : 0xffff;
        if (i->operation == OP_HSETP2) {
            set_predicate(w, &o[4], low, mask);
            set_predicate(w, &o[5], high, mask);
            return;
        }
        LANES out[l] = (low >> l & 1 ? one : 0) | (high >> l & 1 ? one << 16 : 0);
        put(w, &o[0], 0, out, mask);
        return;
    }
    if (i->operation == OP_HFMA2) halves(w, &o[3], bf, d[0], d[1]);
    for (int part = 0; part < 2; part++) {
        real *x = a[part], *y = c[part], *z = d[part];
        if (i->operation == OP_HADD2) LANES x[l] = x[l] + y[l];
        else if (i->operation == OP_HMUL2) LANES x[l] = x[l] * y[l];
        else if (i->operation == OP_HFMA2) LANES x[l] = __builtin_fmaf(x[l], y[l], z[l]);
        else LANES x[l] = with >> l & 1 ? LESSER(x[l], y[l]) : GREATER(x[l], y[l]);
        if (i->flags & F_SATURATE) LANES x[l] = x[l] > 0 ? (x[l] < 1 ? x[l] : 1) : 0;
        if (i->flags & F_SHIFT) LANES x[l] = x[l] > 0 ? x[l] : 0; /* .RELU */
        if (i->flags & F_FLOAT) {
            put(w, &o[0], 0, (const u32 *)x, mask);
            return;
        }
        LANES out[l] |= (u32)from_float(x[l], bf) << 16 * part;
    }
    put(w, &o[0], 0, out, mask);
}

/* One instruction that neither branches nor waits, for the lanes of `mask`, which are some. */
static void execute(struct block *b, struct warp *w, const struct instruction *i, u32 mask)
{
    const struct operand *o = i->o;
    row out;
    if (i->operation < OP_FADD) {
        execute_integers(b, w, i, mask);
        return;
    }
    switch (i->operation) {
    case OP_DADD: case OP_DMUL: case OP_DFMA: case OP_DSETP: execute_doubles(w, i, mask); return;
    case OP_HADD2: case OP_HMUL2: case OP_HFMA2: case OP_HMNMX2: case OP_HSETP2: case OP_HSET2: execute_halves(w, i, mask); return;
    case OP_CONVERT: convert(w, i, mask); return;
    case OP_SHFL: shuffle(w, i, mask); return;
    case OP_LOAD: load(b, w, i, mask); return;
    case OP_STORE: store(b, w, i, mask); return;
    case OP_ATOM: atomic(b, w, i, mask); return;
    case OP_LDGSTS: copy(b, w, i, mask); return;
    case OP_LDSM: load_matrix(b, w, i, mask); return;
    case OP_MATRIX: matrix(w, i, mask); return;
    case OP_LDC: {
        /* o[1]: index register, o[2]: uniform, o[3]: offset, sub: bank */
        wide_row at;
        addresses(w, i, at);
        for (u32 k = 0; k < (i->width + 3u) / 4; k++) {
            for (u32 l = 0; l < 32; l++) out[l] = extended(constant32(i->sub, (u32)at[l] + 4 * k), 8u * i->width, i->type & 1);
            put(w, &o[0], k, out, mask);
        }
        return;
    }
    case OP_QSPC: {
        /* whether a generic address lies in the space `sub` */
        wide_row at;
        u32 found = 0;
        addresses(w, i, at);
        LANES found |= (u32)(space_of(at[l]) == i->sub) << l;
        set_predicate(w, &o[4], found, mask);
        return;
    }
    case OP_TEXTURE:
        LANES out[l] = 0;
        for (u32 k = 0; k < i->sub; k++) put(w, &o[0], k, out, mask);
        return;
    case OP_BMOV_OUT: {
        u32 *from = w->barriers[o[1].index & 15];
        put(w, &o[0], 0, from, mask);
        if (i->flags & F_WRAP) ACTIVE(mask) from[l] = 0;
        return;
    }
    case OP_BMOV_IN: {
        const u32 *from = integers(w, &o[1], out);
        ACTIVE(mask) w->barriers[o[0].index & 15][l] = from[l];
        return;
    }
    case OP_B2R:
        /* The count, and whether all or any said yes, of the reduction that code before it asked for. */
        LANES out[l] = b->result;
        put(w, &o[0], 0, out, mask);
        set_predicate(w, &o[4], (w->reduces == BAR_AND ? b->all : b->result != 0) ? ~0u : 0, mask);
        return;
    case OP_LEPC:
        LANES out[l] = 16 * (i->sub ? (u32)i->target : current_pc);
        put(w, &o[0], 0, out, mask);
        LANES out[l] = 0;
        put(w, &o[0], 1, out, mask);
        return;
    case OP_NOP: return;
    default:
        if (!execute_floats(w, i, mask)) told.unknown++;
    }
}

/* ------------------------------------------------------------------------------------------------ flow */

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

/* Let those groups of `state` go on that hold some of these lanes, `further` instructions on. */
static void resume(struct warp *w, u8 state, u32 barrier, u32 lanes, u32 further)
{
    for (u32 k = 0; k < w->group_count;) {
        struct group g = w->groups[k];
        if (g.state == state && g.barrier == barrier && g.mask & lanes) {
            drop(w, k);
            add_group(w, g.mask, g.pc + further);
            k = 0;
        } else k++;
    }
}

/* Let those go on who wait for lanes that are all there, or gone. */
static void release(struct warp *w)
{
    for (u32 k = 0; k < w->group_count; k++) {
        struct group g = w->groups[k];
        u32 there = 0, wanted = (g.state == AT_CONVERGENCE ? w->barriers[g.barrier][__builtin_ctz(g.mask)] : g.wanted) & w->live;
        if (g.state != AT_CONVERGENCE && g.state != AT_WARPSYNC) continue;
        for (u32 j = 0; j < w->group_count; j++)
            if (w->groups[j].state == g.state && w->groups[j].barrier == g.barrier) there |= w->groups[j].mask;
        if ((there & wanted) != wanted) continue;
        resume(w, g.state, g.barrier, wanted | g.mask, 1);
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

/* The group that goes next: the lowest address, so that those behind catch up; the highest if it has not moved for some turns:
 * those behind may spin until it has done something. */
static struct group *chosen(struct warp *w)
{
    struct group *best = NULL;
    for (u32 k = 0; k < w->group_count; k++)
        if (w->groups[k].state == READY && (!best || (w->groups[k].pc < best->pc) != w->upper)) best = &w->groups[k];
    return best;
}

/* Functions that the device's runtime brings, by the number that lowering.py gives them: arguments in R4 and on, the address to
 * return to in R20. */
enum { BUILT_IN = 0x07000000, BUILT_INS = 256 };
enum { B_PRINTF, B_MALLOC, B_FREE, B_ASSERT };

static u64 device_heap(u64 bytes)
{
    static u8 *heap;
    static u64 used;
    if (!heap) {
        if (!(heap = pages(HEAP))) return 0;
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
    u32 *low = row_at(w, ROW_REGISTER + 4), *high = low + 32;
    const u32 *from = row_at(w, ROW_REGISTER + 20);
    if (which == B_ASSERT || registers < 21) {
        leave(w, mask);
        return;
    }
    ACTIVE(mask) {
        u64 found = which == B_MALLOC ? device_heap((u64)high[l] << 32 | low[l]) : 0;
        if (which != B_FREE) low[l] = (u32)found, high[l] = (u32)(found >> 32);
    }
    if (which > B_ASSERT) told.unknown++;
    LANES back[l] = from[l] >> 4;
    scatter(w, mask, back);
}

/* Send lanes to where each one's `target` says. */
static void scatter(struct warp *w, u32 mask, const u32 *target)
{
    while (mask) {
        u32 to = target[__builtin_ctz(mask)], same = 0;
        ACTIVE(mask) same |= (u32)(target[l] == to) << l;
        mask &= ~same;
        if (to < code_count) add_group(w, same, to);
        else if (to >= BUILT_IN && to < BUILT_IN + BUILT_INS) built_in(w, to - BUILT_IN, same);
        else told.faults++, leave(w, same);
    }
}

/* Loops as they are seen while `probing`: the branch back of a warp, how far the numbers that decide it were apart the first two
 * times and the last one, and how often it was taken. */
struct loop { u32 pc, warp, seen, mask; s64 first[32], second[32], last[32]; };
enum { LOOPS = 256 };
static struct loop loops[LOOPS];
static u32 loop_count;
static bool probing;

/* The comparison that gives predicate `row`, back from `pc`; code_count if there is none before the beginning of the loop. */
static u32 decider(u32 row, u32 pc, u32 begin)
{
    for (; row < 7 && pc > begin; pc--)
        if (code[pc - 1].o[4].row == row || code[pc - 1].o[5].row == row) return code[pc - 1].operation == OP_ISETP ? pc - 1 : code_count;
    return code_count;
}

static void note_loop(struct warp *w, u32 pc, u32 on)
{
    const struct instruction *i = code + pc;
    u32 at = decider(i->guard != 7 ? i->guard : i->o[6].row, pc, (u32)i->target), low = code_count, k = 0;
    row va, vc, la, lc;
    if (at == code_count) return;
    if (code[at].flags & F_EX && (low = decider(code[at].o[7].row, at, 0)) == code_count) return;
    while (k < loop_count && (loops[k].pc != pc || loops[k].warp != w->index)) k++;
    if (k == LOOPS) return;
    struct loop *loop = &loops[k];
    if (k == loop_count) loop_count++, *loop = (struct loop){.pc = pc, .warp = w->index, .mask = on};
    const struct operand *o = code[at].o, *p = code[low == code_count ? at : low].o;
    const u32 *a = integers(w, &o[1], va), *c = integers(w, &o[2], vc), *b = integers(w, &p[1], la), *d = integers(w, &p[2], lc);
    bool is_signed = code[at].flags & F_SIGNED;
    loop->mask &= on;
    for (int l = 0; l < 32; l++) {
        s64 apart = low != code_count ? (s64)(((u64)a[l] << 32 | b[l]) - ((u64)c[l] << 32 | d[l])) : is_signed ? (s64)(s32)a[l] - (s32)c[l] : (s64)a[l] - (s64)c[l];
        if (loop->seen == 0) loop->first[l] = apart;
        if (loop->seen == 1) loop->second[l] = apart;
        loop->last[l] = apart;
    }
    loop->seen++;
}

/* How often a loop will be taken still: the most of its lanes; 0 if its numbers do not come closer by the same step each time. */
static u64 iterations_left(const struct loop *loop)
{
    u64 most = 0;
    ACTIVE(loop->seen > 2 ? loop->mask : 0) {
        s64 step = loop->second[l] - loop->first[l], last = loop->last[l];
        if (!step || (last < 0) != (step > 0) || loop->last[l] - loop->first[l] != step * (s64)(loop->seen - 1)) continue;
        u64 left = (u64)(last < 0 ? -last : last) / (u64)(step < 0 ? -step : step);
        if (left > most) most = left;
    }
    return most;
}

/* Run a warp until it waits, ends, or has had its turn. */
static void run_warp(struct block *b, struct warp *w, u32 turn)
{
    w->upper = false;
    if (w->group_count > 1) {
        u32 highest = 0;
        for (u32 k = 0; k < w->group_count; k++)
            if (w->groups[k].state == READY && w->groups[k].pc > highest) highest = w->groups[k].pc;
        w->starved = highest == w->highest ? w->starved + 1 : 0;
        w->highest = highest;
        if (w->starved >= STARVED) w->upper = true, w->starved = 0, turn = FAIR;
    }
    while (turn && w->live) {
        struct group *g = chosen(w);
        if (!g) {
            for (u32 k = 0; k < w->group_count; k++) w->waits |= w->groups[k].state == AT_BARRIER;
            if (w->waits) return;
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
            const struct operand *o = i->o;
            u32 on = mask, barrier = o[0].index & 15;
            if (i->guard != 7) on &= i->guard_not ? ~w->predicates[i->guard & 15] : w->predicates[i->guard & 15];
            current_pc = pc;
            counts[pc].warps++;
            counts[pc].threads += (u32)__builtin_popcount(on);
            w->steps++;
            work += PLAIN + dearer[i->operation];
            turn--;
            if (i->operation < OP_BRA) {
                if (on) execute(b, w, i, on);
                pc++;
            } else switch (i->operation) {
            case OP_BRA:
                if (i->sub) {
                    /* Only if the lanes that the operand names are not all here (DIV), or are (CONV). */
                    u32 wanted = row_at(w, o[1].row)[0] ^ (o[1].modifiers & M_INVERT ? ~0u : 0);
                    if (((wanted & w->live & ~mask) == 0) != (i->sub == 2)) on = 0;
                }
                if (o[6].kind != K_NONE) on &= predicate(w, &o[6]);
                if (probing && on && (u32)i->target <= pc) note_loop(w, pc, on);
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
            case OP_EXIT:
                if (on) {
                    g->pc = pc + 1;
                    leave(w, on);
                    goto again;
                }
                pc++;
                break;
            case OP_CALL: case OP_RET: case OP_BRX: {
                row target;
                const u32 *v = row_at(w, o[1].row);
                if (!on) {
                    pc++;
                    break;
                }
                if (i->operation == OP_BRX) LANES target[l] = pc + 1 + (u32)(((s32)v[l] + i->target) >> 4);
                else if (o[1].kind == K_NONE) LANES target[l] = (u32)i->target;
                else LANES target[l] = (i->flags & F_ABSOLUTE ? 0 : (u32)i->target) + (v[l] >> 4);
                g->pc = pc + 1;
                g->mask = mask & ~on;
                if (!g->mask) drop(w, (u32)(g - w->groups));
                scatter(w, on, target);
                /* The runtime's functions take thousands of cycles. LLVM's runtime counts on it: one thread allocates what all others
                 * must find missing. */
                ACTIVE(on) if (target[l] >= BUILT_IN) turn = 0;
                goto again;
            }
            case OP_BSSY:
                ACTIVE(on) w->barriers[barrier][l] = on;
                pc++;
                break;
            case OP_BREAK:
                if (o[6].kind != K_NONE) on &= predicate(w, &o[6]);
                LANES w->barriers[barrier][l] &= ~on;
                g->pc = ++pc;
                if (!alone) {
                    release(w);
                    goto again;
                }
                break;
            case OP_BSYNC: case OP_WARPSYNC: {
                u32 first = (u32)__builtin_ctz(mask), wanted = (i->operation == OP_BSYNC ? w->barriers[barrier][first] : first_of(w, &o[1], mask)) & w->live;
                if (!(wanted & ~mask)) {
                    pc++;
                    break;
                }
                g->pc = pc;
                g->state = i->operation == OP_BSYNC ? AT_CONVERGENCE : AT_WARPSYNC;
                g->barrier = i->operation == OP_BSYNC ? (u8)barrier : 0;
                g->wanted = wanted;
                release(w);
                goto again;
            }
            case OP_BAR: {
                u32 id = first_of(w, &o[1], mask) & 15, threads = o[2].kind == K_NONE ? 0 : first_of(w, &o[2], mask);
                b->came[id] += (u32)__builtin_popcount(mask);
                if (i->sub >= BAR_POPC) b->reduced[id] += (u32)__builtin_popcount(mask & predicate(w, &o[6]));
                if (threads) b->expected[id] = threads;
                if (i->sub == BAR_ARRIVE) {
                    b->arrived[id] += 32;
                    pc++;
                    break;
                }
                g->pc = pc + 1;
                g->state = AT_BARRIER;
                g->barrier = 0;
                w->waits_at = (u8)id;
                w->reduces = i->sub;
                goto again;
            }
            default: pc++; /* YIELD */
            }
            if (pc >= code_count) {
                told.faults++;
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
}

static void open_barriers(struct block *b)
{
    for (u32 id = 0; id < 16; id++) {
        u32 waiting = 0, running = 0, elsewhere = 0;
        bool others = false;
        for (u32 k = 0; k < b->warp_count; k++) {
            struct warp *w = &b->warps[k];
            if (!w->live) continue;
            if (!w->waits) running++;
            else if (w->waits_at == id) waiting++;
            else elsewhere++, others |= b->expected[w->waits_at] != 0;
        }
        /* Warps that wait at different barriers which all expect everybody would wait forever. */
        bool enough = b->expected[id] && waiting * 32 + b->arrived[id] >= b->expected[id];
        if (!waiting || !(enough || (!running && (!elsewhere || (!b->expected[id] && !others))))) continue;
        b->result = b->reduced[id];
        b->all = b->result == b->came[id];
        b->reduced[id] = b->arrived[id] = b->expected[id] = b->came[id] = 0;
        for (u32 k = 0; k < b->warp_count; k++) {
            struct warp *w = &b->warps[k];
            if (!w->live || !w->waits || w->waits_at != id) continue;
            w->waits = false;
            resume(w, AT_BARRIER, 0, ~0u, 0);
        }
    }
}

static void run_block(struct block *b, u32 turn)
{
    bool any = false;
    for (u32 k = 0; k < b->warp_count; k++) {
        struct warp *w = &b->warps[k];
        any |= w->live != 0;
        if (!w->live || w->waits) continue;
        u64 before = w->steps;
        run_warp(b, w, turn);
        traffic.steps += w->steps - before;
        if (w->steps > told.longest) told.longest = w->steps;
    }
    b->done = !any;
    if (any) open_barriers(b);
}

/* ------------------------------------------------------------------------------------------------ launches */

static void begin_block(struct block *b, u32 number, u32 slot, const struct kernel *kernel)
{
    u32 threads = block_[0] * block_[1] * block_[2];
    *b = (struct block){
        .x = number % grid_[0], .y = number / grid_[0] % grid_[1], .z = number / (grid_[0] * grid_[1]), .slot = slot,
        .warp_count = b->warp_count, .warps = b->warps, .shared_bytes = b->shared_bytes, .shared = b->shared};
    work += PER_WARP * b->warp_count;
    memset(b->shared, 0, b->shared_bytes);
    for (u32 k = 0; k < b->warp_count; k++) {
        struct warp *w = &b->warps[k];
        u32 lanes = threads - 32 * k >= 32 ? ~0u : (1u << (threads - 32 * k)) - 1;
        memset(w->predicates, 0, sizeof w->predicates);
        w->predicates[7] = w->predicates[15] = ~0u;
        w->group_count = 1;
        w->groups[0] = (struct group){lanes, kernel->entry, READY, 0, 0};
        w->live = lanes;
        w->index = k;
        w->waits = false;
        w->highest = w->starved = 0;
        w->steps = 0;
    }
}

/* Memory of blocks, kept from launch to launch: its pages are there then. NULL if there is no more. */
static u8 *arena;
static u64 arena_used;
static void *taken(u64 bytes)
{
    if (!arena) arena = pages(ARENA);
    bytes = (bytes + 63) & ~63ull;
    if (!arena || bytes > ARENA - arena_used) return NULL;
    arena_used += bytes;
    return arena + arena_used - bytes;
}

/* A block that a launch may use for one after the other of its own. False if there is no memory for it. */
static bool make_block(struct block *b, u32 shared)
{
    bool enough;
    b->warp_count = (block_[0] * block_[1] * block_[2] + 31) / 32;
    b->shared_bytes = shared;
    b->shared = taken(shared + 16);
    enough = (b->warps = taken(b->warp_count * sizeof *b->warps)) && b->shared;
    for (u32 k = 0; enough && k < b->warp_count; k++) {
        struct warp *w = &b->warps[k];
        w->rows[0] = taken((ROW_REGISTER + registers) * 128ull);
        w->rows[1] = pool - 32ull * POOL;
        w->local = taken(32ull * local_bytes);
        enough = w->rows[0] && w->local;
        if (enough) memset(w->rows[0] + 32 * ROW_ZERO, 0, 128);
    }
    return enough;
}

#define CHECKPOINTS 64
static struct traffic checkpoints[CHECKPOINTS];
static u32 checkpoint_count;
static u64 checkpoint_interval;

/* What memory has done so far, against the instructions followed; every other one goes when there is no room. */
static void checkpoint(void)
{
    if (checkpoint_count == CHECKPOINTS) {
        for (u32 k = 0; k < CHECKPOINTS / 2; k++) checkpoints[k] = checkpoints[2 * k + 1];
        checkpoint_count = CHECKPOINTS / 2;
        checkpoint_interval *= 2;
    }
    checkpoints[checkpoint_count++] = traffic;
}

/* `begun` and `finished`: blocks that were followed as the device would run them; `sampled`: those followed alone. */
struct outcome { u32 begun, finished, sampled, served; bool complete, cut; double seconds, extrapolated; };

#define TURN 2048

static u32 least(u32 a, u32 b) { return a < b ? a : b; }
static u32 greatest_common(u32 a, u32 b) { return b ? greatest_common(b, a % b) : a; }

/* How many blocks the device holds at a time. */
static u32 blocks_at_once(const struct kernel *kernel, u32 warps, u32 shared)
{
    const struct machine_device *device = machine_device();
    u32 per = least(device->threads_per_multiprocessor / (warps * 32), device->blocks_per_multiprocessor);
    per = least(per, 65536 / ((kernel->registers + 7) / 8 * 8 * warps * 32 + 1));
    if (shared) per = least(per, device->shared_per_multiprocessor / (shared + 1024));
    return least((per ? per : 1) * device->multiprocessors, grid_[0] * grid_[1] * grid_[2]);
}

/* A copy of the counts. */
static struct count *counted(void)
{
    struct count *copy = malloc((code_count + 1) * sizeof *counts);
    memcpy(copy, counts, (code_count + 1) * sizeof *counts);
    return copy;
}

static void put_back(struct count *copy) { memcpy(counts, copy, code_count * sizeof *counts); }

/* Follow a block some time longer, and add to the counts what the loops that it is in have still to do, each going on as it does now: the
 * outermost of each warp whose end can be told. Returns the share of the counts that was added; 0 if that of some warp cannot. */
static double extrapolate(struct block *b, double seconds)
{
    struct count *before = counted();
    double begin = now(), all = 0, added = 0;
    bool known = true;
    probing = true;
    loop_count = 0;
    while (!b->done && now() - begin < seconds) run_block(b, TURN);
    probing = false;
    for (u32 k = 0; k < b->warp_count; k++) {
        struct loop *outer = NULL;
        for (u32 j = 0; b->warps[k].live && j < loop_count; j++)
            if (loops[j].warp == k && iterations_left(&loops[j]) && (!outer || loops[j].pc - (u32)code[loops[j].pc].target > outer->pc - (u32)code[outer->pc].target)) outer = &loops[j];
        known &= !b->warps[k].live || outer;
        for (u32 j = 0; j < loop_count; j++)
            if (loops[j].warp == k && &loops[j] != outer) loops[j].seen = 0;
    }
    for (u32 j = 0; j < loop_count; j++) {
        u64 left = 0, seen = 0;
        for (u32 k = j; k < loop_count; k++)
            if (loops[k].pc == loops[j].pc && loops[k].seen) left += iterations_left(&loops[k]), seen += loops[k].seen;
        for (u32 at = (u32)code[loops[j].pc].target; seen && at <= loops[j].pc; at++) {
            double factor = (double)left / (double)seen;
            u64 *into = (u64 *)&counts[at], *was = (u64 *)&before[at];
            added += factor * (double)(counts[at].warps - before[at].warps);
            for (u32 k = 0; k < sizeof *counts / sizeof *into; k++) into[k] += (u64)(factor * (double)(into[k] - was[k]));
        }
        for (u32 k = j + 1; k < loop_count; k++)
            if (loops[k].pc == loops[j].pc) loops[k].seen = 0;
    }
    for (u32 k = 0; k < code_count; k++) all += (double)counts[k].warps;
    free(before);
    return known && all ? added / all : 0;
}

/* How many blocks, from the first on, read what was computed: all but where a launch that was left wrote what this one reads. */
static u32 blocks_served(u32 blocks)
{
    double part = 1;
    for (u32 k = 0; k < allocation_count; k++)
        if (allocations[k].read && allocations[k].finished < part) part = allocations[k].finished;
    return part * blocks >= 1 ? (u32)(part * blocks) : blocks;
}

/* Single blocks, spread over the first so many, to their end: they tell what all execute. The counts of what all have begun stay if none ends in time and
 * what is left of it cannot be told. */
static void sample(const struct kernel *kernel, struct block *b, u32 blocks, double begin, double seconds, struct outcome *out)
{
    u32 stride = (u32)(0.618 * blocks) | 1, block = blocks / 2;
    struct count *before = counted();
    memset(counts, 0, code_count * sizeof *counts);
    while (greatest_common(stride, blocks) != 1) stride++;
    while (out->sampled < blocks && !out->cut && (now() - begin < seconds || (out->sampled < 3 && now() - begin < 1.5 * seconds))) {
        begin_block(b, block, 0, kernel);
        while (!b->done && !out->cut) {
            run_block(b, TURN);
            out->cut = now() - begin > 1.5 * seconds;
        }
        if (!b->done && out->sampled < 3) out->extrapolated = extrapolate(b, 0.25 * seconds);
        out->sampled += b->done || out->extrapolated > 0;
        block = (u32)(((u64)block + stride) % blocks);
    }
    if (!out->sampled) put_back(before);
    /* Several say enough without the one that did not end. */
    if (out->sampled > 2 && !out->extrapolated) out->cut = false;
    free(before);
}

/* Instructions of warps in a sampled block. */
static double steps_of_block(const struct outcome *out)
{
    double all = 0;
    for (u32 k = 0; k < code_count; k++) all += (double)counts[k].warps;
    return all / out->sampled;
}

/* Blocks of the whole grid stand for it, unless they do something quite different where what they read was not computed. */
static void sample_served(const struct kernel *kernel, struct block *b, double begin, double seconds, struct outcome *out)
{
    u32 blocks = grid_[0] * grid_[1] * grid_[2], served = blocks_served(blocks);
    out->served = blocks;
    if (served == blocks) {
        sample(kernel, b, blocks, begin, seconds, out);
        return;
    }
    struct outcome few = *out;
    struct told before = told, then;
    few.served = served;
    told.longest = 0;
    sample(kernel, b, served, begin, 0.75 * seconds, &few);
    then = told;
    struct count *of_few = counted();
    double steps = few.sampled ? steps_of_block(&few) : 0;
    if (steps && !few.cut && !few.extrapolated) sample(kernel, b, blocks, begin, seconds, out);
    double ratio = out->sampled && !out->cut && !out->extrapolated ? steps_of_block(out) / steps : 0;
    if (ratio < 0.5 || ratio > 2) put_back(of_few), told = then, *out = few;
    else if (told.longest < before.longest) told.longest = before.longest;
    free(of_few);
}

/* All blocks in the order of the grid, as many at a time as the device holds: the memory's view. Left after `until` if it would not end in `seconds`. */
static struct outcome follow(const struct kernel *kernel, u32 shared, double until, double seconds, bool wanted)
{
    u32 blocks = grid_[0] * grid_[1] * grid_[2], warps = (block_[0] * block_[1] * block_[2] + 31) / 32;
    u64 bytes = (u64)warps * ((ROW_REGISTER + registers) * 128ull + 32ull * local_bytes + sizeof(struct warp)) + shared + 4096;
    u32 resident = blocks_at_once(kernel, warps, shared), slots = resident, used = 0, next = 0;
    double begin = now();
    struct outcome out = {0};
    u64 last_checkpoint = 0;
    bool active = true;
    if (slots > (1ull << 29) / bytes) slots = (u32)((1ull << 29) / bytes);
    if (!slots) slots = 1;
    /* Fewer blocks than the device would hold get their part of the cache. */
    if (slots < resident) cache_sized(machine_device()->l2_bytes * (u64)slots / resident);
    struct block *running = calloc(slots, sizeof *running);
    checkpoint_count = 0;
    checkpoint_interval = TURN;
    told = (struct told){0};
    memset(meetings, 0, sizeof meetings);
    met = 0;
    while (active) {
        active = false;
        for (u32 k = 0; k < slots; k++) {
            struct block *b = &running[k];
            if (k == used && next < blocks && make_block(b, shared)) used++, begin_block(b, next++, k, kernel);
            else if (k >= used || (b->done && next >= blocks)) continue;
            else if (b->done) begin_block(b, next++, k, kernel);
            run_block(b, TURN);
            out.finished += b->done;
            active = true;
            if (traffic.steps - last_checkpoint >= checkpoint_interval) checkpoint(), last_checkpoint = traffic.steps;
            if ((k & 7) == 7 || k + 1 == slots) {
                double t = now() - begin;
                /* What would end in time goes on. */
                if (t > until && (!out.finished || t > seconds || t / out.finished * blocks > seconds)) {
                    active = false;
                    break;
                }
            }
        }
    }
    checkpoint();
    out.begun = next;
    out.complete = out.finished == blocks;
    if (wanted && !out.complete && used) sample_served(kernel, &running[0], begin, seconds, &out);
    arena_used = 0;
    free(running);
    out.seconds = now() - begin;
    return out;
}

/* ------------------------------------------------------------------------------------------------ files */

static struct machine_device imitated = {
    "NVIDIA GeForce RTX 3080", 8, 6, 68, 1440000, 9501000, 320, 5242880, 49152, 101376, 102400, 65536, 1536, 16, 10ull << 30};
static char **wanted_names;
static u32 wanted_count, wanted_grid[3], wanted_block[3], wanted_occurrence;
static bool wanted_all, whole; /* whole: every launch is followed to its end and recorded */
static double wanted_seconds = 4, other_seconds = 3;
static const char *folder;
static FILE *results;
static u32 *occurrences;
static bool *recorded_once;
static const u8 *blob;
static size_t blob_at, blob_bytes;

/* Zeros come behind the end of the file. */
static void get(void *into, size_t bytes)
{
    memset(into, 0, bytes);
    if (bytes <= blob_bytes - blob_at) memcpy(into, blob + blob_at, bytes), blob_at += bytes;
    else blob_at = blob_bytes;
}
static u32 get32(void) { u32 v; get(&v, 4); return v; }
static u64 get64(void) { u64 v; get(&v, 8); return v; }
/* A number of things of which each takes at least so many bytes of the file. */
static u32 get_count(size_t each) { u32 n = get32(); return n <= (blob_bytes - blob_at) / each ? n : 0; }
static char *get_text(u32 *count)
{
    u32 n = get_count(1);
    char *text = calloc(1, n + 1);
    get(text, n);
    if (count) *count = n;
    return text;
}

static void read_settings(void)
{
    char path[4096], key[64], line[8192];
    snprintf(path, sizeof path, "%s/settings", folder);
    FILE *file = fopen(path, "r");
    if (!file) return;
    while (fgets(line, sizeof line, file)) {
        char *value = strchr(line, ' ');
        if (!value || value - line >= (ptrdiff_t)sizeof key) continue;
        snprintf(key, sizeof key, "%.*s", (int)(value - line), line);
        value++;
        value[strcspn(value, "\n")] = 0;
        u64 number = strtoull(value, NULL, 10);
#define SETTING(name) else if (!strcmp(key, #name)) imitated.name = (__typeof__(imitated.name))number;
        if (!strcmp(key, "want")) {
            if (!strcmp(value, "*")) wanted_all = true;
            wanted_names = realloc(wanted_names, (wanted_count + 1) * sizeof *wanted_names);
            wanted_names[wanted_count++] = strdup(value);
        } else if (!strcmp(key, "grid")) sscanf(value, "%u %u %u", wanted_grid, wanted_grid + 1, wanted_grid + 2);
        else if (!strcmp(key, "block")) sscanf(value, "%u %u %u", wanted_block, wanted_block + 1, wanted_block + 2);
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

/* The row of the pool for an immediate (bank ~0) or constant. */
static u32 pooled(u32 bank, u32 value)
{
    static u32 table[1 << 16];
    for (u32 k = (bank * 31 + value) * 2654435761u >> 16;; k = (k + 1) & 0xffff) {
        if (table[k] && pool_of[table[k] - 1].bank == bank && pool_of[table[k] - 1].value == value) return POOL + table[k] - 1;
        if (table[k]) continue;
        if (pool_count == pool_room) {
            pool_room = pool_room ? 2 * pool_room : 1024;
            pool_of = realloc(pool_of, pool_room * sizeof *pool_of);
        }
        pool_of[pool_count].bank = bank, pool_of[pool_count].value = value;
        if (pool_count < 50000) table[k] = pool_count + 1;
        return POOL + pool_count++;
    }
}

/* Whether the numbers of an instruction are such as it may have. */
static bool sane(const struct instruction *i)
{
    bool power = i->width && i->width <= 16 && !(i->width & (i->width - 1));
    switch (i->operation) {
    case OP_LOAD: case OP_STORE: case OP_LDC: case OP_LDGSTS: return power;
    case OP_ATOM: return i->width == 4 || i->width == 8;
    case OP_LDSM: case OP_TEXTURE: return i->sub <= 4;
    case OP_CONVERT: return i->type <= T_BF16 && i->sub <= T_BF16;
    case OP_MATRIX: return i->type <= T_U4 && i->sub <= T_U4 && (i->width == 8 || i->width == 16) && i->sub2 <= 64;
    default: return i->operation <= OP_YIELD;
    }
}

/* Where an operand lies; only a value that is stored may be an immediate in the place of the result. */
static void settle(struct operand *o, u32 slot)
{
    switch (slot || o->kind == K_REGISTER || o->kind == K_UNIFORM ? o->kind : K_NONE) {
    case K_REGISTER: o->row = o->index < 255 ? ROW_REGISTER + o->index : slot ? ROW_ZERO : ROW_TRASH; break;
    case K_UNIFORM: o->row = o->index < 63 ? ROW_UNIFORM + o->index : slot ? ROW_ZERO : ROW_TRASH; break;
    case K_IMMEDIATE: o->row = pooled(~0u, o->value); break;
    case K_CONSTANT: o->row = pooled(o->index, o->value); break;
    case K_PREDICATE: o->row = o->index & 7; break;
    case K_UNIFORM_PREDICATE: o->row = 8 + (o->index & 7); break;
    default: o->row = slot >= 4 ? P_NONE : slot ? ROW_ZERO : ROW_TRASH;
    }
}

static u8 *bank_of(u32 m, u32 bank)
{
    if (m >= module_count || bank >= 8) return NULL;
    if (!modules[m].banks[bank]) modules[m].banks[bank] = calloc(1, BANK_BYTES + 64);
    return modules[m].banks[bank];
}

/* Layout of the file "code": see lowering.py. */
static void load_code(void)
{
    static bool loaded;
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
    blob_bytes = (size_t)lseek(fd, 0, SEEK_END);
    blob = mmap(NULL, blob_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (blob == MAP_FAILED || get32() != 0x31504843) return;
    code_count = get_count(80);
    code = calloc(code_count + 1, sizeof *code);
    for (u32 k = 0; k < code_count; k++) {
        get(&code[k], offsetof(struct instruction, o));
        for (u32 j = 0; j < 8; j++) get(&code[k].o[j], offsetof(struct operand, row));
        if (!sane(&code[k])) code[k].operation = OP_UNKNOWN;
        bool anywhere = code[k].operation < OP_BRA || code[k].operation == OP_BRX || code[k].operation == OP_CALL; /* others go where the code is */
        if (!anywhere && (u32)code[k].target > code_count) code[k].target = (s32)code_count;
    }
    module_count = get_count(8);
    modules = calloc(module_count + 1, sizeof *modules);
    for (u32 m = 0; m < module_count; m++) modules[m].first = get32(), modules[m].count = get32();
    variable_count = get_count(28);
    variables = calloc(variable_count + 1, sizeof *variables);
    for (u32 k = 0; k < variable_count; k++) {
        struct variable *v = &variables[k];
        u32 bank, offset, initial;
        v->name = get_text(NULL);
        v->module = get32();
        v->size = get64();
        bank = get32();
        offset = get32();
        char *content = get_text(&initial);
        if (bank == ~0u) {
            if (!(v->memory = pages(v->size + 64))) v->memory = calloc(1, 64), v->size = 0;
            machine_allocated(v->memory, v->size, MACHINE_DEVICE);
        } else {
            u8 *memory = bank_of(v->module, bank);
            if (!memory || offset + v->size > BANK_BYTES) memory = calloc(1, v->size = 64), offset = 0;
            v->memory = memory + offset;
        }
        memcpy(v->memory, content, initial < v->size ? initial : v->size);
        free(content);
    }
    for (u32 fixes = get_count(28); fixes; fixes--) {
        /* The address of a variable or of code, wanted in a bank (0), an operand (1) or a variable (2). */
        u32 kind = get32(), where = get32(), place = get32(), part = get32(), variable = get32();
        u64 value = get64() + (variable < variable_count ? (u64)variables[variable].memory : 0);
        u8 *memory = kind == 2 && where < variable_count && place + 8ull <= variables[where].size ? variables[where].memory : kind == 0 ? bank_of(where >> 8, where & 255) : NULL;
        if (kind == 1 && where < code_count) code[where].o[place & 7].value = part ? (u32)(value >> 32) : (u32)value;
        else if (memory && place <= BANK_BYTES - 8) memcpy(memory + place, &value, 8);
    }
    for (u32 k = 0; k < code_count; k++)
        for (u32 j = 0; j < 8; j++) settle(&code[k].o[j], j == 0 && (code[k].operation == OP_STORE || code[k].operation == OP_LDGSTS) ? 1 : j);
    pool = aligned_alloc(64, (pool_count + 2) * sizeof(row));
    for (u32 k = 0; k < pool_count; k++) LANES pool[32 * k + (u32)l] = pool_of[k].value;
    kernel_count = get_count(32);
    kernels = calloc(kernel_count + 1, sizeof *kernels);
    occurrences = calloc(kernel_count + 1, sizeof *occurrences);
    recorded_once = calloc(kernel_count + 1, sizeof *recorded_once);
    for (u32 k = 0; k < kernel_count; k++) {
        struct kernel *one = &kernels[k];
        one->name = get_text(NULL);
        get(&one->module, offsetof(struct kernel, parameters) - offsetof(struct kernel, module));
        one->module = least(one->module, module_count), one->entry = least(one->entry, code_count);
        if (one->parameter_count > (blob_bytes - blob_at) / 8) one->parameter_count = 0;
        one->parameters = calloc(one->parameter_count + 1, sizeof *one->parameters);
        get(one->parameters, one->parameter_count * sizeof *one->parameters);
    }
    counts = calloc(code_count + 1, sizeof *counts);
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
    *found = (struct machine_kernel){kernel->registers, kernel->shared, kernel->local, kernel->max_threads};
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

/* Numbers between brackets. */
static void write_numbers(const u64 *numbers, u32 count)
{
    for (u32 k = 0; k < count; k++) fprintf(results, "%c%llu", k ? ',' : '[', (unsigned long long)numbers[k]);
    fputc(']', results);
}

static void write_launch(const struct kernel *kernel, const struct outcome *out, u32 dynamic, u32 occurrence, u32 skipped)
{
    fprintf(results, "{\"kernel\": \"%s\", \"grid\": [%u,%u,%u], \"block\": [%u,%u,%u], \"dynamic_shared\": %u, \"occurrence\": %u", kernel->name,
            grid_[0], grid_[1], grid_[2], block_[0], block_[1], block_[2], dynamic, occurrence);
    fprintf(results, ", \"registers\": %u, \"shared\": %u, \"local\": %u, \"begun\": %u, \"finished\": %u, \"sampled\": %u, \"served\": %u, \"complete\": %s, \"cut\": %s, \"seconds\": %.3f",
            kernel->registers, kernel->shared, kernel->local, out->begun, out->finished, out->sampled, out->served, out->complete ? "true" : "false", out->cut ? "true" : "false", out->seconds);
    fprintf(results, ", \"faults\": %llu, \"unknown\": %llu, \"longest\": %llu, \"skipped\": %u", (unsigned long long)told.faults,
            (unsigned long long)told.unknown, (unsigned long long)told.longest, skipped);
    fprintf(results, ", \"extrapolated\": %.4f, \"parameters\": [", out->extrapolated);
    for (u32 j = 0; j < kernel->parameter_count; j++) {
        u32 from = kernel->parameter_base + kernel->parameters[j].offset;
        fprintf(results, "%s\"", j ? "," : "");
        for (u32 k = 0; k < kernel->parameters[j].size && k < 64 && from + k < BANK_BYTES; k++) fprintf(results, "%02x", constants[from + k]);
        fputc('"', results);
    }
    fprintf(results, "], \"memory\": [");
    for (u32 k = 0; k < checkpoint_count; k++) {
        if (k) fputc(',', results);
        write_numbers((const u64 *)&checkpoints[k], sizeof *checkpoints / 8);
    }
    fprintf(results, "], \"touched\": ");
    write_numbers((const u64 *)&traffic, sizeof traffic / 8);
    fprintf(results, ", \"allocations\": ");
    const char *before = "[";
    u64 unwritten = 0;
    for (u32 k = 0; k < allocation_count; k++) {
        struct allocation *a = &allocations[k];
        u64 read = 0, written = 0;
        if (!a->read && !a->written) continue;
        if (a->blank && !a->written) unwritten += a->end - a->begin;
        for (u64 j = 0; j < ((a->end - a->begin) >> 11) + 3; j++) {
            if (a->read) read += (u64)__builtin_popcountll(a->read[j]);
            if (a->written) written += (u64)__builtin_popcountll(a->written[j]);
        }
        fputs(before, results), before = ",";
        write_numbers((u64[]){a->end - a->begin, read, written, a->space}, 4);
    }
    fputs(*before == '[' ? "[]" : "]", results);
    u64 most[65] = {met};
    for (u32 k = 0; k < MEETINGS; k++) {
        u64 *of = &most[__builtin_popcountll(meetings[k].blocks)];
        if (meetings[k].passes > *of) *of = meetings[k].passes;
    }
    fprintf(results, ", \"unwritten\": %llu", (unsigned long long)unwritten);
    fputs(", \"meetings\": ", results);
    write_numbers(most, 65);
    fputs(", \"counts\": ", results);
    before = "[";
    for (u32 k = 0; k < code_count; k++)
        if (counts[k].warps) {
            fputs(before, results), before = ",";
            write_numbers((u64[]){k, counts[k].warps, counts[k].threads, counts[k].sectors, counts[k].passes, counts[k].requests}, 6);
        }
    fputs(*before == '[' ? "[]}\n" : "]}\n", results);
    fflush(results);
}

/* Where the threads of a block lie in it. */
static void set_places(void)
{
    u32 warps = (block_[0] * block_[1] * block_[2] + 31) / 32;
    for (int k = 0; k < 3; k++) {
        free(places[k]);
        places[k] = aligned_alloc(64, warps * sizeof(row));
    }
    for (u32 t = 0; t < 32 * warps; t++) {
        places[0][t / 32][t % 32] = t % block_[0];
        places[1][t / 32][t % 32] = t / block_[0] % block_[1];
        places[2][t / 32][t % 32] = t / (block_[0] * block_[1]);
    }
}

/* The constants of a launch: what the driver puts before the parameters, and those. */
static void set_constants(const struct kernel *kernel, void *const *arguments)
{
    u32 windows[2] = {(u32)(SHARED_WINDOW >> 32), (u32)(LOCAL_WINDOW >> 32)};
    memset(constants, 0, sizeof constants);
    memcpy(constants, block_, 12);
    memcpy(constants + 0xc, grid_, 12);
    memcpy(constants + 0x1c, &windows[0], 4);
    memcpy(constants + 0x24, &windows[1], 4);
    memcpy(constants + 0x28, &local_bytes, 4);
    for (u32 j = 0; j < kernel->parameter_count; j++) {
        u64 at = (u64)kernel->parameter_base + kernel->parameters[j].offset;
        if (at + kernel->parameters[j].size <= sizeof constants) memcpy(constants + at, arguments[j], kernel->parameters[j].size);
    }
    for (u32 k = 0; k < pool_count; k++) {
        if (pool_of[k].bank == ~0u) continue;
        u32 v = constant32(pool_of[k].bank, pool_of[k].value);
        LANES pool[32 * k + (u32)l] = v;
    }
}

/* How many registers the code of a kernel names, and of what it may call. */
static u32 registers_named(const struct kernel *kernel)
{
    u32 end = module->first + module->count, most = kernel->registers;
    for (u32 k = 0; k < kernel_count; k++)
        if (kernels[k].entry > kernel->entry && kernels[k].entry < end) end = kernels[k].entry;
    for (u32 pass = 0; pass < 2; pass++) {
        bool leaves = false;
        for (u32 k = pass ? 0 : kernel->entry; k < (pass ? code_count : end) && k < code_count; k++) {
            leaves |= code[k].operation == OP_CALL && (code[k].o[1].kind != K_NONE || (u32)code[k].target < kernel->entry || (u32)code[k].target >= end);
            for (u32 j = 0; j < 8; j++)
                if (code[k].o[j].kind == K_REGISTER && code[k].o[j].index < 255 && code[k].o[j].index > most) most = code[k].o[j].index;
        }
        if (!leaves) break;
    }
    return most + 5; /* the last of four, and one more */
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
    bool wanted = wanted_all, shaped = true;
    for (u32 k = 0; k < wanted_count; k++) wanted |= !strcmp(wanted_names[k], name);
    /* A shape that nobody asked for is zeros. */
    for (int k = 0; k < 3; k++) shaped &= (!wanted_grid[0] || grid[k] == wanted_grid[k]) && (!wanted_block[0] || block[k] == wanted_block[k]);
    bool final = wanted && shaped && occurrence >= wanted_occurrence;
    if (wanted_all) {
        wanted = final && !recorded_once[kernel - kernels], final = false;
        recorded_once[kernel - kernels] |= wanted;
    }
    bool full = wanted_all ? wanted : final;
    double seconds = full ? wanted_seconds : 0.5 * (other_seconds - spent), until = full ? 0.5 * seconds : fmin(seconds, other_seconds / 6);
    if (whole) full = wanted = true, final = false, until = seconds = 1e9;
    if (!full && (seconds < 0.02 || occurrence > 200)) {
        skipped++;
        for (u32 k = 0; k < allocation_count; k++) allocations[k].blank = false; /* perhaps it writes there */
        return 0;
    }
    if (!grid[0] || !grid[1] || !grid[2] || !block[0] || !block[1] || !block[2]) return 0;
    memcpy(grid_, grid, sizeof grid_);
    memcpy(block_, block, sizeof block_);
    module = &modules[kernel->module];
    registers = registers_named(kernel);
    local_bytes = kernel->local ? (kernel->local + 1024 + 15) & ~15u : 0;
    set_constants(kernel, arguments);
    set_places();
    memset(counts, 0, code_count * sizeof *counts);
    cache_cold(imitated.l2_bytes);
    struct outcome out = follow(kernel, kernel->shared + dynamic_shared, until, seconds, full);
    if (!full) spent += out.seconds;
    if (wanted && results && (full || recorded < 8)) write_launch(kernel, &out, dynamic_shared, occurrence, skipped), recorded++;
    for (u32 k = 0; k < allocation_count; k++) allocations[k].blank &= !allocations[k].written;
    /* What later launches read of it may not be there. */
    if (!out.complete) {
        skipped++;
        for (u32 k = 0; k < allocation_count; k++)
            if (allocations[k].written) allocations[k].finished = fmin(allocations[k].finished, (double)out.finished / (grid[0] * grid[1] * grid[2]));
    }
    if (final) {
        fflush(NULL);
        _exit(0);
    }
    return 0;
}
