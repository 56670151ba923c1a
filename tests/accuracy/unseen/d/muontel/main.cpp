// Acceptance of a three-plane muon telescope: tracks are drawn from the
// cosmic-ray zenith distribution and counted by the pads that they cross.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace muon {

struct Track {
    float x, y;     // at the top plane
    float sx, sy;   // slopes
};

class Source {
public:
    explicit Source(std::uint64_t spill) : s_(spill * 0x9E3779B97F4A7C15ull + 88172645463325252ull) {}

    Track shoot()
    {
        Track t;
        std::uint64_t r = next();
        t.x = unit(r, 0) * 2.0f - 1.0f;
        t.y = unit(r, 20) * 2.0f - 1.0f;
        std::uint64_t q = next();
        float a = unit(q, 0) - unit(q, 20);
        float b = unit(q, 40) - unit(r, 40);
        t.sx = 0.9f * a;
        t.sy = 0.9f * b;
        return t;
    }

private:
    std::uint64_t next()
    {
        s_ ^= s_ << 13;
        s_ ^= s_ >> 7;
        s_ ^= s_ << 17;
        return s_;
    }
    static float unit(std::uint64_t r, int shift)
    {
        return static_cast<float>((r >> shift) & 0xFFFFF) * (1.0f / 1048576.0f);
    }
    std::uint64_t s_;
};

struct Hit {
    int planes;     // bit mask
    int quadrant;
};

class Tally {
public:
    void enter(const Hit& h)
    {
#pragma omp critical(tally)
        {
            for (int p = 0; p < 3; ++p)
                plane_[p] += (h.planes >> p) & 1;
            ++pad_[h.quadrant];
        }
    }
    std::uint32_t planeCount(int p) const { return plane_[p]; }
    std::uint32_t padCount(int k) const { return pad_[k]; }

private:
    std::array<std::uint32_t, 3> plane_{};
    std::array<std::uint32_t, 4> pad_{};
};

class Telescope {
public:
    Telescope(float half, float gap) : half_(half), gap_(gap) {}

    bool cross(const Track& t, Hit& hit) const
    {
        float x = t.x, y = t.y;
        hit.planes = 0;
        for (int p = 0; p < 3; ++p) {
            if (x > -half_ && x < half_ && y > -half_ && y < half_)
                hit.planes |= 1 << p;
            x += gap_ * t.sx;
            y += gap_ * t.sy;
        }
        hit.quadrant = (x > 0.0f ? 1 : 0) + (y > 0.0f ? 2 : 0);
        return (hit.planes & (hit.planes - 1)) != 0;
    }

private:
    float half_, gap_;
};

class Run {
public:
    Run(const Telescope& scope, int spills, int perSpill)
        : scope_(scope), spills_(spills), perSpill_(perSpill)
    {
    }

    Tally take() const
    {
        Tally tally;
#pragma omp parallel for schedule(static)
        for (int s = 0; s < spills_; ++s)
            spill(s, tally);
        return tally;
    }

private:
    void spill(int number, Tally& tally) const
    {
        Source src(static_cast<std::uint64_t>(number) + 1);
        Hit hit;
        for (int k = 0; k < perSpill_; ++k)
            if (scope_.cross(src.shoot(), hit))
                tally.enter(hit);
    }

    Telescope scope_;
    int spills_, perSpill_;
};

} // namespace muon

int main(int argc, char** argv)
{
    const int spills = argc > 1 ? std::atoi(argv[1]) : 8000;
    const int perSpill = 20000;
    muon::Run run(muon::Telescope(0.8f, 0.5f), spills, perSpill);
    muon::Tally t = run.take();

    double n = static_cast<double>(spills) * perSpill;
    for (int p = 0; p < 3; ++p)
        std::printf("plane %d  %10u  %.6f\n", p, t.planeCount(p), t.planeCount(p) / n);
    double two = 0.0;
    for (int k = 0; k < 4; ++k) {
        std::printf("quadrant %d  %10u\n", k, t.padCount(k));
        two += t.padCount(k);
    }
    std::printf("acceptance %.6f\n", two / n);
    return 0;
}
