/* Follows machine code of the host that tells each basic block that it enters and each address that it touches.
 *
 * chathpc/predict/host_code.py puts into the assembly, before a block or an access, a store of one word to *trace_next: the address
 * with the number of the instruction in its upper 16 bits, or -1 - the number of the block. At the end of the buffer lies a page
 * that cannot be written; the signal's handler digests the words, puts the register back to the beginning, and the code goes on.
 * What is kept: how often each block ran, mispredicted branches, the lines that missed the caches, and windows of the run.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define EVENTS (1u << 18)
#define LEVELS 3
#define WAITS (LEVELS + 3)
#define WINDOWS 48     /* at most; every other is dropped when they are full */
#define WINDOW 256     /* blocks of a window */
#define BUFFERS 64
#define TABLES 4       /* of a predictor of branches after Seznec's TAGE, by the length of the history that they look at */
#define ENTRIES (1u << 13)

__attribute__((visibility("hidden"))) uint64_t *trace_next, trace_rax, trace_rcx;
__attribute__((visibility("hidden"))) uint32_t trace_lanes[16];

/* All that is told; the same as Told in host_code.py. */
struct told {
    uint64_t mispredicted, accesses;
    uint64_t shared_atomics; /* atomic operations on the buffers */
    uint64_t lines[LEVELS + 1][3]; /* by the level that had it (0: the first), after no order, a stride, or a neighbour */
    uint64_t conflicts;            /* lines that the first cache did not have, of the set of one of the three such before */
    uint64_t written_back;         /* lines that left the last level changed */
    uint64_t pages[2];             /* accesses whose page the first table of translations did not have, and not the second either */
    uint64_t window_count;
    uint32_t windows[WINDOWS][WINDOW];
    uint32_t window_size[WINDOWS];
    uint64_t footprint[BUFFERS][2]; /* lines of each buffer that were read or written, and written */
};

static struct told told;
static uint64_t *events, *counts, *missed_after; /* by block: how often it ran, and its branch was mispredicted */
static uint32_t block_count, site_count;
static uint64_t blocks_run, window_every; /* blocks from the begin of one window to that of the next */

struct level { uint32_t sets, ways; uint64_t *tag; uint64_t *used; uint8_t *dirty; uint64_t clock; };
static struct level levels[LEVELS], pages[2];
static struct { uint64_t base, bytes; uint8_t *seen; } buffers[BUFFERS];
static uint32_t buffer_count;
static struct { int64_t line, stride; } stream[1 << 16];
static uint64_t last_page, missed_sets[3];
static uint64_t (*site_lines)[WAITS]; /* by instruction: lines by the level that had them, translations by the second table, and walks */
static uint8_t *writes;

static uint32_t window_open, window_fill;

static const uint32_t lengths[TABLES] = {4, 12, 36, 100};
static struct { uint32_t tag, next; int8_t trust; uint8_t useful; } table[TABLES][ENTRIES];
static uint32_t previous_block, past[128], past_at; /* the blocks after branches that go more than one way */
static uint64_t history[TABLES], power[TABLES];     /* hashes of the last lengths[t] of them */
static uint32_t *usual; /* by block: the block after it, plus one */
static int8_t *usual_trust;
static uint8_t *several; /* by block: it was followed by more than one */

static void predict(uint32_t block)
{
    uint32_t last = previous_block, next = block + 1, at[TABLES], tag[TABLES];
    int from = -1;
    previous_block = block;
    if (!usual[last]) { usual[last] = next; return; }
    several[last] |= usual[last] != next;
    if (!several[last]) return;
    for (int t = 0; t < TABLES; t++) {
        uint64_t h = (history[t] + last) * 0x9E3779B97F4A7C15u;
        at[t] = (uint32_t)(h >> 40) % ENTRIES;
        tag[t] = (uint32_t)h | 1;
        if (table[t][at[t]].tag == tag[t]) from = t;
    }
    uint32_t guess = from < 0 ? usual[last] : table[from][at[from]].next;
    told.mispredicted += guess != next;
    missed_after[last] += guess != next;
    uint32_t *kept = from < 0 ? usual + last : &table[from][at[from]].next;
    int8_t *trust = from < 0 ? usual_trust + last : &table[from][at[from]].trust;
    if (guess == next) {
        if (*trust < 3) ++*trust;
        if (from >= 0 && guess != usual[last]) table[from][at[from]].useful = 1;
    } else {
        if (*trust > 0) --*trust;
        else *kept = next;
        for (int t = from + 1; t < TABLES; t++) {
            if (table[t][at[t]].useful) { table[t][at[t]].useful = 0; continue; }
            table[t][at[t]].tag = tag[t];
            table[t][at[t]].next = next;
            table[t][at[t]].trust = 0;
            break;
        }
    }
    for (int t = 0; t < TABLES; t++)
        history[t] = history[t] * 0xD6E8FEB86659FD93u + next - past[(past_at - lengths[t]) % 128] * power[t];
    past[past_at++ % 128] = next;
}

