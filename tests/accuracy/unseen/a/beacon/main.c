#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG_PLACES = 11, TAG_DOSES = 12 };

typedef struct {
    int count;
    double *x, *y, *rate, *spread;
} stacks;

typedef struct {
    int count;
    double *place;
    double *dose;
} batch;

static double *row(int n)
{
    return malloc((size_t)n * sizeof(double));
}

static double draw(unsigned long long *s)
{
    *s = *s * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*s >> 11) / 9007199254740992.0;
}

static stacks inventory(int count)
{
    unsigned long long s = 41;
    stacks k = {count, row(count), row(count), row(count), row(count)};
    for (int i = 0; i < count; i++) {
        k.x[i] = 50.0 * draw(&s);
        k.y[i] = 50.0 * draw(&s);
        k.rate[i] = 1.0 + 4.0 * draw(&s);
        k.spread[i] = 0.2 + draw(&s);
    }
    return k;
}

static void survey(batch *b, unsigned long long *s)
{
    double cx = 50.0 * draw(s), cy = 50.0 * draw(s);
    for (int i = 0; i < b->count; i++) {
        b->place[2 * i] = cx + 10.0 * (draw(s) - 0.5);
        b->place[2 * i + 1] = cy + 10.0 * (draw(s) - 0.5);
    }
}

static void expose(const stacks *k, const double *restrict place, double *restrict dose, int n)
{
    for (int i = 0; i < n; i++)
        dose[i] = 0.0;
    for (int j = 0; j < k->count; j++) {
        double x = k->x[j], y = k->y[j], q = k->rate[j], w = k->spread[j];
        for (int i = 0; i < n; i++) {
            double dx = place[2 * i] - x;
            double dy = place[2 * i + 1] - y;
            dose[i] += q / (w + dx * dx + dy * dy);
        }
    }
}

static void hand_over(const batch *b, int from)
{
    MPI_Send(b->place + 2 * from, 2 * (b->count - from), MPI_DOUBLE, 1, TAG_PLACES, MPI_COMM_WORLD);
}

static void collect(batch *b, int from)
{
    MPI_Recv(b->dose + from, b->count - from, MPI_DOUBLE, 1, TAG_DOSES, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double lead(const stacks *k, int count, int batches)
{
    batch b = {count, row(2 * count), row(count)};
    unsigned long long s = 9001;
    int mine = count / 2;
    double total = 0.0;
    for (int r = 0; r < batches; r++) {
        survey(&b, &s);
        expose(k, b.place, b.dose, mine);
        hand_over(&b, mine);
        collect(&b, mine);
        double worst = 0.0;
        for (int i = 0; i < count; i++)
            if (b.dose[i] > worst)
                worst = b.dose[i];
        total += worst;
    }
    free(b.place);
    free(b.dose);
    return total / batches;
}

static void assist(const stacks *k, int count, int batches)
{
    int n = count - count / 2;
    double *place = row(2 * n), *dose = row(n);
    for (int r = 0; r < batches; r++) {
        MPI_Recv(place, 2 * n, MPI_DOUBLE, 0, TAG_PLACES, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expose(k, place, dose, n);
        MPI_Send(dose, n, MPI_DOUBLE, 0, TAG_DOSES, MPI_COMM_WORLD);
    }
    free(place);
    free(dose);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int count = argc > 1 ? atoi(argv[1]) : 8000;
    int batches = argc > 2 ? atoi(argv[2]) : 1400;
    stacks k = inventory(600);
    if (rank == 0)
        printf("mean of worst dose %.9f\n", lead(&k, count, batches));
    else if (rank == 1)
        assist(&k, count, batches);
    MPI_Finalize();
    return 0;
}
