// Operations of a device, each group computed by a kernel and by the host; says for each group how many results differ.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cmath>
#include <vector>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
#define BOTH __host__ __device__
static const int N = 1024, OUT = 64;

BOTH inline u64 bits(double x) { u64 v; memcpy(&v, &x, 8); return x != x ? 0x7ff8dead : v; }
BOTH inline u64 bits(float x) { u32 v; memcpy(&v, &x, 4); return x != x ? 0x7fc0dead : v; }
BOTH inline float real(u32 v) { float x; memcpy(&x, &v, 4); return x; }
BOTH inline float quiet(u32 v) { float x = real(v); return x != x ? real(0x7fc00000u) : x; } // hosts treat signalling ones otherwise
BOTH inline double real(u64 v) { double x; memcpy(&x, &v, 8); return x; }
// Numbers that are not extreme: halves, sums and products stay in range.
BOTH inline float mild(u32 v) { return ((s32)(v % 200001) - 100000) / 64.0f; }
BOTH inline double mild64(u64 v) { return ((s64)(v % 2000000000001ull) - 1000000000000ll) / 4096.0; }

struct Integers {
    BOTH void operator()(const u64 *in, u64 *out) const {
        u32 a = (u32)in[0], b = (u32)in[1], c = (u32)in[2];
        s32 x = (s32)a, y = (s32)b;
        u32 n = c & 31;
        int k = 0;
        out[k++] = a + b * c;
        out[k++] = a - b - c;
        out[k++] = a * b;
        out[k++] = (u32)(((u64)a * b) >> 32);
        out[k++] = (u32)(((s64)x * y) >> 32);
        out[k++] = b ? a / b : 1;
        out[k++] = b ? a % b : 1;
        out[k++] = y && y != -1 ? (u32)(x / y) : 1;
        out[k++] = y && y != -1 ? (u32)(x % y) : 1;
        out[k++] = a / 7 + a % 1000;
        out[k++] = (u32)(x / 7 + x % 1000);
        out[k++] = a << n;
        out[k++] = a >> n;
        out[k++] = (u32)(x >> n);
        out[k++] = (a << n) | (a >> ((32 - n) & 31));
        out[k++] = (a & b) | (~a & c);
        out[k++] = a ^ b ^ c;
        out[k++] = (a & b) | (a & c) | (b & c);
        out[k++] = x < y ? a : b;
        out[k++] = a < b ? 1 : 2;
        out[k++] = x < 0 ? -a : a;
        out[k++] = a > b ? a : b;
        out[k++] = (u32)(x < y ? x : y);
        out[k++] = (a & 0xff) + (b >> 8 & 0xff) * (c >> 16 & 0xffff);
        out[k++] = (u32)(s32)(int8_t)a + (u32)(s32)(int16_t)b;
        out[k++] = a * 9 + (b << 3);
        out[k++] = x <= y && (a & 1) != (b & 1) || c > 0x80000000u;
        out[k++] = (u32)((x >= y) + 2 * (a == b) + 4 * (x != y));
    }
};

struct Wide {
    BOTH void operator()(const u64 *in, u64 *out) const {
        u64 a = in[0], b = in[1], c = in[2];
        s64 x = (s64)a, y = (s64)b;
        u32 n = (u32)c & 63;
        int k = 0;
        out[k++] = a + b;
        out[k++] = a - b;
        out[k++] = a * b + c;
        out[k++] = b ? a / b : 1;
        out[k++] = b ? a % b : 1;
        out[k++] = y && y != -1 ? (u64)(x / y) : 1;
        out[k++] = y && y != -1 ? (u64)(x % y) : 1;
        out[k++] = (b >> 40) ? a / (b >> 40) : 1;
        out[k++] = (u32)b ? a % (u32)b : 1;
        out[k++] = a / 1000000007ull;
        out[k++] = (u64)(x / 12345);
        out[k++] = a << n;
        out[k++] = a >> n;
        out[k++] = (u64)(x >> n);
        out[k++] = (a << n) | (a >> ((64 - n) & 63));
        out[k++] = x < y ? a : c;
        out[k++] = a < b;
        out[k++] = a <= b;
        out[k++] = x >= y;
        out[k++] = a == b;
        out[k++] = (a >> 32) == (b >> 32);
        out[k++] = a != b;
        out[k++] = x < 0 ? -a : a;
        out[k++] = x > y ? a : b;
        out[k++] = (u64)(s32)a * (u64)(s64)(s32)b;
        out[k++] = (u64)(u32)a * (u32)b + c;
        out[k++] = a + (u32)b * 8ull;
        out[k++] = a - (u64)(s64)(s32)b * 24;
        out[k++] = (a + b < a) + c;
        out[k++] = (a & b) ^ ~c;
        out[k++] = -a;
        out[k++] = x > 1000 ? x - 1000 : 0;
        out[k++] = a > b + c;
    }
};

