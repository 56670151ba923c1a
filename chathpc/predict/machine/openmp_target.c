/* A stand-in for LLVM's runtime of OpenMP offload (libomptarget, LLVM 19): one device, whose memory is memory of this process
 * apart from the host's own, as on a GPU. Target regions go to machine_launch.
 *
 * Names, structures and numbers are the interface between clang 19 and its runtime: offload/include/Shared/APITypes.h,
 * offload/include/Shared/Environment.h and offload/include/omptarget.h of llvm-project. What mapping means is OpenMP 5.2, section 5.8.
 */
#define _GNU_SOURCE
#include "machine.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

enum map_type { /* OpenMPOffloadMappingFlags */
    TYPE_TO = 0x1,
    TYPE_FROM = 0x2,
    TYPE_ALWAYS = 0x4,
    TYPE_DELETE = 0x8,
    TYPE_PTR_AND_OBJ = 0x10,
    TYPE_TARGET_PARAM = 0x20,
    TYPE_RETURN_PARAM = 0x40,
    TYPE_PRIVATE = 0x80,
    TYPE_LITERAL = 0x100,
    TYPE_IMPLICIT = 0x200,
    TYPE_PRESENT = 0x1000,
};
#define TYPE_NON_CONTIGUOUS 0x100000000000LL
#define TYPE_LAMBDA (TYPE_PTR_AND_OBJ | TYPE_LITERAL | TYPE_IMPLICIT)
/* The parent of a member, which the upper 16 bits tell counted from 1; -1 if the entry is no member. */
#define PARENT(type) ((int)(((uint64_t)(type) >> 48) & 0xffff) - 1)

enum entry_flags { ENTRY_INDIRECT = 0x8, ENTRY_REQUIRES = 0x10 };
#define REQUIRES_SHARED_MEMORY 0x8

struct entry {
    void *address;
    char *name;
    size_t size;
    int32_t flags, data;
};
struct image {
    void *start, *end;
    struct entry *first, *last;
};
struct binary {
    int32_t images;
    struct image *image;
    struct entry *first, *last;
};
struct launch_arguments { /* KernelArgsTy, version 3 */
    uint32_t version, count;
    void **bases, **begins;
    int64_t *sizes, *types;
    void **names, **mappers;
    uint64_t trips, flags;
    uint32_t teams[3], threads[3], dynamic_shared;
};
struct kernel_environment { /* ConfigurationEnvironmentTy, the beginning of KernelEnvironmentTy */
    uint8_t state_machine, nested, mode, unused;
    int32_t min_threads, max_threads, min_teams, max_teams, reduction_bytes, reduction_length;
};
enum mode { GENERIC = 1, SPMD = 2, GENERIC_SPMD = 3 };
struct launch_environment { /* KernelLaunchEnvironmentTy */
    uint32_t reduction_count, reduction_iterations;
    void *reduction_buffer;
};
struct device_environment { /* DeviceEnvironmentTy */
    uint32_t debug, devices, number, dynamic_shared;
    uint64_t clock_hz, indirect_calls, indirect_calls_size, parallelism;
};

/* A pointer of a mapped object whose copy on the device points to the device's copy of what it points to. */
struct attachment {
    void **host, *host_value, **device, *device_value;
    struct attachment *next;
};
/* A range of the host that has a copy on the device: `block` is what is freed with the last reference, NULL if it stays. */
struct mapping {
    char *begin, *end, *device;
    void *block;
    long references;
    struct attachment *attachments;
};
#define FOREVER LONG_MAX
#define DEVICES 1
/* Alignment that a struct's copy keeps when its mapped members begin in its middle, in bytes (omptarget.cpp). */
#define MEMBER_ALIGNMENT 8
/* Numbers of LLVM's grid values for NVIDIA (OMPGridValues.h) and of its plug-in (PluginInterface.cpp). */
#define WARP 32
#define DEFAULT_TEAMS 3200
#define DEFAULT_THREADS 128
#define MOST_THREADS 1024
#define MOST_TEAMS 0x7fffffff
#define LEAST_THREADS_OF_SHORT_LOOPS 32

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct binary *binaries[64];
static int binary_count, binaries_ready, shared_memory;
static struct mapping *mappings;
static size_t mapping_count, mapping_room;