static void window(uint64_t block)
{
    if (window_open) {
        told.windows[told.window_count][window_fill++] = (uint32_t)block;
        if (window_fill == WINDOW) {
            told.window_size[told.window_count++] = window_fill;
            window_open = window_fill = 0;
        }
    } else if ((blocks_run - 1) % window_every == 0) {
        if (told.window_count == WINDOWS) {
            for (uint32_t k = 0; 2 * k < WINDOWS; k++) {
                memcpy(told.windows[k], told.windows[2 * k], sizeof told.windows[k]);
                told.window_size[k] = told.window_size[2 * k];
            }
            told.window_count = WINDOWS / 2;
            window_every *= 2;
            if ((blocks_run - 1) % window_every) return;
        }
        window_open = 1;
        window_fill = 0;
        told.windows[told.window_count][window_fill++] = (uint32_t)block;
    }
}

/* Way of the line in its set, or -1; it is then the one used last. */
static int look(struct level *level, uint64_t line, int write)
{
    uint64_t set = line % level->sets, *tag = level->tag + set * level->ways;
    for (uint32_t w = 0; w < level->ways; w++)
        if (tag[w] == line + 1) {
            level->used[set * level->ways + w] = ++level->clock;
            level->dirty[set * level->ways + w] |= (uint8_t)write;
            return (int)w;
        }
    return -1;
}

/* Put a line where the oldest of its set is; the line that was there, plus one. */
static uint64_t put(struct level *level, uint64_t line, int write, int *dirty)
{
    uint64_t first = line % level->sets * level->ways, oldest = first;
    for (uint64_t w = first; w < first + level->ways; w++)
        if (level->used[w] < level->used[oldest]) oldest = w;
    uint64_t old = level->tag[oldest];
    *dirty = level->dirty[oldest];
    level->tag[oldest] = line + 1;
    level->used[oldest] = ++level->clock;
    level->dirty[oldest] = (uint8_t)write;
    return old;
}

static void fill(uint32_t at, uint64_t line, int write)
{
    int dirty;
    uint64_t old = put(levels + at, line, write, &dirty);
    if (!old || !dirty) return;
    if (at + 1 == LEVELS) told.written_back++;
    else if (look(levels + at + 1, old - 1, 1) < 0) fill(at + 1, old - 1, 1);
}

static void touch(uint64_t address, uint32_t site)
{
    uint64_t line = address >> 6;
    int write = writes[site] & 1;
    told.accesses++;
    for (uint32_t b = 0; b < buffer_count; b++)
        if (address - buffers[b].base < buffers[b].bytes) {
            uint8_t *seen = buffers[b].seen + (line - (buffers[b].base >> 6)), was = *seen;
            *seen |= (uint8_t)(1 | write << 1);
            told.footprint[b][0] += !(was & 1);
            told.footprint[b][1] += !(was & 2) && write;
            told.shared_atomics += writes[site] >> 1;
            break;
        }
    uint64_t page = address >> 12;
    if (page != last_page && look(pages, page, 0) < 0) {
        int dirty, missed = look(pages + 1, page, 0) < 0;
        told.pages[missed]++;
        site_lines[site][LEVELS + 1 + missed]++;
        put(pages, page, 0, &dirty);
        if (missed) put(pages + 1, page, 0, &dirty);
    }
    last_page = page;
    /* The first cache is indexed by what the program sees, the others by pages wherever the system put them. */
    uint64_t somewhere = page * 0x9E3779B97F4A7C15u;
    somewhere = (somewhere ^ somewhere >> 29) * 0xBF58476D1CE4E5B9u;
    uint64_t placed = (somewhere >> 24 << 6) | (line & 63);
    uint32_t had = 0;
    int64_t stride = (int64_t)line - stream[site].line;
    int order = stride >= -2 && stride <= 2 ? 2 : stride == stream[site].stride;
    if (stride) { stream[site].stride = stride; stream[site].line = (int64_t)line; }
    if (look(levels, line, write) < 0) {
        uint64_t set = line % levels->sets;
        int dirty;
        told.conflicts += set == missed_sets[0] || set == missed_sets[1] || set == missed_sets[2];
        missed_sets[2] = missed_sets[1];
        missed_sets[1] = missed_sets[0];
        missed_sets[0] = set;
        for (had = 1; had < LEVELS && look(levels + had, placed, write) < 0; had++) { }
        for (uint32_t k = 1; k < had; k++) fill(k, placed, write);
        put(levels, line, 0, &dirty);
    }
    told.lines[had][order]++;
    site_lines[site][had]++;
}

