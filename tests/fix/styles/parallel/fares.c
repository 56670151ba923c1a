#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ZONES = 480 };

static double demand[ZONES], fare[ZONES];
static int rank, size;

static double attraction(int from, int to)
{
    double gap = fabs((double)(from - to)) + 1.0;
    return exp(-0.01 * gap) * pow(gap, -0.3) * demand[to];
}

static void set_fares(void)
{
    if (rank == 0) {
        int z, o;
        for (z = 0; z < ZONES; z++) {
            double pull = 0.0;
            for (o = 0; o < ZONES; o++)
                pull += attraction(z, o);
            fare[z] = 1.0 + 0.1 * log(1.0 + pull);
        }
    }
    MPI_Bcast(fare, ZONES, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static double travel(void)
{
    double part = 0.0, sum;
    int z;
    for (z = rank; z < ZONES; z += size)
        part += demand[z] * fare[z];
    MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (z = 0; z < ZONES; z++)
        demand[z] *= 1.0 - 0.001 * (fare[z] - 1.3);
    return sum;
}

int main(int argc, char **argv)
{
    int w, weeks, z;
    double revenue = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    weeks = argc > 1 ? atoi(argv[1]) : 400;
    for (z = 0; z < ZONES; z++)
        demand[z] = 100.0 + (z * 19) % 83;
    for (w = 0; w < weeks; w++) {
        set_fares();
        revenue += travel();
    }
    if (rank == 0)
        printf("checksum %.8e\n", revenue);
    MPI_Finalize();
    return 0;
}
