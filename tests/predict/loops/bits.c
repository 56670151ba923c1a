#include <stdint.h>
#include <stdlib.h>

/* The longest walk of n -> n/2 or 3n+1 below a limit: branches that nobody foresees. */
int main(int argc, char **argv)
{
    const uint64_t limit = strtoull(argc > 1 ? argv[1] : "300000", NULL, 10);
    uint64_t longest = 0;
    for (uint64_t start = 1; start < limit; start++) {
        uint64_t v = start, steps = 0;
        while (v != 1) {
            if (v & 1) { v = 3 * v + 1; steps += start & 3 ? 1 : 2; }
            else { v /= 2; steps++; }
        }
        if (steps > longest) longest = steps;
    }
    return longest == 0;
}
