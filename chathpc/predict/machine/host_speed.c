/* Measures what a prediction for this machine needs: the clock, a division of 32 bits, and nanoseconds a line of 64 bytes for streams and for
 * accesses in no order, read and written, by size of the data and number of threads that do it.
 *
 * Prints lines of "name threads bytes nanoseconds"; the best of several runs, as others may use the machine.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

typedef double wide __attribute__((vector_size(32)));
static volatile double sink;
static pthread_barrier_t together;

enum what { READ, WRITE, SCATTERED_READ, SCATTERED_WRITE, CHAIN, WHATS };
static const char *const names[] = {"read", "write", "scattered-read", "scattered-write", "chain"};
struct job { enum what what; char *data; size_t bytes; double best; };

static void pass(struct job *job)
{
    size_t lines = job->bytes / 64;
    if (job->what == READ) {
        wide a = {0}, b = {0}, *v = (wide *)job->data;
        for (size_t i = 0; i < lines; i++) { a += v[2 * i]; b += v[2 * i + 1]; }
        sink = a[0] + b[0];
    } else if (job->what == WRITE) {
        wide *v = (wide *)job->data, one = {1, 1, 1, 1};
        for (size_t i = 0; i < 2 * lines; i++) { v[i] = one; __asm__ volatile("" ::: "memory"); }
    } else if (job->what == CHAIN) { /* each line tells where the next is */
        const uint64_t told = 0x0101010101010101u; /* what work() wrote */
        uint64_t at = 0, mask = lines - 1;
        for (size_t i = 0; i < lines; i++)
            at = ((at + *(uint64_t *)(job->data + (at << 6)) - told) * 6364136223846793005u + 1442695040888963407u) & mask;
        sink = (double)at;
    } else {
        uint64_t state = 1, sum = 0, mask = lines - 1;
        for (size_t i = 0; i < lines; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            uint64_t *at = (uint64_t *)(job->data + (((state >> 33) & mask) << 6));
            if (job->what == SCATTERED_READ) sum += *at;
            else *at = sum;
        }
        sink = (double)sum;
    }
}

static void *work(void *argument)
{
    struct job *job = argument;
    memset(job->data, 1, job->bytes);
    pass(job);
    size_t repeat = 1 + ((size_t)4 << 20) / job->bytes;
    job->best = 1e30;
    for (int run = 0; run < 12; run++) {
        pthread_barrier_wait(&together);
        double start = now();
        for (size_t r = 0; r < repeat; r++) pass(job);
        double each = (now() - start) / (double)(repeat * (job->bytes / 64));
        if (each < job->best) job->best = each;
    }
    return NULL;
}

int main(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double best = 1e30;
    for (int run = 0; run < 20; run++) {
        uint64_t n = 4000000, x = 1;
        double start = now();
        for (uint64_t i = 0; i < n; i++) __asm__ volatile("add $1, %0" : "+r"(x)); /* one cycle each */
        double each = (now() - start) / (double)n;
        if (each < best) best = each;
    }
    printf("cycle 1 0 %.5f\n", best);
    best = 1e30;
    for (int run = 0; run < 20; run++) {
        uint32_t n = 300000, sum = 0, by = (uint32_t)cores + 60;
        double start = now();
        for (uint32_t i = 0; i < n; i++) {
            uint32_t quotient, rest;
            __asm__ volatile("divl %4" : "=a"(quotient), "=d"(rest) : "a"(i * 2654435761u), "d"(0), "r"(by));
            sum += quotient;
        }
        double each = (now() - start) / (double)n;
        sink = sum;
        if (each < best) best = each;
    }
    printf("divide 1 0 %.5f\n", best);
    for (int what = 0; what < WHATS; what++)
        for (long threads = 1; threads <= cores; threads += cores > 1 ? cores - 1 : 1)
            for (size_t bytes = 16 << 10; bytes <= (size_t)128 << 20; bytes *= 2) {
                pthread_t thread[threads];
                struct job job[threads];
                double worst = 0;
                pthread_barrier_init(&together, NULL, (unsigned)threads);
                for (long t = 0; t < threads; t++) {
                    job[t] = (struct job){(enum what)what, aligned_alloc(4096, bytes), bytes, 0};
                    pthread_create(thread + t, NULL, work, job + t);
                }
                for (long t = 0; t < threads; t++) {
                    pthread_join(thread[t], NULL);
                    if (job[t].best > worst) worst = job[t].best;
                    free(job[t].data);
                }
                printf("%s %ld %zu %.3f\n", names[what], threads, bytes, worst);
                fflush(stdout);
            }
    return 0;
}
