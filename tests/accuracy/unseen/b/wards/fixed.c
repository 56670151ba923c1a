#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

typedef struct {
    int width;
    int height;
    unsigned char *street;
} town;

typedef struct {
    long cells;
    long rim;
    uint64_t mark;
} catchment;

static uint32_t scramble(uint32_t v)
{
    v ^= v >> 16;
    v *= 0x7feb352dU;
    v ^= v >> 15;
    v *= 0x846ca68bU;
    v ^= v >> 16;
    return v;
}

static int build_town(town *t, int width, int height)
{
    size_t n = (size_t)width * height;
    t->width = width;
    t->height = height;
    t->street = malloc(n);
    if (!t->street)
        return -1;
    for (size_t i = 0; i < n; i++)
        t->street[i] = scramble((uint32_t)i) % 5 != 0;
    return 0;
}

static int nearest_open(const town *t, int cell)
{
    int n = t->width * t->height;
    while (!t->street[cell])
        cell = cell + 1 < n ? cell + 1 : 0;
    return cell;
}

static int visit(const town *t, int *label, int *front, int tail, int cell, int step)
{
    if (t->street[cell] && label[cell] == 0) {
        label[cell] = step;
        front[tail++] = cell;
    }
    return tail;
}

static void walk_out(const town *t, int origin, int minutes, int *front, catchment *c)
{
    size_t n = (size_t)t->width * t->height;
    static int *label;
    int head = 0, tail = 0;

    if (!label && !(label = calloc(n, sizeof *label)))
        exit(1);
    label[origin] = 1;
    front[tail++] = origin;
    while (head < tail) {
        int here = front[head++];
        int step = label[here];
        int y = here / t->width;
        int x = here - y * t->width;
        c->cells++;
        c->mark += (uint64_t)here * (uint64_t)step;
        if (step > minutes) {
            c->rim++;
            continue;
        }
        if (x > 0)
            tail = visit(t, label, front, tail, here - 1, step + 1);
        if (x + 1 < t->width)
            tail = visit(t, label, front, tail, here + 1, step + 1);
        if (y > 0)
            tail = visit(t, label, front, tail, here - t->width, step + 1);
        if (y + 1 < t->height)
            tail = visit(t, label, front, tail, here + t->width, step + 1);
    }
    for (int k = 0; k < tail; k++)
        label[front[k]] = 0;
}

static catchment survey(const town *t, int stations, int minutes)
{
    catchment sum = {0, 0, 0};
    int n = t->width * t->height;
    int *front = malloc((size_t)(2 * minutes * minutes + 4 * minutes + 8) * sizeof *front);

    if (!front)
        exit(1);
    for (int s = 0; s < stations; s++) {
        int place = (int)(scramble(0x9e3779b9U + (uint32_t)s) % (uint32_t)n);
        walk_out(t, nearest_open(t, place), minutes, front, &sum);
    }
    free(front);
    return sum;
}

int main(int argc, char **argv)
{
    int width = argc > 1 ? atoi(argv[1]) : 3600;
    int height = argc > 2 ? atoi(argv[2]) : 3600;
    int stations = argc > 3 ? atoi(argv[3]) : 25000;
    int minutes = argc > 4 ? atoi(argv[4]) : 12;
    town t;
    catchment all;

    if (build_town(&t, width, height))
        return 1;
    all = survey(&t, stations, minutes);
    printf("stations %d\n", stations);
    printf("cells    %ld\n", all.cells);
    printf("rim      %ld\n", all.rim);
    printf("mark     %016llx\n", (unsigned long long)all.mark);
    free(t.street);
    return 0;
}
