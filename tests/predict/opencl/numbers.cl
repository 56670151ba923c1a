__kernel void mandelbrot(__global int *steps, const int nx, const int ny, const int limit)
{
    const int px = get_global_id(0), py = get_global_id(1);
    const float cx = -2.0f + 3.0f * px / nx, cy = -1.5f + 3.0f * py / ny;
    float x = 0.0f, y = 0.0f;
    int k = 0;
    while (k < limit && x * x + y * y < 4.0f) {
        const float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        k++;
    }
    steps[py * nx + px] = k;
}

float normal(const float d)
{
    const float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    const float tail = 0.39894228f * exp(-0.5f * d * d) *
                       (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0.0f ? 1.0f - tail : tail;
}

__kernel void black_scholes(__global const float *price, __global const float *strike, __global const float *years,
                            __global float *call, __global float *put, const float rate, const float volatility)
{
    const int i = get_global_id(0);
    const float root = sqrt(years[i]);
    const float d1 = (log(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
    const float d2 = d1 - volatility * root;
    const float discounted = strike[i] * exp(-rate * years[i]);
    call[i] = price[i] * normal(d1) - discounted * normal(d2);
    put[i] = discounted * normal(-d2) - price[i] * normal(-d1);
}

__kernel void circle(__global uint *hits, const int draws)
{
    uint state = get_global_id(0) * 747796405u + 2891336453u, inside = 0;
    for (int k = 0; k < draws; k++) {
        state = state * 1664525u + 1013904223u;
        const float x = (state >> 8) * (1.0f / 16777216.0f);
        state = state * 1664525u + 1013904223u;
        const float y = (state >> 8) * (1.0f / 16777216.0f);
        inside += x * x + y * y < 1.0f;
    }
    hits[get_global_id(0)] = inside;
}

/* One step of a transform of Fourier, after Stockham: out of place, twiddles computed. */
__kernel void fft_step(__global const float2 *in, __global float2 *out, const int half_length, const int span)
{
    const int i = get_global_id(0), k = i & (span - 1);
    const float angle = -M_PI_F * (float)k / (float)span;
    const float c = cos(angle), s = sin(angle);
    const float2 a = in[i], b = in[i + half_length];
    const float2 t = (float2)(b.x * c - b.y * s, b.x * s + b.y * c);
    const int at = ((i - k) << 1) + k;
    out[at] = a + t;
    out[at + span] = a - t;
}

/* Newton's iteration for cube roots: divisions in a chain. */
__kernel void cube_roots(__global const double *in, __global double *out, const int steps)
{
    const int i = get_global_id(0);
    const double v = in[i];
    double x = v * 0.3 + 0.7;
    for (int k = 0; k < steps; k++) x = (2.0 * x + v / (x * x)) / 3.0;
    out[i] = x;
}
