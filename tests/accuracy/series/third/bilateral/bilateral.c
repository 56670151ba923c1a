/* Iterated bilateral filter of a noisy microscope image */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define W 320
#define H 320
#define RAD 4

static float img[H][W], tmp[H][W];

static unsigned hash2(unsigned x, unsigned y)
{
    unsigned h = x * 374761393u + y * 668265263u;
    h = (h ^ (h >> 13)) * 1274126177u;
    return h ^ (h >> 16);
}

__attribute__((noinline)) void acquire(void)
{
#pragma omp parallel for schedule(static)
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float base = 0.5f + 0.3f * sinf(0.05f * x) * cosf(0.08f * y);
            float noise = (hash2(x, y) & 0xffff) / 65536.0f - 0.5f;
            img[y][x] = base + 0.2f * noise;
        }
}

__attribute__((noinline)) float filter_pixel(int x, int y, float sigma_d, float sigma_r)
{
    float num = 0, den = 0, c = img[y][x];
    for (int dy = -RAD; dy <= RAD; dy++)
        for (int dx = -RAD; dx <= RAD; dx++) {
            int yy = (y + dy + H) % H, xx = (x + dx + W) % W;
            float v = img[yy][xx], r = (v - c) / sigma_r;
            float w = expf(-0.5f * (r * r + (dx * dx + dy * dy) / (sigma_d * sigma_d)));
            num += w * v;
            den += w;
        }
    return num / den;
}

__attribute__((noinline)) void bilateral_pass(float sigma_d, float sigma_r)
{
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                tmp[y][x] = filter_pixel(x, y, sigma_d, sigma_r);
#pragma omp for schedule(static)
        for (int y = 0; y < H; y++)
            memcpy(img[y], tmp[y], sizeof img[y]);
    }
}

__attribute__((noinline)) double sharpness(void)
{
    double s = 0;
#pragma omp parallel for schedule(static) reduction(+:s)
    for (int y = 1; y < H - 1; y++)
        for (int x = 1; x < W - 1; x++)
            s += fabs(4.0 * img[y][x] - img[y - 1][x] - img[y + 1][x] - img[y][x - 1] - img[y][x + 1]);
    return s / (W * H);
}

int main(int argc, char **argv)
{
    int passes = argc > 1 ? atoi(argv[1]) : 22;
    acquire();
    double before = sharpness();
    for (int p = 0; p < passes; p++) bilateral_pass(2.5f, 0.12f);
    printf("sharpness before %.6f after %.6f\n", before, sharpness());
    return 0;
}
