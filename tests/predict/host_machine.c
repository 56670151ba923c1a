/* A machine whose device code is that of the host, in the shared library named by IMAGE: launches are calls. */
#include "memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *symbol(const char *name) {
    static void *image;
    if (!image && !(image = dlopen(getenv("IMAGE"), RTLD_NOW))) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return dlsym(image, name);
}

void *machine_variable(const char *name, size_t *bytes) {
    *bytes = 4096;
    return symbol(name);
}

int machine_kernel(const char *name, struct machine_kernel *found) {
    *found = (struct machine_kernel){.max_threads = 1024};
    return symbol(name) != NULL;
}

int machine_launch(const char *name, const uint32_t grid[3], const uint32_t block[3], uint32_t shared, void *const *arguments) {
    (void)shared;
    if (getenv("LAUNCHES"))
        fprintf(stderr, "%s %u %u\n", name, grid[0], block[0]);
    void *value[8] = {NULL};
    for (int i = 0; i < 8 && arguments[i]; i++) /* functions may be called with more arguments than they take */
        value[i] = *(void **)arguments[i];
    void (*kernel)(void *, void *, void *, void *, void *, void *, void *, void *) = symbol(name);
    if (!kernel)
        return 1;
    kernel(value[0], value[1], value[2], value[3], value[4], value[5], value[6], value[7]);
    return 0;
}

const struct machine_device *machine_device(void) {
    static const struct machine_device device = {.multiprocessors = 68, .clock_khz = 1440000, .memory_bytes = 1u << 30};
    return &device;
}

void machine_missing(const char *name) { printf("missing %s\n", name); }