struct Floats {
    BOTH void operator()(const u64 *in, u64 *out) const {
        float a = mild((u32)in[0]), b = mild((u32)in[1]), c = mild((u32)in[2]);
        float e = quiet((u32)in[0]), f = quiet((u32)in[1]), g = quiet((u32)in[2]);
        int k = 0;
        out[k++] = bits(a + b);
        out[k++] = bits(a - b);
        out[k++] = bits(a * b);
        out[k++] = bits(a / b);
        out[k++] = bits(1.0f / b);
        out[k++] = bits(sqrtf(a < 0 ? -a : a));
        out[k++] = bits(fmaf(a, b, c));
        out[k++] = bits(-a * b);
        out[k++] = bits(e + f);
        out[k++] = bits(e * f);
        out[k++] = bits(e / f);
        out[k++] = bits(fmaf(e, f, g));
        out[k++] = bits(sqrtf(e));
        out[k++] = bits(1.0f / sqrtf(4.0f));
        out[k++] = bits(fminf(a, b)) + bits(fmaxf(a, c));
        out[k++] = bits(fminf(e, f));
        out[k++] = bits(fabsf(e)) + bits(-f);
        out[k++] = (e < f) + 2 * (e <= f) + 4 * (e > f) + 8 * (e >= f) + 16 * (e == f) + 32 * (e != f);
        out[k++] = !(e < f) + 2 * !(e >= f) + 4 * (e != e) + 8 * (e == e && f == f);
        out[k++] = bits(e > f ? e : g);
        out[k++] = bits(floorf(a)) + bits(ceilf(b));
        out[k++] = bits(truncf(a)) + bits(rintf(b)) + bits(roundf(c));
        out[k++] = bits(fmodf(a, b == 0 ? 1 : b));
        out[k++] = bits(copysignf(a, b)) + std::isnan(e) + 2 * std::isinf(f);
        out[k++] = bits(ldexpf(a, (int)(in[1] % 40) - 20));
        out[k++] = bits(a * 0.1f + 3.0f);
        out[k++] = bits(e / 3.0f) + bits(real((u32)in[0] & 0x807fffff) / b);
        out[k++] = bits(fdimf(a, b)) + bits(hypotf(3.0f, 4.0f));
    }
};

struct Doubles {
    BOTH void operator()(const u64 *in, u64 *out) const {
        double a = mild64(in[0]), b = mild64(in[1]), c = mild64(in[2]);
        double e = real(in[0]), f = real(in[1]), g = real(in[2]);
        int k = 0;
        out[k++] = bits(a + b);
        out[k++] = bits(a - b);
        out[k++] = bits(a * b);
        out[k++] = bits(a / b);
        out[k++] = bits(1.0 / b);
        out[k++] = bits(sqrt(a < 0 ? -a : a));
        out[k++] = bits(fma(a, b, c));
        out[k++] = bits(e + f);
        out[k++] = bits(e * f);
        out[k++] = bits(e / f);
        out[k++] = bits(1.0 / e);
        out[k++] = bits(sqrt(e));
        out[k++] = bits(fma(e, f, g));
        out[k++] = bits(fmin(a, b)) + bits(fmax(a, c));
        out[k++] = bits(fmin(e, f)) + bits(fmax(e, g));
        out[k++] = bits(fabs(e)) + bits(-f);
        out[k++] = (e < f) + 2 * (e <= f) + 4 * (e > f) + 8 * (e >= f) + 16 * (e == f) + 32 * (e != f);
        out[k++] = !(e < f) + 2 * !(e >= f) + 4 * (e != e);
        out[k++] = bits(e > f ? e : g);
        out[k++] = bits(floor(a)) + bits(ceil(b)) + bits(trunc(c)) + bits(rint(a));
        out[k++] = bits(fmod(a, b == 0 ? 1 : b));
        out[k++] = bits(a * 0.1 + 3.0) + bits(a - 1e300);
        out[k++] = bits((double)(float)a + 1.5);
        out[k++] = a > 0.0 && b < 2.0;
    }
};