static int on_device(const void *pointer) {
    struct machine_memory found;
    return machine_memory_at(pointer, &found) && found.space == MACHINE_DEVICE;
}

/* ---- what is mapped ---- */

/* Where a mapping that begins at `begin` stands or would stand among the sorted ones: the first that begins later. */
static size_t later(const char *begin) {
    size_t low = 0, high = mapping_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (mappings[middle].begin <= begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The mapping that holds a range, or that a range which was mapped implicitly overlaps; NULL if there is none. */
static struct mapping *find(const char *begin, size_t bytes, int implicit) {
    size_t at = later(begin);
    if (at) {
        struct mapping *left = &mappings[at - 1];
        if (begin < left->end && (begin + bytes <= left->end || implicit))
            return left;
    }
    if (implicit && bytes && at < mapping_count && begin + bytes > mappings[at].begin)
        return &mappings[at];
    return NULL;
}

static struct mapping *add(char *begin, size_t bytes, char *device, void *block, long references) {
    if (mapping_count == mapping_room)
        mappings = realloc(mappings, (mapping_room = mapping_room ? 2 * mapping_room : 64) * sizeof *mappings);
    if (!mappings)
        abort();
    size_t at = later(begin);
    memmove(mappings + at + 1, mappings + at, (mapping_count - at) * sizeof *mappings);
    mapping_count++;
    mappings[at] = (struct mapping){begin, begin + bytes, device, block, references, NULL};
    return &mappings[at];
}

static void forget(struct mapping *mapping) {
    for (struct attachment *next, *one = mapping->attachments; one; one = next) {
        next = one->next;
        free(one);
    }
    if (mapping->block)
        machine_freed(mapping->block);
    size_t at = (size_t)(mapping - mappings);
    memmove(mappings + at, mappings + at + 1, (--mapping_count - at) * sizeof *mappings);
}

static char *translated(const struct mapping *mapping, const void *host) {
    return mapping->device + ((char *)host - mapping->begin);
}

/* Copy to or from the device; pointers that were attached keep their own value on each side. */
static void transfer(struct mapping *mapping, char *host, size_t bytes, int to_device) {
    if (to_device)
        memcpy(translated(mapping, host), host, bytes);
    else
        memcpy(host, translated(mapping, host), bytes);
    for (struct attachment *one = mapping->attachments; one; one = one->next)
        if ((char *)one->host >= host && (char *)one->host < host + bytes) {
            if (to_device)
                *one->device = one->device_value;
            else
                *one->host = one->host_value;
        }
}

static void attach(struct mapping *mapping, void **host, void *device_value) {
    struct attachment *one = mapping->attachments;
    while (one && one->host != host)
        one = one->next;
    if (!one) {
        if (!(one = malloc(sizeof *one)))
            abort();
        *one = (struct attachment){host, NULL, (void **)translated(mapping, host), NULL, mapping->attachments};
        mapping->attachments = one;
    }
    one->host_value = *host;
    one->device_value = *one->device = device_value;
}

static void failed(const char *why, size_t bytes) {
    fprintf(stderr, "OpenMP offload: %s (%zu bytes)\n", why, bytes);
    exit(1);
}

/* Refer to a range once more if it is to be `counted`, mapping it if it is not. `*fresh` tells that it was not. */
static struct mapping *refer(char *begin, size_t bytes, int64_t type, int counted, int *fresh) {
    struct mapping *found = find(begin, bytes, (type & TYPE_IMPLICIT) != 0);
    *fresh = 0;
    if (found) {
        if (!counted)
            *fresh = found->references == 1; /* a member that came with its struct just now */
        else if (found->references != FOREVER)
            found->references++;
        return found;
    }
    if (type & TYPE_PRESENT)
        failed("a range that must be present is not mapped", bytes);
    if (!bytes)
        return NULL;
    if (find(begin, bytes, 1))
        failed("a range that is mapped only in part cannot be mapped", bytes);
    char *block = machine_new(bytes, MACHINE_DEVICE);
    if (!block)
        failed("no memory of the device is left", bytes);
    *fresh = 1;
    return add(begin, bytes, block, block, 1);
}

static void prepare(void) {
    if (binaries_ready == binary_count)
        return;
    while (binaries_ready < binary_count) {
        struct binary *binary = binaries[binaries_ready++];
        for (struct entry *one = binary->first; one < binary->last; one++) {
            if (one->flags & ENTRY_REQUIRES) {
                shared_memory |= (one->data & REQUIRES_SHARED_MEMORY) != 0;
                continue;
            }
            size_t bytes = 0;
            void *device = one->size && !(one->flags & ENTRY_INDIRECT) ? machine_variable(one->name, &bytes) : NULL;
            if (device && !find(one->address, one->size, 0))
                add(one->address, one->size, device, NULL, FOREVER);
        }
    }
    size_t bytes = 0;
    struct device_environment *environment = machine_variable("__omp_rtl_device_environment", &bytes);
    if (environment && bytes >= sizeof *environment) {
        const struct machine_device *device = machine_device();
        *environment = (struct device_environment){
            .devices = DEVICES,
            .clock_hz = (uint64_t)device->clock_khz * 1000,
            .parallelism = (uint64_t)device->multiprocessors * (device->threads_per_multiprocessor / WARP),
        };
    }
    if (machine_kernel("nvptx$device$init", &(struct machine_kernel){0}))
        machine_missing("constructors of device variables");
}

/* ---- data regions ---- */

/* The parts of an object that the program's own mapper names. */
struct components {
    int32_t count;
    void **bases, **begins;
    int64_t *sizes, *types;
};
#define PUSH(list, value)                                                                                                          \
    if (!(all->list = realloc(all->list, (size_t)(all->count + 1) * sizeof *all->list)))                                           \
        abort();                                                                                                                   \
    all->list[all->count] = value;

int64_t __tgt_mapper_num_components(struct components *all) { return all->count; }

void __tgt_push_mapper_component(struct components *all, void *base, void *begin, int64_t size, int64_t type) {
    PUSH(bases, base) PUSH(begins, begin) PUSH(sizes, size) PUSH(types, type)
    all->count++;
}

typedef void (*mapper_function)(struct components *all, void *base, void *begin, int64_t size, int64_t type, void *name);
/* What is done with entry i of a data region. */
typedef void (*entry_function)(int32_t i, int32_t count, void **bases, void **begins, int64_t *sizes, int64_t *types);

/* Do it with each entry that is mapped, or with the parts of its object that the program's own mapper tells. */
static void for_each(entry_function entry, int backwards, int32_t count, void **bases, void **begins, int64_t *sizes, int64_t *types,
                     void **mappers) {
    for (int32_t k = 0; k < count; k++) {
        int32_t i = backwards ? count - 1 - k : k;
        struct components all = {0};
        if (types[i] & (TYPE_LITERAL | TYPE_PRIVATE))
            continue;
        if (!mappers || !mappers[i]) {
            entry(i, count, bases, begins, sizes, types);
            continue;
        }
        ((mapper_function)mappers[i])(&all, bases[i], begins[i], sizes[i], types[i], NULL);
        for_each(entry, backwards, all.count, all.bases, all.begins, all.sizes, all.types, NULL);
        free(all.bases), free(all.begins), free(all.sizes), free(all.types);
    }
}

/* Bytes by which a struct's mapped part is widened at its beginning, so that its copy is aligned as the struct is. */
static size_t padding(int32_t at, int32_t count, void **begins, const int64_t *types) {
    int combined = PARENT(types[at]) < 0 && at + 1 < count && PARENT(types[at + 1]) == at;
    return combined ? (uintptr_t)begins[at] % MEMBER_ALIGNMENT : 0;
}

static void begin_entry(int32_t i, int32_t count, void **bases, void **begins, int64_t *sizes, int64_t *types) {
    int64_t type = types[i];
    size_t pad = padding(i, count, begins, types);
    char *begin = (char *)begins[i] - pad, *base = bases[i];
    size_t bytes = (size_t)sizes[i] + pad;
    int counted = PARENT(type) < 0, fresh, fresh_pointer;
    void **pointer = NULL;
    if (shared_memory) {
        if (type & TYPE_RETURN_PARAM && type & TYPE_PTR_AND_OBJ)
            bases[i] = *(void **)base;
        return;
    }
    if (type & TYPE_PTR_AND_OBJ) {
        pointer = (void **)base;
        refer((char *)pointer, sizeof *pointer, type & ~(TYPE_PRESENT | TYPE_IMPLICIT), counted, &fresh_pointer);
        base = *pointer;
        counted = 1;
    }
    struct mapping *mapping = refer(begin, bytes, type, counted, &fresh);
    /* A section of no bytes that is not mapped stays as it is: it may be the device's own memory. */
    char *device_base = mapping ? translated(mapping, begins[i]) - ((char *)begins[i] - base) : base;
    if (type & TYPE_RETURN_PARAM)
        bases[i] = device_base;
    if (!mapping)
        return;
    if (type & TYPE_TO && bytes && (fresh || type & TYPE_ALWAYS))
        transfer(mapping, begin, bytes, 1);
    struct mapping *holder = pointer ? find((char *)pointer, sizeof *pointer, 0) : NULL;
    if (holder)
        attach(holder, pointer, device_base);
}

static void end_entry(int32_t i, int32_t count, void **bases, void **begins, int64_t *sizes, int64_t *types) {
    int64_t type = types[i];
    size_t pad = padding(i, count, begins, types);
    char *begin = (char *)begins[i] - pad;
    size_t bytes = (size_t)sizes[i] + pad;
    struct mapping *mapping = shared_memory ? NULL : find(begin, bytes, (type & TYPE_IMPLICIT) != 0);
    if (!mapping)
        return;
    int counted = PARENT(type) < 0 || type & TYPE_PTR_AND_OBJ;
    if (counted && mapping->references != FOREVER)
        mapping->references = type & TYPE_DELETE ? 0 : mapping->references - 1;
    /* A member goes with its struct, whose entry comes later in this order and still holds the last reference. */
    int last = mapping->references != FOREVER && (mapping->references <= (counted ? 0 : 1) || type & TYPE_DELETE);
    if (type & TYPE_FROM && bytes && (last || type & TYPE_ALWAYS))
        transfer(mapping, begin, bytes, 0);
    if (counted && last)
        forget(mapping);
}

/* Copy a section with gaps: `dimension` is {offset, count, stride} of each dimension, the last in bytes. */
static void update_section(char *base, const uint64_t (*dimension)[3], int64_t dimensions, int64_t type, uint64_t offset, int64_t at) {
    const uint64_t *one = dimension[at];
    if (at == dimensions - 1) {
        char *begin = base + offset + one[0] * one[2];
        struct mapping *mapping = find(begin, one[1] * one[2], 0);
        if (mapping)
            transfer(mapping, begin, one[1] * one[2], (type & TYPE_TO) != 0);
        return;
    }
    for (uint64_t i = 0; i < one[1]; i++)
        update_section(base, dimension, dimensions, type, offset + (one[0] + i) * one[2], at + 1);
}

static void update_entry(int32_t i, int32_t count, void **bases, void **begins, int64_t *sizes, int64_t *types) {
    if (shared_memory)
        return;
    if (types[i] & TYPE_NON_CONTIGUOUS) {
        update_section(bases[i], begins[i], sizes[i], types[i], 0, 0);
        return;
    }
    struct mapping *mapping = find(begins[i], (size_t)sizes[i], 0);
    if (mapping && types[i] & TYPE_FROM)
        transfer(mapping, begins[i], (size_t)sizes[i], 0);
    if (mapping && types[i] & TYPE_TO)
        transfer(mapping, begins[i], (size_t)sizes[i], 1);
}

#define DATA_CALL(name, entry, backwards)                                                                                          \
    void name##_mapper(void *where, int64_t device, int32_t count, void **bases, void **begins, int64_t *sizes, int64_t *types,    \
                       void **names, void **mappers) {                                                                             \
        pthread_mutex_lock(&lock);                                                                                                 \
        prepare();                                                                                                                 \
        for_each(entry, backwards, count, bases, begins, sizes, types, mappers);                                                   \
        pthread_mutex_unlock(&lock);                                                                                               \
    }                                                                                                                              \
    AS(name##_mapper, name##_nowait_mapper)
DATA_CALL(__tgt_target_data_begin, begin_entry, 0)
DATA_CALL(__tgt_target_data_end, end_entry, 1)
DATA_CALL(__tgt_target_data_update, update_entry, 0)

/* ---- target regions ---- */

static const char *kernel_name(const void *host) {
    for (int i = binary_count; i-- > 0;)
        for (struct entry *one = binaries[i]->first; one < binaries[i]->last; one++)
            if (one->address == host)
                return one->name;
    return NULL;
}

static struct kernel_environment environment_of(const char *kernel) {
    struct kernel_environment found = {.mode = SPMD, .min_threads = -1, .max_threads = -1};
    char name[4096];
    size_t bytes = 0;
    snprintf(name, sizeof name, "%s_kernel_environment", kernel);
    void *address = machine_variable(name, &bytes);
    if (address && bytes >= sizeof found)
        memcpy(&found, address, sizeof found);
    return found;
}

/* Threads of a team as GenericKernelTy::getNumThreads of LLVM 19 has them; `limit` is the clause's, 0 without one. */
static uint32_t threads_of(const struct kernel_environment *environment, uint32_t limit, uint32_t most) {
    uint32_t preferred = DEFAULT_THREADS;
    if (environment->min_threads > (int32_t)preferred)
        preferred = (uint32_t)environment->min_threads;
    if (environment->max_threads > 0 && (uint32_t)environment->max_threads < most)
        most = (uint32_t)environment->max_threads;
    if (limit && environment->mode == GENERIC)
        limit = limit == UINT32_MAX ? preferred : limit + WARP; /* a warp more, of the thread that runs what is not parallel */
    uint32_t threads = limit ? limit : preferred;
    return threads < most ? threads : most;
}

/* Teams as GenericKernelTy::getNumBlocks of LLVM 19 has them; it may lower the threads of a short loop. */
static uint32_t teams_of(const struct kernel_environment *environment, uint32_t clause, uint64_t trips, uint32_t *threads, int by_user) {
    if (clause)
        return clause < MOST_TEAMS ? clause : MOST_TEAMS;
    if (!trips)
        return DEFAULT_TEAMS;
    uint64_t teams = trips; /* one iteration of the outer loop each, whose threads share the inner loop */
    if (environment->mode == SPMD) {
        uint32_t least = *threads < LEAST_THREADS_OF_SHORT_LOOPS ? *threads : LEAST_THREADS_OF_SHORT_LOOPS;
        if (trips < (uint64_t)DEFAULT_TEAMS * *threads && !by_user) {
            uint32_t fewer = least;
            if (trips >= (uint64_t)DEFAULT_TEAMS * least)
                for (fewer = 1; fewer < (trips + DEFAULT_TEAMS - 1) / DEFAULT_TEAMS;)
                    fewer *= 2;
            if (fewer < *threads)
                *threads = fewer;
        }
        teams = (trips - 1) / *threads + 1;
    }
    return teams < DEFAULT_TEAMS ? (uint32_t)teams : DEFAULT_TEAMS;
}

/* Where host and device share memory, a kernel may touch all that the host may write now. */
static void share_memory(void) {
    static void *shared[4096];
    static size_t count;
    while (count)
        machine_freed(shared[--count]);
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long begin, end;
    char rights[8];
    while (maps && count < sizeof shared / sizeof *shared && fscanf(maps, "%lx-%lx %7s%*[^\n]", &begin, &end, rights) == 3)
        if (rights[0] == 'r' && rights[1] == 'w' && !on_device((void *)begin))
            machine_allocated(shared[count++] = (void *)begin, end - begin, MACHINE_MANAGED);
    if (maps)
        fclose(maps);
}

/* Device address of an argument that is mapped. LLVM hands on NULL for what is not; memory of the device itself stays as it is. */
static char *argument_of(char *base, char *begin, int64_t size, int64_t type) {
    if (type & TYPE_PTR_AND_OBJ)
        base = *(char **)base;
    if (shared_memory)
        return base;
    struct mapping *mapping = find(begin, (size_t)size, (type & TYPE_IMPLICIT) != 0);
    if (mapping)
        return translated(mapping, begin) + (base - begin);
    return on_device(begin) ? base : NULL;
}

/* Set the pointers inside a lambda's copy on the device to the copies of what they capture. */
static void capture(char *pointer, char *value, int64_t size, char *host_parent, char *device_parent) {
    struct mapping *mapping = find(value, (size_t)size, 0);
    if (mapping && device_parent)
        *(char **)(device_parent + (pointer - host_parent)) = translated(mapping, value);
}

static int launch(const char *kernel, struct launch_arguments *all, uint32_t teams_clause, uint32_t thread_limit) {
    int32_t count = (int32_t)all->count;
    char **values = malloc((size_t)(count + 1) * sizeof *values), **own = malloc((size_t)(count + 1) * sizeof *own);
    void **pointers = calloc((size_t)(count + 2), sizeof *pointers); /* a NULL behind the last */
    int32_t *position = malloc((size_t)(count + 1) * sizeof *position);
    if (!values || !own || !pointers || !position)
        abort();
    int32_t parameters = 1, owned = 0;
    for_each(begin_entry, 0, count, all->bases, all->begins, all->sizes, all->types, all->mappers);
    for (int32_t i = 0; i < count; i++) {
        int64_t type = all->types[i];
        char *base = all->bases[i], *begin = all->begins[i];
        position[i] = -1;
        if (!(type & TYPE_TARGET_PARAM)) {
            int parent = PARENT(type);
            if ((type & TYPE_LAMBDA) == TYPE_LAMBDA && parent >= 0 && parent < i && position[parent] >= 0 && !shared_memory)
                capture(base, begin, all->sizes[i], all->begins[parent], values[position[parent]]);
            continue;
        }
        char *value = base;
        if (type & TYPE_PRIVATE && !(type & TYPE_LITERAL)) {
            char *copy = machine_new((size_t)all->sizes[i], MACHINE_DEVICE);
            if (copy && type & TYPE_TO)
                memcpy(copy, begin, (size_t)all->sizes[i]);
            own[owned++] = copy;
            value = copy + (base - begin);
        } else if (!(type & TYPE_LITERAL)) {
            value = argument_of(base, begin, all->sizes[i], type);
        }
        position[i] = parameters;
        values[parameters++] = value;
    }
    struct kernel_environment environment = environment_of(kernel);
    struct launch_environment *room = NULL;
    values[0] = (char *)UINTPTR_MAX; /* what the plug-in hands on where there is nothing to reduce between teams */
    if (environment.reduction_bytes > 0 && environment.reduction_length > 0) {
        room = machine_new(sizeof *room, MACHINE_DEVICE);
        void *buffer = machine_new((size_t)environment.reduction_bytes * (size_t)environment.reduction_length, MACHINE_DEVICE);
        *room = (struct launch_environment){0, 0, buffer};
        values[0] = (char *)room;
        own[owned++] = buffer;
    }
    for (int32_t i = 0; i < parameters; i++)
        pointers[i] = &values[i];
    struct machine_kernel attributes = {.max_threads = MOST_THREADS};
    machine_kernel(kernel, &attributes);
    uint32_t most = attributes.max_threads && attributes.max_threads < MOST_THREADS ? attributes.max_threads : MOST_THREADS;
    uint32_t threads = threads_of(&environment, thread_limit, most);
    uint32_t teams = teams_of(&environment, teams_clause, all->trips, &threads, thread_limit > 0);
    const uint32_t grid[3] = {teams, 1, 1}, block[3] = {threads, 1, 1};
    if (shared_memory)
        share_memory();
    int missing = machine_launch(kernel, grid, block, all->dynamic_shared, pointers);
    for_each(end_entry, 1, count, all->bases, all->begins, all->sizes, all->types, all->mappers);
    while (owned)
        machine_freed(own[--owned]);
    machine_freed(room);
    free(values), free(own), free(pointers), free(position);
    return missing;
}

int __tgt_target_kernel(void *where, int64_t device, int32_t teams, int32_t threads, void *host, struct launch_arguments *all) {
    if (device == DEVICES)
        return 1; /* the host itself is meant */
    pthread_mutex_lock(&lock);
    prepare();
    const char *kernel = kernel_name(host);
    /* -1: the region has no teams, so it is one. */
    if (!kernel || launch(kernel, all, teams < 0 ? 1 : (uint32_t)teams, (uint32_t)threads)) {
        fprintf(stderr, "OpenMP offload: no device code for %s\n", kernel ? kernel : "a target region");
        exit(1);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

AS(__tgt_target_kernel, __tgt_target_kernel_nowait)

void __tgt_target_nowait_query(void **handle) { *handle = NULL; }

/* ---- the program's device code ---- */

/* Tasks of `nowait` regions run in the thread that meets them, so that the order is the same each time. */
__attribute__((constructor(101))) static void without_helper_threads(void) { setenv("LIBOMP_USE_HIDDEN_HELPER_TASK", "0", 1); }

void __tgt_register_lib(struct binary *binary) {
    if (binary_count < (int)(sizeof binaries / sizeof *binaries))
        binaries[binary_count++] = binary;
}

void __tgt_register_requires(int64_t flags) { shared_memory |= (flags & REQUIRES_SHARED_MEMORY) != 0; }

static __attribute__((used)) void *nothing(void) { return NULL; }
AS(nothing, __tgt_unregister_lib) AS(nothing, __tgt_init_all_rtls) AS(nothing, __tgt_rtl_init) AS(nothing, __tgt_rtl_deinit)
AS(nothing, __tgt_set_info_flag) AS(nothing, __tgt_print_device_info)
AS(nothing, __kmpc_push_target_tripcount) AS(nothing, __kmpc_push_target_tripcount_mapper)
/* Queues of another programming model behind the device: there are none. */
AS(nothing, __tgt_interop_use) AS(nothing, __tgt_interop_destroy)

void __tgt_interop_init(void *where, int32_t thread, void **interop) {
    *interop = NULL;
    machine_missing("interop");
}

/* ---- what programs call themselves (OpenMP 5.2, chapter 18) ---- */

int omp_get_num_devices(void) { return DEVICES; }
AS(omp_get_num_devices, omp_get_initial_device) AS(omp_get_num_devices, omp_get_device_num)

void *omp_target_alloc(size_t bytes, int device) {
    pthread_mutex_lock(&lock);
    void *base = device == DEVICES ? malloc(bytes) : machine_new(bytes, MACHINE_DEVICE);
    pthread_mutex_unlock(&lock);
    return base;
}

void omp_target_free(void *base, int device) {
    pthread_mutex_lock(&lock);
    if (device == DEVICES)
        free(base);
    else
        machine_freed(base);
    pthread_mutex_unlock(&lock);
}

AS(omp_target_alloc, llvm_omp_target_alloc_device) AS(omp_target_free, llvm_omp_target_free_device)

static void *alloc_visible(size_t bytes, enum machine_space space) {
    void *base = malloc(bytes);
    if (base)
        machine_allocated(base, bytes, space);
    return base;
}
void *llvm_omp_target_alloc_host(size_t bytes, int device) { return alloc_visible(bytes, MACHINE_MAPPED); }
void *llvm_omp_target_alloc_shared(size_t bytes, int device) { return alloc_visible(bytes, MACHINE_MANAGED); }
void llvm_omp_target_free_host(void *base) { machine_freed(base), free(base); }
AS(llvm_omp_target_free_host, llvm_omp_target_free_shared)
AS(nothing, llvm_omp_target_dynamic_shared_alloc) AS(nothing, llvm_omp_target_unlock_mem)
void *llvm_omp_target_lock_mem(void *base) { return base; }

int omp_target_is_present(const void *pointer, int device) { return device == DEVICES || shared_memory || find(pointer, 0, 0); }

void *omp_get_mapped_ptr(const void *pointer, int device) {
    struct mapping *mapping = device == DEVICES ? NULL : find(pointer, 0, 0);
    return mapping ? translated(mapping, pointer) : device == DEVICES || shared_memory ? (void *)pointer : NULL;
}

int omp_target_memcpy(void *to, const void *from, size_t bytes, size_t to_offset, size_t from_offset, int to_device, int from_device) {
    if (!to || !from)
        return 1;
    memmove((char *)to + to_offset, (const char *)from + from_offset, bytes);
    return 0;
}

AS(omp_target_memcpy, omp_target_memcpy_async)

int omp_target_memcpy_rect(void *to, const void *from, size_t element, int dimensions, const size_t *volume, const size_t *to_offsets,
                           const size_t *from_offsets, const size_t *to_shape, const size_t *from_shape, int to_device, int from_device) {
    if (!to && !from)
        return INT_MAX; /* any number of dimensions will do */
    size_t to_bytes = element, from_bytes = element;
    for (int i = 1; i < dimensions; i++)
        to_bytes *= to_shape[i], from_bytes *= from_shape[i];
    char *target = (char *)to + to_offsets[0] * to_bytes;
    const char *source = (const char *)from + from_offsets[0] * from_bytes;
    if (dimensions == 1)
        return omp_target_memcpy(target, source, volume[0] * element, 0, 0, to_device, from_device);
    for (size_t i = 0; i < volume[0]; i++)
        omp_target_memcpy_rect(target + i * to_bytes, source + i * from_bytes, element, dimensions - 1, volume + 1, to_offsets + 1,
                               from_offsets + 1, to_shape + 1, from_shape + 1, to_device, from_device);
    return 0;
}

AS(omp_target_memcpy_rect, omp_target_memcpy_rect_async)

void *omp_target_memset(void *base, int value, size_t bytes) { return memset(base, value, bytes); }
AS(omp_target_memset, omp_target_memset_async)

int omp_target_associate_ptr(const void *host, const void *device_base, size_t bytes, size_t offset, int device) {
    pthread_mutex_lock(&lock);
    int taken = find(host, bytes, 1) != NULL;
    if (!taken)
        add((char *)host, bytes, (char *)device_base + offset, NULL, FOREVER);
    pthread_mutex_unlock(&lock);
    return taken;
}

int omp_target_disassociate_ptr(const void *host, int device) {
    pthread_mutex_lock(&lock);
    struct mapping *mapping = find(host, 0, 0);
    int wrong = !mapping || mapping->begin != (char *)host || mapping->block || mapping->references != FOREVER;
    if (!wrong)
        forget(mapping);
    pthread_mutex_unlock(&lock);
    return wrong;
}
