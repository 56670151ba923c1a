/* The host program of a kernel that comes without one: launch and parameters are read from the file "alone" (program.py).
 *
 * Weak: a program with a main of its own never sees this one.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "machine.h"

enum { LONGEST = 1 << 16, MOST = 1024 };

static int give_up(const char *why) {
    fprintf(stderr, "%s\n", why);
    return 1;
}

/* A number of the minimal standard generator (Park and Miller 1988), the same in every run. */
static uint32_t random_number(void) {
    static uint64_t state = 1;
    state = state * 48271 % 2147483647;
    return (uint32_t)state;
}

static void element(char *to, size_t width, char sort, double value) {
    float single = (float)value;
    uint64_t whole = (uint64_t)value;
    if (sort == 'f' && width == sizeof single) memcpy(to, &single, width);
    else if (sort == 'f' && width == sizeof value) memcpy(to, &value, width);
    else memcpy(to, &whole, width < sizeof whole ? width : sizeof whole);
}

/* Memory of the device: zeros, or numbers that ascend (iota), or numbers below `below` (1 for reals) without an order. */
static void *buffer(size_t bytes, size_t width, char sort, const char *content, double below) {
    char *base = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return NULL;
    machine_allocated(base, bytes, MACHINE_DEVICE);
    if (!strcmp(content, "zero") || !width) return base;
    for (size_t i = 0; (i + 1) * width <= bytes; i++)
        element(base + i * width, width, sort, !strcmp(content, "iota") ? (double)i : random_number() / 2147483647.0 * below);
    return base;
}

__attribute__((weak)) int main(int count, char **words) {
    static char line[LONGEST], kernel[LONGEST], hexadecimal[LONGEST], path[4096];
    static void *arguments[MOST];
    uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, shared = 0, given = 0;
    const char *folder = getenv("CHATHPC_MACHINE");
    snprintf(path, sizeof path, "%s/alone", folder ? folder : ".");
    FILE *file = fopen(path, "r");
    if (!file) return give_up("there is no description of a launch");
    while (fgets(line, sizeof line, file) && given < MOST) {
        size_t bytes, width;
        char sort, content[16];
        double below;
        if (sscanf(line, "kernel %65535s", kernel) == 1) continue;
        if (sscanf(line, "grid %u %u %u", grid, grid + 1, grid + 2) == 3) continue;
        if (sscanf(line, "block %u %u %u", block, block + 1, block + 2) == 3) continue;
        if (sscanf(line, "shared %u", &shared) == 1) continue;
        if (sscanf(line, "value %65535s", hexadecimal) == 1) {
            bytes = strlen(hexadecimal) / 2;
            unsigned char *value = calloc(bytes + 8, 1);
            for (size_t i = 0; value && i < bytes; i++) sscanf(hexadecimal + 2 * i, "%2hhx", value + i);
            arguments[given++] = value;
        } else if (sscanf(line, "buffer %zu %zu %c %15s %lf", &bytes, &width, &sort, content, &below) == 5) {
            void **value = malloc(sizeof *value);
            if (!value || !(*value = buffer(bytes, width, sort, content, below))) return give_up("there is too little memory for a buffer");
            arguments[given++] = value;
        }
    }
    fclose(file);
    return machine_launch(kernel, grid, block, shared, arguments) ? give_up("there is no such kernel") : 0;
}