struct Conversions {
    BOTH void operator()(const u64 *in, u64 *out) const {
        u32 a = (u32)in[0];
        u64 w = in[1];
        float f = mild(a);
        double d = mild64(w);
        int k = 0;
        out[k++] = bits((float)a);
        out[k++] = bits((float)(s32)a);
        out[k++] = bits((float)w);
        out[k++] = bits((float)(s64)w);
        out[k++] = bits((double)a);
        out[k++] = bits((double)(s32)a);
        out[k++] = bits((double)w);
        out[k++] = bits((double)(s64)w);
        out[k++] = (u32)(s32)f;
        out[k++] = (u64)(s64)f;
        out[k++] = (u32)fabsf(f);
        out[k++] = (u64)fabsf(f * 1e6f);
        out[k++] = (u32)(s32)(d * 1e-3);
        out[k++] = (u64)(s64)d;
        out[k++] = (u64)fabs(d);
        out[k++] = (u32)fabs(d * 1e-3);
        out[k++] = bits((float)d);
        out[k++] = bits((double)f);
        out[k++] = (u32)(s32)lrintf(f);
        out[k++] = (u64)llrint(d);
        out[k++] = (u32)(int8_t)(s32)(f * 0.01f) + (u32)(uint8_t)(a >> 3) + (u32)(short)f;
        out[k++] = bits((float)(uint8_t)a + (float)(int8_t)(a >> 8) + (float)(uint16_t)(a >> 5) + (float)(int16_t)(a >> 9));
        out[k++] = bits((double)(uint8_t)a - (double)(int16_t)(a >> 9));
    }
};

struct Halves {
    BOTH void operator()(const u64 *in, u64 *out) const {
        float a = mild((u32)in[0]) / 16, b = mild((u32)in[1]) / 16;
        __half x = __float2half(a), y = __float2half(b);
        __nv_bfloat16 p = __float2bfloat16(a), q = __float2bfloat16(b);
        int k = 0;
        out[k++] = bits(__half2float(x));
        out[k++] = bits(__bfloat162float(p));
        out[k++] = bits(__half2float(__hadd(x, y)));
        out[k++] = bits(__half2float(__hmul(x, __float2half(0.125f))));
        out[k++] = bits(__half2float(__hsub(x, y)));
        out[k++] = bits(__bfloat162float(__hadd(p, q)));
        out[k++] = bits(__bfloat162float(__hmul(p, q)));
        out[k++] = __hlt(x, y) + 2 * __heq(x, x) + 4 * __hge(x, y);
        out[k++] = __hgt(p, q) + 2 * __hle(p, q);
        __half2 u = __halves2half2(x, y), v = __halves2half2(y, x);
        __half2 w = __hadd2(u, v);
        out[k++] = bits(__low2float(w)) + bits(__high2float(__hsub2(u, v)));
        out[k++] = bits(__half2float(__hmax(x, y))) + bits(__half2float(__hmin(x, y)));
        out[k++] = (u32)__half2int_rz(x);
        out[k++] = bits(__half2float(__int2half_rn((s32)(in[2] % 4000) - 2000)));
        out[k++] = bits(__half2float(__float2half(real((u32)in[0]))));
        out[k++] = bits(__bfloat162float(__float2bfloat16(real((u32)in[1]))));
    }
};

