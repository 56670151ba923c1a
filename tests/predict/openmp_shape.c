/* Prints the shape of a launch by the rules of the stand-in: mode, threads at most, thread_limit, num_teams and trips are arguments. */
#include "openmp_target.c"

int main(int count, char **words) {
    (void)count;
    struct kernel_environment environment = {.mode = (uint8_t)atoi(words[1]), .min_threads = 1, .max_threads = atoi(words[2])};
    uint32_t limit = (uint32_t)atoi(words[3]);
    uint32_t threads = threads_of(&environment, limit, MOST_THREADS);
    uint32_t teams = teams_of(&environment, (uint32_t)atoi(words[4]), strtoull(words[5], NULL, 10), &threads, limit > 0);
    printf("%u %u\n", teams, threads);
    return 0;
}
