/* Displacement field between two particle images by block matching:
   coarse search on integer pixels, parabolic refinement, median filter. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1280, HEIGHT = 960, BLOCK = 32, STRIDE = 16, REACH = 14 };

typedef struct {
    int w, h;
    uint8_t *px;
} Frame;

typedef struct {
    float u, v;
    int cost;
} Vec;

static uint64_t seed = 88172645463325252ull;

static double uniform(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static Frame frame_new(int w, int h)
{
    Frame f = { w, h, calloc((size_t)w * (size_t)h, 1) };
    if (!f.px)
        exit(1);
    return f;
}

static void splat(Frame *f, double x, double y, double amp)
{
    int cx = (int)x, cy = (int)y;
    for (int j = cy - 3; j <= cy + 3; j++)
        for (int i = cx - 3; i <= cx + 3; i++) {
            if (i < 0 || j < 0 || i >= f->w || j >= f->h)
                continue;
            double r2 = (i - x) * (i - x) + (j - y) * (j - y);
            int v = f->px[j * f->w + i] + (int)(amp * exp(-r2 / 2.4));
            f->px[j * f->w + i] = (uint8_t)(v > 255 ? 255 : v);
        }
}

/* Seeded flow: a pair of counter-rotating vortices on a slow drift. */
static void seed_pair(Frame *a, Frame *b, int particles, double phase)
{
    memset(a->px, 8, (size_t)a->w * (size_t)a->h);
    memset(b->px, 8, (size_t)b->w * (size_t)b->h);
    for (int p = 0; p < particles; p++) {
        double x = uniform() * a->w, y = uniform() * a->h, amp = 90 + 150 * uniform();
        double u = 2.0 + phase, v = -1.0;
        for (int k = 0; k < 2; k++) {
            double dx = x - a->w * (0.3 + 0.4 * k), dy = y - a->h * 0.5;
            double g = (k ? -0.05 : 0.05) * exp(-(dx * dx + dy * dy) / 40000.0);
            u -= g * dy;
            v += g * dx;
        }
        splat(a, x, y, amp);
        if (uniform() > 0.06)
            splat(b, x + u, y + v, amp);
    }
}

/* Sum of absolute differences of two blocks, given up at `limit`. */
static int block_cost(const uint8_t *p, const uint8_t *q, int pitch, int limit)
{
    int sum = 0;
    for (int y = 0; y < BLOCK; y++) {
        for (int x = 0; x < BLOCK; x++) {
            sum += abs(p[x] - q[x]);
            if (sum >= limit)
                return limit;
        }
        p += pitch;
        q += pitch;
    }
    return sum;
}

static float parabola(int lo, int mid, int hi)
{
    int den = lo - 2 * mid + hi;
    return den > 0 ? 0.5f * (float)(lo - hi) / (float)den : 0.0f;
}

static Vec match(const Frame *a, const Frame *b, int bx, int by)
{
    const uint8_t *ref = a->px + by * a->w + bx;
    int best = 1 << 30, step_u = 0, bv = 0;
    for (int dv = -REACH; dv <= REACH; dv++)
        for (int du = -REACH; du <= REACH; du++) {
            int c = block_cost(ref, b->px + (by + dv) * b->w + bx + du, a->w, best);
            if (c < best) {
                best = c;
                step_u = du;
                bv = dv;
            }
        }
    const uint8_t *at = b->px + (by + bv) * b->w + bx + step_u;
    int none = 1 << 30;
    Vec r = { (float)step_u, (float)bv, best };
    r.u += parabola(block_cost(ref, at - 1, a->w, none), best, block_cost(ref, at + 1, a->w, none));
    r.v += parabola(block_cost(ref, at - b->w, a->w, none), best, block_cost(ref, at + b->w, a->w, none));
    return r;
}

static float median9(float *s)
{
    for (int i = 1; i < 9; i++) {
        float k = s[i];
        int j = i;
        for (; j > 0 && s[j - 1] > k; j--)
            s[j] = s[j - 1];
        s[j] = k;
    }
    return s[4];
}

static int reject_outliers(Vec *f, const Vec *raw, int nx, int ny)
{
    int replaced = 0;
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) {
            float su[9], sv[9];
            for (int k = 0; k < 9; k++) {
                const Vec *n = &raw[(j - 1 + k / 3) * nx + i - 1 + k % 3];
                su[k] = n->u;
                sv[k] = n->v;
            }
            float mu = median9(su), mv = median9(sv);
            Vec *c = &f[j * nx + i];
            if (fabsf(c->u - mu) + fabsf(c->v - mv) > 1.5f) {
                c->u = mu;
                c->v = mv;
                replaced++;
            }
        }
    return replaced;
}

int main(int argc, char **argv)
{
    int pairs = argc > 1 ? atoi(argv[1]) : 4;
    int margin = REACH + 2;
    int nx = (WIDTH - 2 * margin - BLOCK) / STRIDE + 1;
    int ny = (HEIGHT - 2 * margin - BLOCK) / STRIDE + 1;
    Frame a = frame_new(WIDTH, HEIGHT), b = frame_new(WIDTH, HEIGHT);
    Vec *raw = malloc(sizeof *raw * (size_t)(nx * ny)), *field = malloc(sizeof *field * (size_t)(nx * ny));
    for (int t = 0; t < pairs; t++) {
        seed_pair(&a, &b, 30000, 0.3 * t);
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++)
                raw[j * nx + i] = match(&a, &b, margin + i * STRIDE, margin + j * STRIDE);
        memcpy(field, raw, sizeof *raw * (size_t)(nx * ny));
        int replaced = reject_outliers(field, raw, nx, ny);
        double mu = 0, curl = 0;
        for (int j = 1; j < ny - 1; j++)
            for (int i = 1; i < nx - 1; i++) {
                mu += field[j * nx + i].u;
                curl += fabs(field[j * nx + i + 1].v - field[j * nx + i - 1].v
                             - field[(j + 1) * nx + i].u + field[(j - 1) * nx + i].u) / (2.0 * STRIDE);
            }
        int inner = (nx - 2) * (ny - 2);
        printf("pair %d  vectors %d  replaced %d  mean u %.4f  mean |curl| %.5f\n", t, inner, replaced, mu / inner,
               curl / inner);
    }
    free(raw);
    free(field);
    free(a.px);
    free(b.px);
    return 0;
}
