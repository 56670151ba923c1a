// Reads detector hits from an event dump and fits helix tracks to them.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

struct Hit {
    int layer;
    double x, y, z;
};

struct Track {
    double curvature, phi, chi2;
};

static double lcg(unsigned long long &s) {
    s = s * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(s >> 11) / 9007199254740992.0;
}

__attribute__((noinline)) std::string dumpEvent(int nhits) {
    unsigned long long s = 12345;
    std::string text;
    char line[96];
    for (int i = 0; i < nhits; ++i) {
        int layer = i % 10;
        double r = 30.0 + 10.0 * layer, phi = 6.283185307 * lcg(s);
        std::snprintf(line, sizeof line, "%d %.4f %.4f %.4f\n", layer, r * std::cos(phi),
                      r * std::sin(phi), 200.0 * (lcg(s) - 0.5));
        text += line;
    }
    return text;
}

__attribute__((noinline)) std::vector<Hit> readHits(const std::string &text) {
    std::vector<Hit> hits;
    const char *p = text.c_str();
    Hit h;
    int used = 0;
    while (*p && std::sscanf(p, "%d %lf %lf %lf%n", &h.layer, &h.x, &h.y, &h.z, &used) == 4) {
        hits.push_back(h);
        p += used;
        if (*p == '\n') ++p;
    }
    return hits;
}

__attribute__((noinline)) void alignLayers(std::vector<Hit> &hits) {
    for (auto &h : hits) {
        double tilt = 1e-4 * (h.layer + 1);
        double x = h.x * std::cos(tilt) - h.y * std::sin(tilt);
        h.y = h.x * std::sin(tilt) + h.y * std::cos(tilt);
        h.x = x;
    }
}

__attribute__((noinline)) Track fitTrack(const Hit *h, int count, int iterations) {
    Track t{0.001, std::atan2(h[0].y, h[0].x), 0.0};
    for (int it = 0; it < iterations; ++it) {
        double g1 = 0, g2 = 0, h11 = 1e-9, h22 = 1e-9, chi2 = 0;
        for (int i = 0; i < count; ++i) {
            double r = std::hypot(h[i].x, h[i].y);
            double expected = t.phi + std::asin(std::fmin(1.0, std::fmax(-1.0, 0.5 * r * t.curvature)));
            double d = std::sin(std::atan2(h[i].y, h[i].x) - expected);
            g1 += d * 0.5 * r;
            g2 += d;
            h11 += 0.25 * r * r;
            h22 += 1.0;
            chi2 += d * d / 0.01;
        }
        t.curvature += 0.5 * g1 / h11;
        t.phi += 0.5 * g2 / h22;
        t.chi2 = chi2;
    }
    return t;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? std::atoi(argv[1]) : 20000;
    std::string text = dumpEvent(n);
    std::vector<Hit> hits = readHits(text);
    alignLayers(hits);
    double chi2 = 0.0, curv = 0.0;
    int tracks = 0;
    for (size_t i = 0; i + 10 <= hits.size(); i += 10, ++tracks) {
        Track t = fitTrack(&hits[i], 10, 90);
        chi2 += t.chi2;
        curv += t.curvature;
    }
    std::printf("hits %zu  tracks %d  <chi2> %.5f  <curv> %.6e\n", hits.size(), tracks, chi2 / tracks,
                curv / tracks);
    return 0;
}
