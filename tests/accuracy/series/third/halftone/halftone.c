/* Halftoning of a film strip for print: tone curve, unsharp mask, error diffusion.
 * The rows of each frame are shared among the ranks. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define W 1200
#define H 800
#define FRAMES 70

static int rank, nranks, rows, row0;
static float *grey, *sharp;
static unsigned char *ink;

__attribute__((noinline)) void scan_frame(int frame, float exposure)
{
    float wave[W];
    for (int x = 0; x < W; x++) wave[x] = 0.4f * sinf(0.011f * x + 0.3f * frame);
    for (int y = 0; y < rows; y++) {
        float c = cosf(0.017f * (y + row0));
        for (int x = 0; x < W; x++) grey[(y + 1) * W + x] = powf(0.5f + c * wave[x], exposure);
    }
}

__attribute__((noinline)) void swap_edges(void)
{
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int down = rank < nranks - 1 ? rank + 1 : MPI_PROC_NULL;
    memcpy(grey, grey + W, W * sizeof(float));
    memcpy(grey + (rows + 1) * W, grey + rows * W, W * sizeof(float));
    MPI_Sendrecv(grey + W, W, MPI_FLOAT, up, 1, grey + (rows + 1) * W, W, MPI_FLOAT, down, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(grey + rows * W, W, MPI_FLOAT, down, 2, grey, W, MPI_FLOAT, up, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) void unsharp(float amount)
{
    for (int y = 1; y <= rows; y++)
        for (int x = 0; x < W; x++) {
            int l = x ? x - 1 : 0, r = x < W - 1 ? x + 1 : x;
            const float *p = grey + y * W;
            float blur = (p[l] + p[r] + p[x - W] + p[x + W] + 4 * p[x]) / 8;
            sharp[(y - 1) * W + x] = p[x] + amount * (p[x] - blur);
        }
}

__attribute__((noinline)) long diffuse(float *carry)
{
    long dots = 0;
    float *next = calloc(W + 2, sizeof(float));
    if (rank > 0)
        MPI_Recv(carry, W + 2, MPI_FLOAT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        memset(carry, 0, (W + 2) * sizeof(float));
    for (int y = 0; y < rows; y++) {
        float right = 0;
        memset(next, 0, (W + 2) * sizeof(float));
        for (int x = 0; x < W; x++) {
            float v = sharp[y * W + x] + carry[x + 1] + right;
            int dot = v > 0.5f;
            float err = v - (float)dot;
            ink[y * W + x] = (unsigned char)dot;
            dots += dot;
            right = err * 7 / 16;
            next[x] += err * 3 / 16;
            next[x + 1] += err * 5 / 16;
            next[x + 2] += err * 1 / 16;
        }
        memcpy(carry, next, (W + 2) * sizeof(float));
    }
    if (rank < nranks - 1)
        MPI_Send(carry, W + 2, MPI_FLOAT, rank + 1, 7, MPI_COMM_WORLD);
    free(next);
    return dots;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    int frames = argc > 1 ? atoi(argv[1]) : FRAMES;
    row0 = H * rank / nranks;
    rows = H * (rank + 1) / nranks - row0;
    grey = malloc((rows + 2) * W * sizeof(float));
    sharp = malloc(rows * W * sizeof(float));
    ink = malloc(rows * W);
    float *carry = malloc((W + 2) * sizeof(float));
    float exposure = 1.0f;
    for (int f = 0; f < frames; f++) {
        scan_frame(f, exposure);
        swap_edges();
        unsharp(0.6f);
        long dots = diffuse(carry), all;
        MPI_Allreduce(&dots, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        exposure += 0.5f * ((float)all / (W * H) - 0.45f);     /* steer to the wanted coverage */
    }
    if (rank == 0) printf("exposure after %d frames: %.5f\n", frames, exposure);
    MPI_Finalize();
    return 0;
}
