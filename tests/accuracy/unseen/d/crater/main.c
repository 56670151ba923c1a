/* Axial impact into a layered target: a Lagrangian column of rock hit by an
 * iron slug, Tillotson equation of state, single precision. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NZONE 6144

typedef struct {
    const char *name;
    float rho0, a, b, A, B, e0;
} tillotson_t;

typedef struct {
    int first, last;
    const tillotson_t *mat;
} layer_t;

static const tillotson_t iron = { "iron", 7.80f, 0.5f, 1.5f, 128.0f, 105.0f, 9.5f };
static const tillotson_t granite = { "granite", 2.68f, 0.5f, 1.3f, 18.0f, 18.0f, 16.0f };
static const tillotson_t basalt = { "basalt", 2.70f, 0.5f, 1.5f, 26.7f, 26.7f, 48.7f };

static layer_t layers[3];
static float z[NZONE + 1], vel[NZONE + 1];
static float rho[NZONE], ener[NZONE], press[NZONE], visc[NZONE], mass[NZONE];
static float comp[NZONE];

static void build_column(void)
{
    layers[0] = (layer_t){ 0, NZONE / 12, &iron };
    layers[1] = (layer_t){ NZONE / 12, NZONE / 2, &granite };
    layers[2] = (layer_t){ NZONE / 2, NZONE, &basalt };
    for (int i = 0; i <= NZONE; i++) {
        z[i] = 0.01f * (float)i;
        vel[i] = i < NZONE / 12 ? 1.2f : 0.0f;
    }
    for (int k = 0; k < 3; k++) {
        for (int i = layers[k].first; i < layers[k].last; i++) {
            rho[i] = layers[k].mat->rho0;
            mass[i] = rho[i] * 0.01f;
            ener[i] = 1e-3f;
            comp[i] = 1.0f;
        }
    }
}

/* Pressure of one layer; returns the index of a zone that is out of range,
 * or -1. */
static int tillotson_pressure(const layer_t *lay)
{
    const tillotson_t *m = lay->mat;
    const float ra = m->a, rb = m->b, A = m->A, B = m->B;
    const float ie0 = 1.0f / m->e0, ir0 = 1.0f / m->rho0;

    for (int i = lay->first; i < lay->last; i++) {
        float eta = rho[i] * ir0;
        if (!(eta > 0.01f && eta < 20.0f))
            return i;
        float mu = eta - 1.0f;
        float w = ener[i] * ie0 / (eta * eta) + 1.0f;
        float hot = (ra + rb / w) * rho[i] * ener[i];
        float cold = (A + B * mu) * mu;
        float q = 1.0f / (1.0f + 0.02f * mu * mu);
        float p = hot + cold * q;
        press[i] = p > -0.5f ? p : -0.5f;
        comp[i] = comp[i] > eta ? comp[i] : eta;
    }
    return -1;
}

static void artificial_viscosity(void)
{
    for (int i = 0; i < NZONE; i++) {
        float dv = vel[i + 1] - vel[i];
        float neg = dv < 0.0f ? dv : 0.0f;
        visc[i] = rho[i] * neg * (2.0f * neg - 1.5f);
    }
}

static void accelerate(float dt)
{
    for (int i = 1; i < NZONE; i++) {
        float f = (press[i - 1] + visc[i - 1]) - (press[i] + visc[i]);
        vel[i] += dt * 2.0f * f / (mass[i - 1] + mass[i]);
    }
    vel[0] -= dt * 2.0f * (press[0] + visc[0]) / mass[0];
    vel[NZONE] = 0.0f;
}

static void move_and_heat(float dt)
{
    for (int i = 0; i <= NZONE; i++)
        z[i] += dt * vel[i];
    for (int i = 0; i < NZONE; i++) {
        rho[i] = mass[i] / (z[i + 1] - z[i]);
        float de = dt * (press[i] + visc[i]) * (vel[i + 1] - vel[i]) / mass[i];
        float e = ener[i] - de;
        ener[i] = e > 0.0f ? e : 0.0f;
    }
}

int main(int argc, char **argv)
{
    int nstep = argc > 1 ? atoi(argv[1]) : 110000;
    float dt = 4.0e-4f;

    build_column();
    for (int n = 0; n < nstep; n++) {
        for (int k = 0; k < 3; k++) {
            int bad = tillotson_pressure(&layers[k]);
            if (bad >= 0) {
                fprintf(stderr, "step %d: zone %d (%s) density %g\n", n, bad,
                        layers[k].mat->name, rho[bad]);
                return 1;
            }
        }
        artificial_viscosity();
        accelerate(dt);
        move_and_heat(dt);
    }

    double esum = 0.0;
    float peak = 0.0f;
    int where = 0;
    for (int i = 0; i < NZONE; i++) {
        esum += (double)mass[i] * ener[i];
        if (press[i] > peak) {
            peak = press[i];
            where = i;
        }
    }
    printf("t %.4f  heat %.6e  peak %.5f at zone %d  compression %.5f\n",
           nstep * dt, esum, peak, where, comp[where]);
    return 0;
}
