#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
    double x, y, z;
    double age;
} drifter;

typedef struct {
    FILE *file;
    long records;
    const char *path;
} journal;

static void flow(const drifter *d, double t, double *u, double *v, double *w)
{
    double k = 1.0 + 0.1 * t;
    *u = -d->y * k / (1.0 + d->x * d->x);
    *v = d->x * k / (1.0 + d->y * d->y);
    *w = 0.05 * (d->x * d->y) - 0.02 * d->z;
}

static void advance(drifter *d, double t, double dt)
{
    double u, v, w;
    drifter mid = *d;
    flow(d, t, &u, &v, &w);
    mid.x += 0.5 * dt * u;
    mid.y += 0.5 * dt * v;
    mid.z += 0.5 * dt * w;
    flow(&mid, t + 0.5 * dt, &u, &v, &w);
    d->x += dt * u;
    d->y += dt * v;
    d->z += dt * w;
    d->age += dt;
}

static int journal_open(journal *j, const char *path)
{
    j->path = path;
    j->records = 0;
    j->file = fopen(path, "w+b");
    if (j->file == NULL)
        return -1;
    setvbuf(j->file, NULL, _IONBF, 0);
    return 0;
}

static void journal_put(journal *j, int32_t id, const drifter *d)
{
    float position[3] = {(float)d->x, (float)d->y, (float)d->z};
    fwrite(&id, sizeof id, 1, j->file);
    fwrite(position, sizeof position, 1, j->file);
    j->records++;
}

static double journal_verify(journal *j)
{
    enum { BLOCK = 4096 };
    static struct { int32_t id; float p[3]; } block[BLOCK];
    double sum = 0.0;
    size_t got;
    rewind(j->file);
    while ((got = fread(block, sizeof block[0], BLOCK, j->file)) > 0)
        for (size_t i = 0; i < got; i++)
            sum += (block[i].id % 7) * (double)block[i].p[0] + block[i].p[1] - block[i].p[2];
    return sum;
}

static void journal_close(journal *j)
{
    fclose(j->file);
    unlink(j->path);
}

static void release(drifter *d, int n)
{
    for (int i = 0; i < n; i++) {
        double a = 2.0 * M_PI * i / n;
        double r = 0.5 + 0.4 * sin(5.0 * a);
        d[i].x = r * cos(a);
        d[i].y = r * sin(a);
        d[i].z = -1.0 - 0.01 * (i % 10);
        d[i].age = 0.0;
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2000;
    int steps = argc > 2 ? atoi(argv[2]) : 400;
    int substeps = argc > 3 ? atoi(argv[3]) : 10;
    double dt = 0.01 / substeps;
    journal j;
    drifter *d = malloc(sizeof(drifter) * n);
    release(d, n);
    if (journal_open(&j, "track.bin") != 0) {
        perror("track.bin");
        return 1;
    }
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < substeps; k++)
                advance(&d[i], (s * substeps + k) * dt, dt);
            journal_put(&j, i, &d[i]);
        }
    }
    double check = journal_verify(&j);
    printf("records %ld check %.6f age %.4f\n", j.records, check, d[0].age);
    journal_close(&j);
    free(d);
    return 0;
}