static void digest(uint64_t *end)
{
    for (uint64_t *e = events; e < end; e++) {
        uint32_t site = (uint32_t)(*e >> 48);
        if (site == 0xFFFF) {
            uint64_t block = (uint64_t)(-1 - (int64_t)*e);
            counts[block]++;
            blocks_run++;
            predict((uint32_t)block);
            window(block);
        } else touch(*e & 0xFFFFFFFFFFFFu, site);
    }
}

static void full(int number, siginfo_t *info, void *context)
{
    ucontext_t *machine = context;
    uint64_t at = (uint64_t)info->si_addr, end = (uint64_t)(events + EVENTS);
    if (at < end || at >= end + 4096) { /* a fault of the program's own */
        signal(number, SIG_DFL);
        return;
    }
    digest(events + EVENTS);
    machine->uc_mcontext.gregs[REG_RCX] = (greg_t)events;
}

static void level(struct level *level, uint64_t lines, uint32_t ways)
{
    level->ways = ways;
    level->sets = (uint32_t)(lines / ways);
    level->tag = calloc(lines, 8);
    level->used = calloc(lines, 8);
    level->dirty = calloc(lines, 1);
}

/* Begin with empty caches of `sizes[k]` bytes and `ways[k]` ways; `stores[i]` is 1 if instruction i writes, 3 if
 * it is an atomic operation. 0 if there is memory. */
int trace_begin(uint32_t blocks, uint32_t sites, const uint8_t *stores, const uint64_t *sizes, const uint32_t *ways)
{
    struct sigaction action = {0};
    static char stack[1 << 16];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    events = mmap(NULL, EVENTS * sizeof *events + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (events == MAP_FAILED) return 1;
    mprotect(events + EVENTS, 4096, PROT_NONE);
    sigaltstack(&alternate, NULL);
    action.sa_sigaction = full;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, NULL);
    trace_next = events;
    block_count = blocks;
    counts = calloc(blocks, sizeof *counts);
    missed_after = calloc(blocks, sizeof *missed_after);
    site_count = sites;
    site_lines = calloc(sites + 1, sizeof *site_lines);
    writes = malloc(sites + 1);
    memcpy(writes, stores, sites);
    for (uint32_t k = 0; k < LEVELS; k++) level(levels + k, sizes[k] / 64, ways[k]);
    usual = calloc(blocks, sizeof *usual);
    usual_trust = calloc(blocks, 1);
    several = calloc(blocks, 1);
    for (uint32_t t = 0; t < TABLES; t++) {
        power[t] = 1;
        for (uint32_t k = 0; k < lengths[t]; k++) power[t] *= 0xD6E8FEB86659FD93u;
    }
    level(pages, 64, 64); /* Zen 3: 64 and 2048 pages; Intel's and Arm's are near */
    level(pages + 1, 2048, 8);
    window_every = 4 * WINDOW;
    return 0;
}

void trace_buffer(const void *base, uint64_t bytes)
{
    if (buffer_count == BUFFERS || !bytes) return;
    buffers[buffer_count].base = (uint64_t)base;
    buffers[buffer_count].bytes = bytes;
    buffers[buffer_count++].seen = calloc(bytes / 64 + 2, 1);
}

/* Digest what is there, and say all that was seen since the beginning: how often each block ran and its branch was mispredicted,
 * and which level had the lines of each instruction that touches memory. */
const struct told *trace_told(uint64_t *block_counts, uint64_t *missed, uint64_t (*lines)[WAITS])
{
    digest(trace_next);
    trace_next = events;
    memcpy(block_counts, counts, block_count * sizeof *counts);
    memcpy(missed, missed_after, block_count * sizeof *missed);
    memcpy(lines, site_lines, site_count * sizeof *lines);
    if (!told.window_count) told.window_size[0] = window_fill; /* less than one window */
    return &told;
}

/* Forget what was counted, and keep what the caches hold. */
void trace_warm(void)
{
    digest(trace_next);
    trace_next = events;
    uint64_t footprint[BUFFERS][2];
    memcpy(footprint, told.footprint, sizeof footprint);
    memset(&told, 0, sizeof told);
    memcpy(told.footprint, footprint, sizeof footprint);
    memset(counts, 0, block_count * sizeof *counts);
    memset(missed_after, 0, block_count * sizeof *missed_after);
    memset(site_lines, 0, site_count * sizeof *site_lines);
    window_every = 4 * WINDOW;
    blocks_run = window_open = 0;
}
