// Says what a program sees of mapping: to be run on LLVM's device that is the host and on ours, which must print the same.
#include <cstdio>
#include <cstring>
#include <omp.h>

#pragma omp declare target
int table[4] = {1, 2, 3, 4};
int counter = 5;
#pragma omp end declare target
int linked[3] = {7, 8, 9};
#pragma omp declare target link(linked)

struct Field {
    int count;
    double *values;
    int tail;
};
#pragma omp declare mapper(deep : Field f) map(tofrom : f, f.values[0 : f.count])

struct Nested {
    Field one, two;
};

class Grid {
  public:
    int size;
    float *cells;
    void scale(float by) {
#pragma omp target teams distribute parallel for map(tofrom : cells[0 : size])
        for (int i = 0; i < size; i++)
            cells[i] *= by;
    }
};

static int sum_of(const int *values, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

static void references() {
    int a[8] = {0}, b[4] = {1, 1, 1, 1};
#pragma omp target enter data map(to : a)
#pragma omp target data map(tofrom : a)
    {
#pragma omp target map(tofrom : a)
        a[0] = 1;
        printf("inside %d\n", a[0]);
#pragma omp target map(always, from : a)
        a[1] = 2;
        printf("always %d %d\n", a[0], a[1]);
#pragma omp target
        a[2] = 3;
    }
    printf("still mapped %d\n", a[2]);
#pragma omp target update from(a[2 : 3])
    printf("updated %d %d\n", a[2], omp_target_is_present(a, 0));
#pragma omp target exit data map(from : a)
    printf("gone %d\n", omp_target_is_present(a, 0));
#pragma omp target enter data map(to : b[1 : 2])
#pragma omp target enter data map(to : b[1 : 2])
    b[1] = 50;
#pragma omp target map(b[1 : 2])
    b[1] += 1;
    printf("not copied %d\n", b[1]);
#pragma omp target exit data map(delete : b[1 : 2])
    printf("deleted %d %d\n", b[1], omp_target_is_present(&b[1], 0));
#pragma omp target enter data map(alloc : b)
#pragma omp target update to(b)
#pragma omp target
    b[2] = b[1] * 2;
#pragma omp target exit data map(from : b)
    printf("alloc %d\n", b[2]);
}

static void structures() {
    Field f = {4, new double[4]{1, 2, 3, 4}, 6};
#pragma omp target enter data map(to : f, f.values[0 : 4])
#pragma omp target
    {
        for (int i = 0; i < f.count; i++)
            f.values[i] += f.tail;
        f.tail = 11;
    }
    double *before = f.values;
#pragma omp target update from(f.values[0 : 4])
#pragma omp target update from(f)
    printf("struct %g %g %d %d\n", f.values[0], f.values[3], f.tail, before == f.values);
    f.tail = 12;
#pragma omp target update to(f)
#pragma omp target
    f.values[1] = f.tail;
#pragma omp target exit data map(from : f.values[0 : 4], f)
    printf("struct %g %d\n", f.values[1], before == f.values);
    f.count = 3;
#pragma omp target map(tofrom : f.tail, f.count)
    f.tail += f.count;
    printf("members %d\n", f.tail);
    Nested n = {{2, new double[2]{1, 2}, 1}, {2, new double[2]{3, 4}, 2}};
#pragma omp target map(to : n.one.count) map(tofrom : n.one.values[0 : 2], n.two.values[1 : 1])
    {
        n.one.values[0] = n.one.count * 10;
        n.two.values[1] = n.one.values[1];
    }
    printf("nested %g %g %g\n", n.one.values[0], n.two.values[0], n.two.values[1]);
    Field many[3];
    for (int i = 0; i < 3; i++)
        many[i] = {2, new double[2]{(double)i, i + 0.5}, i};
#pragma omp target enter data map(to : many)
    for (int i = 0; i < 3; i++) {
#pragma omp target enter data map(to : many[i].values[0 : 2])
    }
#pragma omp target teams distribute parallel for
    for (int i = 0; i < 3; i++)
        many[i].values[1] += many[i].tail;
    for (int i = 0; i < 3; i++) {
#pragma omp target exit data map(from : many[i].values[0 : 2])
        printf("many %g\n", many[i].values[1]);
    }
#pragma omp target exit data map(release : many)
    double **rows = new double *[2];
    for (int i = 0; i < 2; i++)
        rows[i] = new double[3]{1.0 * i, 2.0 * i, 3.0 * i};
#pragma omp target enter data map(to : rows[0 : 2])
    for (int i = 0; i < 2; i++) {
#pragma omp target enter data map(to : rows[i][0 : 3])
    }
#pragma omp target
    rows[1][2] += rows[1][1];
    for (int i = 0; i < 2; i++) {
#pragma omp target exit data map(from : rows[i][0 : 3])
    }
#pragma omp target exit data map(delete : rows[0 : 2])
    printf("rows %g\n", rows[1][2]);
    Grid grid = {4, new float[4]{1, 2, 3, 4}};
    grid.scale(2);
    printf("this %g\n", grid.cells[3]);
}

static void pointers() {
    int n = 6;
    int *a = new int[n]{1, 2, 3, 4, 5, 6}, *host = a, private_sum = 0;
#pragma omp target data map(tofrom : a[0 : n]) use_device_ptr(a)
    {
        printf("device pointer differs %d\n", a != host);
#pragma omp target teams distribute parallel for is_device_ptr(a)
        for (int i = 0; i < n; i++)
            a[i] *= 2;
    }
    printf("doubled %d\n", sum_of(a, n));
    int local[3] = {1, 2, 3};
#pragma omp target data map(tofrom : local) use_device_addr(local)
    {
        int *device = local;
#pragma omp target is_device_ptr(device)
        device[1] = 20;
    }
    printf("address %d\n", local[1]);
    int *middle = a + 2;
#pragma omp target enter data map(to : a[0 : n])
#pragma omp target map(middle[0 : 0])
    middle[0] = 100;
#pragma omp target
    middle[-1] = 99;
#pragma omp target update from(a[0 : n])
    printf("inside a section %d %d\n", a[1], a[2]);
#pragma omp target exit data map(delete : a[0 : n])
    int fixed[4] = {1, 2, 3, 4}, scalar = 7;
    Field by_value = {1, nullptr, 3};
    double real = 2.5;
#pragma omp target firstprivate(fixed, by_value, scalar, real) map(tofrom : private_sum)
    {
        fixed[0] += scalar;
        by_value.tail += (int)(real * 2);
        private_sum = fixed[0] + by_value.tail;
    }
    printf("private %d %d %d\n", private_sum, fixed[0], by_value.tail);
    auto shift = [&](int i) { return fixed[i] + scalar; };
    int lambda = 0;
#pragma omp target map(to : shift, fixed) map(tofrom : lambda)
    lambda = shift(3);
    printf("lambda %d\n", lambda);
    int (&alias)[4] = fixed;
#pragma omp target map(tofrom : alias)
    alias[3] = 44;
    printf("reference %d\n", fixed[3]);
    int grid[4][6];
    memset(grid, 0, sizeof grid);
#pragma omp target data map(alloc : grid)
    {
#pragma omp target
        for (int i = 0; i < 24; i++)
            grid[i / 6][i % 6] = i;
#pragma omp target update from(grid[0 : 2 : 2][0 : 3 : 2])
        printf("stride %d %d %d %d\n", grid[0][2], grid[0][4], grid[0][1], grid[2][0]);
    }
    if (omp_target_is_present(a, 0))
        printf("never\n");
#pragma omp target if (0) map(tofrom : lambda)
    lambda = omp_is_initial_device();
    printf("on the host %d\n", lambda);
#pragma omp target device(omp_get_initial_device()) map(tofrom : lambda)
    lambda = 2 + omp_is_initial_device();
    printf("on the host %d\n", lambda);
}

static void globals() {
#pragma omp target
    {
        table[1] = counter;
        counter = 6;
    }
    printf("global before %d %d\n", table[1], counter);
#pragma omp target update from(table, counter)
    printf("global %d %d\n", table[1], counter);
    table[2] = 33;
#pragma omp target update to(table)
    int seen = 0;
#pragma omp target map(tofrom : seen)
    seen = table[2];
    printf("global %d\n", seen);
#pragma omp target map(tofrom : linked)
    linked[0] = linked[2] + 1;
    printf("link %d\n", linked[0]);
    int sum = 0, most = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) reduction(max : most)
    for (int i = 0; i < 100; i++) {
        sum += i;
        most = most < i ? i : most;
    }
    printf("sum %d %d\n", sum, most);
    int chain = 1;
#pragma omp target nowait depend(inout : chain) map(tofrom : chain)
    chain += 1;
#pragma omp target nowait depend(inout : chain) map(tofrom : chain)
    chain *= 10;
#pragma omp taskwait
    printf("chain %d\n", chain);
}