// Functions that need not agree to the last bit.
struct Functions {
    BOTH void operator()(const u64 *in, double *out) const {
        float a = mild((u32)in[0]) / 100;
        double d = mild64(in[1]) / 1e7;
        int k = 0;
        out[k++] = sinf(a); out[k++] = cosf(a); out[k++] = tanf(a / 16); out[k++] = expf(a / 4); out[k++] = exp2f(a / 4);
        out[k++] = logf(fabsf(a) + 0.01f); out[k++] = log2f(fabsf(a) + 0.01f); out[k++] = powf(fabsf(a) + 0.5f, 1.7f); out[k++] = tanhf(a);
        out[k++] = atan2f(a, 3); out[k++] = 1 / sqrtf(fabsf(a) + 1); out[k++] = cbrtf(a); out[k++] = erff(a / 8); out[k++] = sinf(a * 1e6f);
        out[k++] = sin(d); out[k++] = cos(d); out[k++] = exp(d / 1000); out[k++] = log(fabs(d) + 1); out[k++] = pow(fabs(d) + 1, 0.7); out[k++] = atan(d);
        out[k++] = 1 / sqrt(fabs(d) + 1); out[k++] = cbrt(d); out[k++] = erf(d / 100); out[k++] = tgamma(fabs(a) / 8 + 1); out[k++] = sin(d * 1e9);
        out[k++] = acosf(a / 32); out[k++] = asin(d / 30); out[k++] = log1pf(fabsf(a)); out[k++] = expm1(d / 1000); out[k++] = sinhf(a / 8);
    }
};

struct Flow {
    BOTH void operator()(const u64 *in, u64 *out) const {
        u32 a = (u32)in[0];
        u32 steps = 0, x = a | 1;
        while (x != 1 && steps < 200) x = x & 1 ? 3 * x + 1 : x / 2, steps++;
        out[0] = steps;
        u64 sum = 0;
        for (u32 i = 0; i < a % 37; i++) {
            if (i % 5 == 3) continue;
            if (sum > 1000) break;
            for (u32 j = i; j < 10; j++) sum += i * j + 1;
        }
        out[1] = sum;
        switch (in[1] % 13) {
        case 0: out[2] = a * 3; break;
        case 1: out[2] = a ^ 0x1234; break;
        case 2: out[2] = a / 3; break;
        case 3: out[2] = a % 17; break;
        case 4: out[2] = a + 99; break;
        case 5: out[2] = ~a; break;
        case 6: out[2] = a << 5; break;
        case 7: out[2] = a >> 5; /* falls through */
        case 8: out[2] = a - 77; break;
        case 9: out[2] = a * a; break;
        default: out[2] = 42;
        }
        // An array that is indexed by data lies in local memory.
        u32 own[16];
        for (int i = 0; i < 16; i++) own[i] = a * i;
        for (int i = 0; i < 16; i++) own[(a >> (i & 7)) & 15] += own[(in[1] >> i) & 15];
        u32 mixed = 0;
        for (int i = 0; i < 16; i++) mixed = mixed * 31 + own[i];
        out[3] = mixed;
    }
};

BOTH __noinline__ u32 ackermann(u32 m, u32 n) { return !m ? n + 1 : !n ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
BOTH __noinline__ u32 twice(u32 x) { return 2 * x + 1; }
BOTH __noinline__ u32 thrice(u32 x) { return 3 * x + 2; }
struct Shape { BOTH virtual u32 area(u32) const = 0; };
struct Square : Shape { BOTH u32 area(u32 x) const { return x * x; } };
struct Oblong : Shape { BOTH u32 area(u32 x) const { return x * (x + 1); } };

struct Calls {
    BOTH void operator()(const u64 *in, u64 *out) const {
        u32 a = (u32)in[0];
        out[0] = ackermann(a % 3, in[1] % 4);
        u32 (*which[])(u32) = {twice, thrice};
        out[1] = which[in[1] & 1](a);
        Square square;
        Oblong oblong;
        const Shape *shape = in[2] & 1 ? (const Shape *)&square : &oblong;
        out[2] = shape->area(a & 0xff);
    }
};

template <class F, class T> __global__ void each(F f, const u64 *in, T *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) f(in + 3 * i, out + OUT * i);
}

static u64 state = 88172645463325252ull;
static u64 random64() { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }
static u64 *in, *host_in;

static void said(const char *name, int wrong, const char *more = "") { printf("%s %d%s\n", name, wrong, more); }

