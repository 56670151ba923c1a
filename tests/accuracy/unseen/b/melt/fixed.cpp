#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

struct Record {
    int molecule;
    int place;
    float x, y, z;
};

struct Bead {
    float x, y, z;
    int next;
};

class Trajectory {
public:
    Trajectory(int molecules, int length) : molecules_(molecules), length_(length)
    {
        bits_ = 0;
        while ((std::size_t(1) << bits_) < std::size_t(molecules) * length)
            ++bits_;
    }

    std::vector<Record> snapshot() const
    {
        std::vector<Record> out;
        out.reserve(std::size_t(molecules_) * length_);
        const std::uint32_t top = 1u << bits_;
        for (std::uint32_t t = 0; t < top; ++t) {
            const std::uint32_t key = written(t);
            if (key >= std::uint32_t(molecules_) * length_)
                continue;
            const int m = int(key / length_);
            const int k = int(key % length_);
            out.push_back({m, k, wobble(key, 1) + 0.8f * k, wobble(key, 2) + 3.0f * (m % 64), wobble(key, 3)});
        }
        return out;
    }

private:
    std::uint32_t written(std::uint32_t v) const
    {
        const std::uint32_t mask = (1u << bits_) - 1;
        v = (v * 0x9e3779b1u + 0x7f4a7c15u) & mask;
        v ^= v >> (bits_ / 2);
        v = (v * 0x85ebca6bu) & mask;
        v ^= v >> (bits_ / 2 + 1);
        v = (v * 0xc2b2ae35u) & mask;
        return v ^ (v >> (bits_ / 2));
    }

    static float wobble(std::uint32_t key, std::uint32_t axis)
    {
        std::uint32_t h = key * 0x27d4eb2fu + axis * 0x165667b1u;
        h ^= h >> 15;
        h *= 0x2c1b3c6du;
        h ^= h >> 13;
        return float(h >> 8) * (1.0f / 16777216.0f) - 0.5f;
    }

    int molecules_, length_, bits_;
};

class Strand {
public:
    struct Cursor {
        const Bead* pool;
        int at;
        const Bead& operator*() const { return pool[at]; }
        Cursor& operator++()
        {
            at = pool[at].next;
            return *this;
        }
        bool operator!=(const Cursor& o) const { return at != o.at; }
    };
    Strand(const Bead* pool, int head) : pool_(pool), head_(head) {}
    Cursor begin() const { return {pool_, head_}; }
    Cursor end() const { return {pool_, -1}; }

private:
    const Bead* pool_;
    int head_;
};

class Melt {
public:
    Melt(std::vector<Record> frame, int molecules, int length) : heads_(molecules)
    {
        std::vector<Record> ordered(frame.size());
        for (const Record& r : frame)
            ordered[std::size_t(r.molecule) * length + r.place] = r;
        frame.swap(ordered);
        std::vector<int> where(frame.size());
        for (std::size_t i = 0; i < frame.size(); ++i)
            where[std::size_t(frame[i].molecule) * length + frame[i].place] = int(i);
        beads_.reserve(frame.size());
        for (const Record& r : frame) {
            const bool last = r.place + 1 == length;
            const int next = last ? -1 : where[std::size_t(r.molecule) * length + r.place + 1];
            beads_.push_back({r.x, r.y, r.z, next});
        }
        for (int m = 0; m < molecules; ++m)
            heads_[m] = where[std::size_t(m) * length];
    }

    int size() const { return int(heads_.size()); }
    Strand strand(int m) const { return Strand(beads_.data(), heads_[m]); }

private:
    std::vector<Bead> beads_;
    std::vector<int> heads_;
};

static double contour(const Strand& s)
{
    double total = 0;
    const Bead* before = nullptr;
    for (const Bead& b : s) {
        if (before) {
            const float dx = b.x - before->x, dy = b.y - before->y, dz = b.z - before->z;
            total += std::sqrt(dx * dx + dy * dy + dz * dz);
        }
        before = &b;
    }
    return total;
}

static double gyration(const Strand& s)
{
    double sx = 0, sy = 0, sz = 0, sq = 0;
    int n = 0;
    for (const Bead& b : s) {
        sx += b.x;
        sy += b.y;
        sz += b.z;
        sq += b.x * b.x + b.y * b.y + b.z * b.z;
        ++n;
    }
    return sq / n - (sx * sx + sy * sy + sz * sz) / (double(n) * n);
}

int main(int argc, char** argv)
{
    const int molecules = argc > 1 ? std::atoi(argv[1]) : 4096;
    const int length = argc > 2 ? std::atoi(argv[2]) : 1024;
    const Trajectory run(molecules, length);
    const Melt melt(run.snapshot(), molecules, length);
    double path = 0, spread = 0;
    for (int m = 0; m < melt.size(); ++m)
        path += contour(melt.strand(m));
    for (int m = 0; m < melt.size(); ++m)
        spread += gyration(melt.strand(m));
    std::printf("contour  %.6f\ngyration %.6f\n", path / molecules, spread / molecules);
    return 0;
}