static void library() {
    int host = omp_get_initial_device(), n = 8;
    int *device = (int *)omp_target_alloc(n * sizeof(int), 0), from[8], to[8] = {0};
    for (int i = 0; i < n; i++)
        from[i] = i;
    int failed = omp_target_memcpy(device, from, sizeof from, 0, 0, 0, host);
#pragma omp target teams distribute parallel for is_device_ptr(device)
    for (int i = 0; i < n; i++)
        device[i] += 100;
    failed += omp_target_memcpy(to, device, 4 * sizeof(int), sizeof(int), 2 * sizeof(int), host, 0);
    printf("copied %d %d %d %d\n", failed, to[0], to[1], to[4]);
    size_t volume[2] = {2, 3}, to_at[2] = {0, 1}, from_at[2] = {0, 0}, to_shape[2] = {2, 4}, from_shape[2] = {2, 4};
    failed = omp_target_memcpy_rect(to, device, sizeof(int), 2, volume, to_at, from_at, to_shape, from_shape, host, 0);
    printf("rectangle %d %d %d %d\n", failed, to[0], to[1], to[7]);
    failed = omp_target_associate_ptr(from, device, sizeof from, 0, 0);
    printf("associated %d %d %d\n", failed, omp_target_is_present(from, 0), omp_get_mapped_ptr(from + 1, 0) == device + 1);
#pragma omp target map(tofrom : from)
    from[3] += 1;
#pragma omp target update from(from)
    printf("associated %d\n", from[3]);
    printf("disassociated %d %d\n", omp_target_disassociate_ptr(from, 0), omp_target_is_present(from, 0));
    omp_target_free(device, 0);
    printf("devices %d %d\n", omp_get_num_devices() > 0, host == omp_get_num_devices());
}

// The last: LLVM 19 never forgets what a mapper of the program mapped first.
static void mapper() {
    Field f = {4, new double[4]{1, 2, 3, 4}, 6};
    double *before = f.values;
#pragma omp target map(mapper(deep), tofrom : f)
    {
        f.values[2] = -1;
        f.tail = 1;
    }
    printf("mapper %g %d %d\n", f.values[2], f.tail, before == f.values);
}

int main() {
    references();
    structures();
    pointers();
    globals();
    library();
    mapper();
}