template <class F> static void exact(const char *name, F f)
{
    u64 *out, *seen = (u64 *)calloc(N * OUT, 8), *mine = (u64 *)calloc(N * OUT, 8);
    int wrong = 0, per[OUT] = {0};
    cudaMalloc(&out, N * OUT * 8);
    cudaMemset(out, 0, N * OUT * 8);
    each<<<N / 128, 128>>>(f, in, out);
    cudaMemcpy(seen, out, N * OUT * 8, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) f(host_in + 3 * i, mine + OUT * i);
    for (int i = 0; i < N * OUT; i++)
        if (seen[i] != mine[i]) {
            wrong++;
            if (!per[i % OUT]++ && getenv("VERBOSE")) fprintf(stderr, "%s[%d] input %d: %llx, not %llx (%llx %llx %llx)\n", name, i % OUT, i / OUT, (unsigned long long)seen[i], (unsigned long long)mine[i], (unsigned long long)host_in[3 * (i / OUT)], (unsigned long long)host_in[3 * (i / OUT) + 1], (unsigned long long)host_in[3 * (i / OUT) + 2]);
        }
    said(name, wrong);
    cudaFree(out);
}

static void near(const char *name)
{
    double *out, *seen = (double *)calloc(N * OUT, 8), *mine = (double *)calloc(N * OUT, 8);
    int wrong = 0, per[OUT] = {0};
    Functions f;
    cudaMalloc(&out, N * OUT * 8);
    cudaMemset(out, 0, N * OUT * 8);
    each<<<N / 128, 128>>>(f, in, out);
    cudaMemcpy(seen, out, N * OUT * 8, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) f(host_in + 3 * i, mine + OUT * i);
    for (int i = 0; i < N * OUT; i++)
        if (!(fabs(seen[i] - mine[i]) <= 2e-5 * fabs(mine[i]) + 1e-6)) {
            wrong++;
            if (!per[i % OUT]++ && getenv("VERBOSE")) fprintf(stderr, "%s[%d] input %d: %g, not %g\n", name, i % OUT, i / OUT, seen[i], mine[i]);
        }
    said(name, wrong);
    cudaFree(out);
}

// What lanes of a warp tell each other: each result compared with what the rule gives.
__global__ void lanes(int *wrong)
{
    u32 lane = threadIdx.x & 31, value = lane * lane + 7 * threadIdx.x, base = threadIdx.x & ~31u;
    auto of = [&](u32 l) { return l * l + 7 * (base + l); };
    int bad = 0;
    bad += __shfl_sync(~0u, value, (lane * 5) & 31) != of((lane * 5) & 31);
    bad += __shfl_up_sync(~0u, value, 3) != of(lane < 3 ? lane : lane - 3);
    bad += __shfl_down_sync(~0u, value, 5) != of(lane > 26 ? lane : lane + 5);
    bad += __shfl_xor_sync(~0u, value, 9) != of(lane ^ 9);
    bad += __shfl_down_sync(~0u, value, 2, 8) != of((lane & 7) > 5 ? lane : lane + 2);
    bad += __shfl_up_sync(~0u, value, 2, 16) != of((lane & 15) < 2 ? lane : lane - 2);
    bad += __shfl_sync(~0u, value, 3, 8) != of((lane & ~7u) + 3);
    bad += __ballot_sync(~0u, lane % 3 == 0) != 0x49249249u;
    bad += __any_sync(~0u, lane == 31) != 1;
    bad += __all_sync(~0u, lane < 31) != 0;
    bad += __match_any_sync(~0u, lane / 4) != 0xfu << (lane & ~3u);
    int all;
    bad += __match_all_sync(~0u, 5, &all) != ~0u || !all;
    bad += __reduce_add_sync(~0u, lane) != 496;
    bad += __reduce_max_sync(~0u, (int)lane - 40) != -9;
    bad += __reduce_min_sync(~0u, value) != of(0);
    bad += __reduce_xor_sync(~0u, 1u << lane) != ~0u;
    bad += __reduce_or_sync(~0u, lane) != 31;
    if (lane % 2) {
        bad += __activemask() != 0xaaaaaaaau;
        bad += __ballot_sync(0xaaaaaaaau, lane > 16) != 0xaaaa0000u;
        bad += __shfl_xor_sync(0xaaaaaaaau, value, 2) != of(lane ^ 2);
    } else bad += __reduce_add_sync(0x55555555u, lane) != 240;
    __syncwarp();
    bad += __activemask() != ~0u;
    bad += __popc(lane * 77) != __popcll(lane * 77);
    bad += __ffs(1 << lane) != (int)lane + 1;
    bad += __clz(1 << lane) != 31 - (int)lane;
    bad += __brev(1u << lane) != 1u << (31 - lane);
    bad += __clzll(1ll << lane) != 63 - (int)lane;
    bad += __byte_perm(0x03020100, 0x07060504, 0x7250) != 0x07020500u;
    bad += __funnelshift_l(0x12345678, 0x9abcdef0, 8) != 0xbcdef012u;
    bad += __funnelshift_r(0x12345678, 0x9abcdef0, 40) != 0xf0123456u;
    bad += __dp4a((int)0x01ff0203, (int)0x02030405, 10) != 10 + 2 - 3 + 8 + 15;
    bad += __vabsdiffu4(0x05040302u + (lane & 1), 0x01020304u) != (lane & 1 ? 0x04020001u : 0x04020002u);
    bad += __sad(-5, 7, 3u) != 15u;
    bad += __mulhi((int)0x80000000, 6) != -3;
    bad += __umul64hi(0xffffffffffffffffull, lane + 1ull) != lane;
    bad += __float2int_rn(2.5f + lane) != 2 + (int)lane + (int)(lane & 1);
    bad += __fadd_ru(1.0f, 1e-20f * (lane + 1)) <= 1.0f || __fadd_rz(1.0f, 1e-20f * (lane + 1)) != 1.0f;
    bad += __dadd_ru(1.0, 1e-40 * (lane + 1)) <= 1.0 || __dmul_rd(1.0 + 1e-10 * (lane + 1), 1.0 + 1e-10) >= __dmul_ru(1.0 + 1e-10 * (lane + 1), 1.0 + 1e-10);
    bad += __saturatef(2.0f + lane) != 1.0f || __saturatef(-1.0f) != 0.0f;
    if (bad) atomicAdd(wrong, bad);
}

