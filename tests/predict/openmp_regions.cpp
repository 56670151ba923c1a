// What target regions compute in the ways that device code runs them: to be the same on any device.
#include <cmath>
#include <cstdio>
#include <omp.h>

#pragma omp declare target
static double cube(double x) { return x * x * x; }
#pragma omp end declare target

int main() {
    const int n = 1000;
    static double a[n], b[64];
    static int count[64];
    double sum = 0, most = -1;
#pragma omp target teams distribute parallel for simd reduction(+ : sum) map(from : a)
    for (int i = 0; i < n; i++) {
        a[i] = cube(i * 0.5);
        sum += a[i];
    }
    printf("combined %.0f %.3f\n", sum, a[999]);
#pragma omp target teams distribute num_teams(8) thread_limit(64) map(tofrom : b)
    for (int i = 0; i < 64; i++) {
        double part = 0;
#pragma omp parallel for reduction(+ : part)
        for (int j = 0; j < 100; j++)
            part += j * (i + 1);
        b[i] = part;
    }
    printf("inner loop %.0f %.0f\n", b[0], b[63]);
#pragma omp target teams num_teams(4) thread_limit(128) map(tofrom : count)
    {
        int shared[128];
        int team = omp_get_team_num();
#pragma omp parallel num_threads(128)
        {
            int me = omp_get_thread_num();
            shared[me] = me + team;
#pragma omp barrier
            if (me == 0)
                for (int j = 0; j < omp_get_num_threads(); j++)
                    count[team] += shared[omp_get_num_threads() - 1 - j] - team;
        }
        count[8 + team] = omp_get_num_teams() > 0;
    }
    printf("team %d\n", count[8]); // the threads of a team differ between devices
    int hits = 0, last = 0;
#pragma omp target teams distribute parallel for map(tofrom : hits, count)
    for (int i = 0; i < n; i++) {
        if (i % 3 == 0) {
#pragma omp atomic
            hits++;
        }
#pragma omp atomic
        count[32 + i % 8] += i;
    }
    printf("atomic %d %d\n", hits, count[33]);
    // LLVM's device that is the host now and then loses the last value of a dynamic schedule.
#pragma omp target parallel for lastprivate(last) map(tofrom : last) schedule(static, 3)
    for (int i = 0; i < 77; i++)
        last = i * 2;
    int dynamic = 0;
#pragma omp target parallel for reduction(+ : dynamic) map(tofrom : dynamic) schedule(dynamic, 3)
    for (int i = 0; i < 77; i++)
        dynamic += i * i;
    printf("last %d dynamic %d\n", last, dynamic);
#pragma omp target parallel for schedule(static, 1) reduction(max : most) map(tofrom : most)
    for (int i = 0; i < n; i++)
        most = fmax(most, sin(i * 0.01));
    printf("max %.6f\n", most);
    double grid = 0;
#pragma omp target teams distribute parallel for collapse(2) reduction(+ : grid)
    for (int i = 0; i < 30; i++)
        for (int j = 0; j < 40; j++)
            grid += i * 100 + j;
    printf("collapse %.0f\n", grid);
    int serial = 0, inner = 0;
#pragma omp target map(tofrom : serial, inner)
    {
        for (int i = 0; i < 10; i++) {
            serial += i;
#pragma omp parallel for reduction(+ : inner)
            for (int j = 0; j < 50; j++)
                inner += j;
        }
    }
    printf("serial %d %d\n", serial, inner);
    int critical = 0;
#pragma omp target parallel map(tofrom : critical) num_threads(16)
    {
#pragma omp single
        critical += 100;
    }
    printf("single %d\n", critical);
    long big = 0;
    float f = 0;
    _Float16 half = 1;
#pragma omp target map(tofrom : big, f, half)
    {
        big = 123456789012L / 7 % 1000003 * 3;
        f = powf(1.5f, 7.f) + expf(1) + atan2f(1, 3);
        half = half * (_Float16)3.5 + (_Float16)1;
    }
    printf("numbers %ld %.4f %.2f\n", big, f, (float)half);
    int total = 0;
#pragma omp target map(tofrom : total)
    {
        int *made = new int[100];
        for (int i = 0; i < 100; i++)
            made[i] = i;
        for (int i = 0; i < 100; i++)
            total += made[i];
        delete[] made;
    }
    printf("device memory %d\n", total);
}
