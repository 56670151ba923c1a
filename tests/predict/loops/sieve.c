#include <stdlib.h>

int main(int argc, char **argv)
{
    const size_t n = strtoul(argc > 1 ? argv[1] : "10000000", NULL, 10);
    char *composite = calloc(n + 1, 1);
    size_t primes = 0;
    for (size_t i = 2; i <= n; i++) {
        if (composite[i]) continue;
        primes++;
        for (size_t k = i * i; k <= n; k += i) composite[k] = 1;
    }
    return primes == 0;
}