__constant__ int table[16] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
__constant__ int given[4];
__device__ int counter = 5;
__device__ float ramp[32] = {0.5f, 1.5f};
__device__ int *pointer_to = &counter;

__global__ void variables(int *wrong)
{
    int i = threadIdx.x, bad = 0;
    bad += table[i & 15] != 1 << (i & 15);
    bad += given[i & 3] != 10 * (i & 3) + 3;
    bad += ramp[i & 1] != 0.5f + (i & 1);
    bad += *pointer_to < 5;
    atomicAdd(&counter, 1);
    if (bad) atomicAdd(wrong, bad);
}

// A sum in shared memory, a transposed tile, a barrier that counts, and a part of the block at a barrier of its own.
__global__ void shared(int *wrong)
{
    __shared__ int part[256];
    __shared__ float tile[16][17];
    extern __shared__ unsigned char more[];
    int t = threadIdx.x, bad = 0;
    part[t] = t;
    tile[t / 16][t % 16] = (float)t;
    more[t] = (unsigned char)(3 * t);
    __syncthreads();
    for (int step = 128; step; step /= 2) {
        if (t < step) part[t] += part[t + step];
        __syncthreads();
    }
    bad += part[0] != 255 * 128;
    bad += tile[t % 16][t / 16] != (float)(t % 16 * 16 + t / 16);
    bad += more[255 - t] != (unsigned char)(3 * (255 - t));
    bad += __syncthreads_count(t % 3 == 0) != 86;
    bad += __syncthreads_and(t < 256) == 0;
    bad += __syncthreads_and(t < 255) != 0;
    bad += __syncthreads_or(t == 200) == 0;
    if (t < 128) {
        part[t] = 1000 + t;
        asm volatile("bar.sync 1, 128;");
        bad += part[127 - t] != 1127 - t;
    }
    __syncthreads();
    int *generic = t & 1 ? part : wrong;
    bad += __isShared(generic) != (unsigned)(t & 1);
    if (bad) atomicAdd(wrong, bad);
}

struct Sums { int added, least, most; u32 wrapped, down; int ored, anded, xored, swapped, cas; unsigned long long wide, wide_max; float real; double real64; int shared, locked; };

