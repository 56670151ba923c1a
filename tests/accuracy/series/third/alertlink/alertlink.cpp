// Nightly transient stream: photometric period search and association of
// alerts with survey objects.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

struct Alert {
    uint64_t objectId;
    double ra, dec, mjd, mag;
};

struct SkyObject {
    uint64_t id;
    int detections;
    float meanMag;
    double ra, dec;
};

constexpr int kTrialPeriods = 220;

__attribute__((noinline)) std::vector<Alert> simulateNight(int n, unsigned seed) {
    std::mt19937_64 gen(seed);
    std::uniform_real_distribution<double> u(0.0, 1.0);
    std::normal_distribution<double> noise(0.0, 0.05);
    std::vector<Alert> alerts(n);
    for (auto &a : alerts) {
        a.objectId = 1 + gen() % (uint64_t)(2 * n);
        a.ra = 360.0 * u(gen);
        a.dec = std::asin(2.0 * u(gen) - 1.0) * 57.29577951308232;
        a.mjd = 60000.0 + u(gen);
        a.mag = 19.0 + 2.5 * u(gen) + noise(gen);
    }
    return alerts;
}

__attribute__((noinline)) double periodScore(const Alert &a) {
    double best = 0.0;
    for (int k = 1; k <= kTrialPeriods; ++k) {
        double phase = 6.283185307179586 * (a.mjd - 60000.0) * k / 3.7;
        double c = std::cos(phase), s = std::sin(phase);
        double power = (a.mag - 20.0) * (c + 0.5 * s);
        power = std::log1p(power * power / (1.0 + 0.02 * k));
        best = std::max(best, power);
    }
    return best;
}

__attribute__((noinline)) void sortByDeclination(std::vector<Alert> &alerts) {
    std::sort(alerts.begin(), alerts.end(),
              [](const Alert &a, const Alert &b) { return a.dec < b.dec; });
}

__attribute__((noinline)) void associate(std::vector<SkyObject> &catalogue, const Alert &a) {
    auto it = std::find_if(catalogue.begin(), catalogue.end(),
                           [&](const SkyObject &o) { return o.id == a.objectId; });
    if (it == catalogue.end()) {
        catalogue.push_back({a.objectId, 1, (float)a.mag, a.ra, a.dec});
        return;
    }
    it->detections++;
    it->meanMag += ((float)a.mag - it->meanMag) / it->detections;
}

__attribute__((noinline)) double galacticExtinction(const Alert &a) {
    const double d2r = 0.017453292519943295;
    double sb = std::sin(a.dec * d2r) * 0.4559838 +
                std::cos(a.dec * d2r) * 0.8899881 * std::cos((a.ra - 192.85948) * d2r);
    return 0.15 / std::max(std::fabs(sb), 0.05);
}

int main(int argc, char **argv) {
    int n = argc > 1 ? std::atoi(argv[1]) : 16000;
    auto alerts = simulateNight(n, 20240611u);
    sortByDeclination(alerts);

    double scoreSum = 0.0;
    for (auto &a : alerts) {
        a.mag -= galacticExtinction(a);
        scoreSum += periodScore(a);
    }

    std::vector<SkyObject> catalogue;
    for (const auto &a : alerts) associate(catalogue, a);

    int repeats = 0;
    for (const auto &o : catalogue) repeats += o.detections > 1;
    std::printf("alerts %d  objects %zu  repeated %d  mean score %.6f\n", n, catalogue.size(),
                repeats, scoreSum / n);
    return 0;
}
