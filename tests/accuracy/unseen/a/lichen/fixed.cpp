#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Ring {
    std::array<int, 8> id;
    int n = 0;
    void push_back(int c) { id[n++] = c; }
    const int *begin() const { return id.data(); }
    const int *end() const { return id.data() + n; }
};

class Rock {
public:
    Rock(int w, int h) : w_(w), h_(h), age_(std::size_t(w) * h, 0) {}
    int cells() const { return w_ * h_; }
    int age(int c) const { return age_[c]; }
    void set(int c, int a) { age_[c] = uint8_t(a); }

    Ring around(int c) const
    {
        Ring out;
        int x = c % w_, y = c / w_;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int u = x + dx, v = y + dy;
                if ((dx || dy) && u >= 0 && u < w_ && v >= 0 && v < h_)
                    out.push_back(v * w_ + u);
            }
        return out;
    }

private:
    int w_, h_;
    std::vector<uint8_t> age_;
};

static uint32_t mix(uint32_t a, uint32_t b)
{
    uint32_t h = a * 2654435761u ^ b * 2246822519u;
    h ^= h >> 15;
    h *= 3266489917u;
    return h ^ (h >> 13);
}

static void sow(Rock &rock, int seeds)
{
    for (int i = 0; i < seeds; i++)
        rock.set(int(mix(uint32_t(i), 77u) % uint32_t(rock.cells())), 1);
}

static int pressure(const Rock &rock, int c)
{
    int p = 0;
    for (int k : rock.around(c)) {
        int a = rock.age(k);
        if (a > 2 && a < 20)
            p += 2;
        else if (a > 0)
            p += 1;
    }
    return p;
}

static int successor(int age, int p, uint32_t dice)
{
    if (age == 0)
        return p > 0 && dice % 64 < uint32_t(p) ? 1 : 0;
    if (age > 40)
        return dice % 8 == 0 ? 0 : age;
    if (p > 12 && dice % 32 == 0)
        return 0;
    return age + 1;
}

static void season(const Rock &now, Rock &next, int t)
{
    for (int c = 0; c < now.cells(); c++) {
        int p = pressure(now, c);
        next.set(c, successor(now.age(c), p, mix(uint32_t(c), uint32_t(t))));
    }
}

static void report(const Rock &rock, int t)
{
    std::array<long, 5> band{};
    for (int c = 0; c < rock.cells(); c++) {
        int a = rock.age(c);
        band[a == 0 ? 0 : a < 3 ? 1 : a < 20 ? 2 : a < 40 ? 3 : 4]++;
    }
    std::printf("season %3d  bare %ld new %ld young %ld grown %ld old %ld\n", t, band[0],
                band[1], band[2], band[3], band[4]);
}

int main(int argc, char **argv)
{
    int w = argc > 1 ? std::atoi(argv[1]) : 400;
    int h = argc > 2 ? std::atoi(argv[2]) : 300;
    int seasons = argc > 3 ? std::atoi(argv[3]) : 80;
    Rock now(w, h), next(w, h);
    sow(now, 300);
    for (int t = 1; t <= seasons; t++) {
        season(now, next, t);
        std::swap(now, next);
        if (t % 20 == 0)
            report(now, t);
    }
    return 0;
}