__global__ void atomics(Sums *s)
{
    __shared__ int mine, lock;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!threadIdx.x) mine = 0, lock = 0;
    __syncthreads();
    atomicAdd(&s->added, i);
    atomicMin(&s->least, i - 100);
    atomicMax(&s->most, i - 1000);
    atomicInc(&s->wrapped, 9);
    atomicDec(&s->down, 6);
    atomicOr(&s->ored, 1 << (i & 31));
    atomicAnd(&s->anded, ~(1 << (i & 7)));
    atomicXor(&s->xored, i);
    atomicExch(&s->swapped, 77);
    for (int old = s->cas, seen;; old = seen)
        if ((seen = atomicCAS(&s->cas, old, old + 2)) == old) break;
    atomicAdd(&s->wide, 1ull << 33);
    atomicMax(&s->wide_max, (unsigned long long)i << 40);
    atomicAdd(&s->real, 0.5f);
    atomicAdd(&s->real64, 0.25);
    atomicAdd(&mine, 1);
    // A lock that lanes of one warp fight for.
    bool done = false;
    while (!done) {
        if (!atomicCAS(&lock, 0, 1)) {
            s->locked += 1;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    if (!threadIdx.x) atomicAdd(&s->shared, mine);
}

__global__ void copied(const float4 *from, int *wrong)
{
    __shared__ float4 into[128];
    int t = threadIdx.x, bad = 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"((u32)__cvta_generic_to_shared(into + t)), "l"(from + t));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    float4 v = into[127 - t];
    bad += v.x != 4.0f * (127 - t) || v.w != 4.0f * (127 - t) + 3;
    if (bad) atomicAdd(wrong, bad);
}

__global__ void spoken(int *wrong)
{
    int said = printf("thread %d says %s %5.2f %c %llx\n", threadIdx.x, "hello", 1.5 * threadIdx.x, 'a' + threadIdx.x, 0x123456789abcull);
    int *own = (int *)malloc(64);
    for (int i = 0; i < 16; i++) own[i] = i * threadIdx.x;
    int sum = 0;
    for (int i = 0; i < 16; i++) sum += own[i];
    free(own);
    if (said < 0 || sum != 120 * threadIdx.x) atomicAdd(wrong, 1);
}

using namespace nvcuda;
template <class T, class R> static __global__ void multiplied(const T *a, const T *b, R *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, R> z;
    wmma::fill_fragment(z, R(1));
    wmma::load_matrix_sync(x, a, 16);
    wmma::load_matrix_sync(y, b, 16);
    wmma::mma_sync(z, x, y, z);
    wmma::store_matrix_sync(c, z, 16, wmma::mem_row_major);
}
static __global__ void multiplied_tf32(const float *a, const float *b, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> z;
    wmma::fill_fragment(z, 1.0f);
    wmma::load_matrix_sync(x, a, 8);
    wmma::load_matrix_sync(y, b, 8);
    wmma::mma_sync(z, x, y, z);
    wmma::store_matrix_sync(c, z, 16, wmma::mem_row_major);
}
static __global__ void multiplied_double(const double *a, const double *b, double *c)
{
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> z;
    wmma::fill_fragment(z, 1.0);
    wmma::load_matrix_sync(x, a, 4);
    wmma::load_matrix_sync(y, b, 4);
    wmma::mma_sync(z, x, y, z);
    wmma::store_matrix_sync(c, z, 8, wmma::mem_row_major);
}

template <class T, class R, class K> static void matrices(const char *name, K kernel, int m, int n, int k)
{
    std::vector<T> a(m * k), b(n * k);
    std::vector<R> c(m * n);
    int wrong = 0;
    for (int i = 0; i < m * k; i++) a[i] = T((float)((i * 7) % 11 - 5));
    for (int i = 0; i < n * k; i++) b[i] = T((float)((i * 5) % 13 - 6));
    T *da, *db;
    R *dc;
    cudaMalloc(&da, a.size() * sizeof(T)), cudaMalloc(&db, b.size() * sizeof(T)), cudaMalloc(&dc, c.size() * sizeof(R));
    cudaMemcpy(da, a.data(), a.size() * sizeof(T), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), b.size() * sizeof(T), cudaMemcpyHostToDevice);
    kernel<<<1, 32>>>(da, db, dc);
    cudaMemcpy(c.data(), dc, c.size() * sizeof(R), cudaMemcpyDeviceToHost);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 1;
            for (int l = 0; l < k; l++) sum += (double)(float)a[i * k + l] * (double)(float)b[j * k + l];
            wrong += (double)(float)c[i * n + j] != sum;
        }
    said(name, wrong);
}

template <class K, class... A> static void own(const char *name, K kernel, int blocks, int threads, int bytes, A... arguments)
{
    int *wrong, seen = -1;
    cudaMalloc(&wrong, 4);
    cudaMemset(wrong, 0, 4);
    kernel<<<blocks, threads, bytes>>>(arguments..., wrong);
    cudaMemcpy(&seen, wrong, 4, cudaMemcpyDeviceToHost);
    said(name, seen);
}

int main()
{
    const u64 special[] = {0, 1, ~0ull, 1ull << 63, 1ull << 31, 0xffffffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x80000000, 0x00000001, 0x00800000,
                           0x7f7fffff, 0x3f800000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x0000000000000001, 0x0010000000000000, 0x7fefffffffffffff};
    host_in = (u64 *)malloc(N * 24);
    for (int i = 0; i < 3 * N; i++) {
        u64 v = random64();
        // Special numbers, small ones, and any.
        host_in[i] = v % 16 == 0 ? special[v / 16 % 20] : v % 16 < 4 ? v >> 56 : v % 16 < 7 ? v >> 32 : v;
    }
    cudaMalloc(&in, N * 24);
    cudaMemcpy(in, host_in, N * 24, cudaMemcpyHostToDevice);
    exact("integers", Integers());
    exact("wide", Wide());
    exact("floats", Floats());
    exact("doubles", Doubles());
    exact("conversions", Conversions());
    exact("halves", Halves());
    near("functions");
    exact("flow", Flow());
    exact("calls", Calls());
    own("lanes", lanes, 2, 64, 0);
    int values[4] = {3, 13, 23, 33}, seen = 0;
    cudaMemcpyToSymbol(given, values, sizeof values);
    own("variables", variables, 2, 32, 0);
    cudaMemcpyFromSymbol(&seen, counter, 4);
    said("counter", seen - 69);
    own("shared", shared, 3, 256, 256);
    Sums *sums, s = {};
    s.most = -5000, s.anded = -1;
    cudaMalloc(&sums, sizeof s);
    cudaMemcpy(sums, &s, sizeof s, cudaMemcpyHostToDevice);
    atomics<<<1, 96>>>(sums);
    cudaMemcpy(&s, sums, sizeof s, cudaMemcpyDeviceToHost);
    if (getenv("VERBOSE"))
        fprintf(stderr, "%d %d %d %u %u %d %d %d %d %d %llx %llx %g %g %d %d\n", s.added, s.least, s.most, s.wrapped, s.down, s.ored, s.anded, s.xored, s.swapped, s.cas, s.wide, s.wide_max, s.real, s.real64, s.shared, s.locked);
    said("atomics", (s.added != 95 * 48) + (s.least != -100) + (s.most != -905) + (s.wrapped != 6) + (s.down != (7 - 96 % 7) % 7) + (s.ored != -1) + (s.anded != ~255) + (s.xored != 0) +
                        (s.swapped != 77) + (s.cas != 192) + (s.wide != 96ull << 33) + (s.wide_max != 95ull << 40) + (s.real != 48.0f) + (s.real64 != 24.0) + (s.shared != 96) + (s.locked != 96));
    std::vector<float> line(512);
    for (int i = 0; i < 512; i++) line[i] = (float)i;
    float4 *from;
    cudaMalloc(&from, 2048);
    cudaMemcpy(from, line.data(), 2048, cudaMemcpyHostToDevice);
    own("copied", copied, 1, 128, 0, (const float4 *)from);
    own("spoken", spoken, 1, 4, 0);
    matrices<__half, float>("half-float", multiplied<__half, float>, 16, 16, 16);
    matrices<__half, __half>("half-half", multiplied<__half, __half>, 16, 16, 16);
    matrices<__nv_bfloat16, float>("bfloat", multiplied<__nv_bfloat16, float>, 16, 16, 16);
    matrices<signed char, int>("bytes", multiplied<signed char, int>, 16, 16, 16);
    matrices<float, float>("tf32", multiplied_tf32, 16, 16, 8);
    matrices<double, double>("doubles-8x8x4", multiplied_double, 8, 8, 4);
    return 0;
}
