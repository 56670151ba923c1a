#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <vector>

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    std::uint64_t next()
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }

private:
    std::uint64_t state_;
};

enum class Health : std::uint8_t { susceptible, ill, immune };

class Town {
public:
    Town(int width, int height) : width_(width), height_(height) {}
    int size() const { return width_ * height_; }
    template <class Visit>
    void contacts(int person, Visit visit) const
    {
        const int x = person % width_;
        const int y = person / width_;
        for (int dy = -1; dy <= 1; ++dy) {
            for (int dx = -1; dx <= 1; ++dx) {
                const int nx = x + dx;
                const int ny = y + dy;
                if ((dx != 0 || dy != 0) && nx >= 0 && ny >= 0 && nx < width_ && ny < height_)
                    visit(ny * width_ + nx);
            }
        }
    }

private:
    int width_;
    int height_;
};

class Epidemic {
public:
    Epidemic(const Town& town, double rate, int duration, std::uint64_t seed)
        : town_(town), rate_(rate), duration_(duration), random_(seed),
          health_(town.size(), Health::susceptible), days_(town.size(), 0) {}

    void infect(int person)
    {
        health_[person] = Health::ill;
        days_[person] = duration_;
    }

    void day()
    {
        std::vector<int> fresh;
        for (int person = 0; person < town_.size(); ++person) {
            if (health_[person] == Health::susceptible && random_.uniform() < pressure(person))
                fresh.push_back(person);
        }
        for (int person = 0; person < town_.size(); ++person) {
            if (health_[person] == Health::ill && --days_[person] == 0)
                health_[person] = Health::immune;
        }
        for (int person : fresh)
            infect(person);
    }

    int count(Health h) const
    {
        return std::accumulate(health_.begin(), health_.end(), 0,
                               [h](int n, Health v) { return n + (v == h ? 1 : 0); });
    }

private:
    double pressure(int person) const
    {
        double escape = 1.0;
        town_.contacts(person, [&](int other) {
            if (health_[other] == Health::ill)
                escape *= 1.0 - rate_;
        });
        return 1.0 - escape;
    }

    const Town& town_;
    double rate_;
    int duration_;
    Random random_;
    std::vector<Health> health_;
    std::vector<int> days_;
};

int main(int argc, char** argv)
{
    const int side = argc > 1 ? std::atoi(argv[1]) : 400;
    const int days = argc > 2 ? std::atoi(argv[2]) : 80;
    const Town town(side, side);
    Epidemic epidemic(town, 0.06, 6, 88172645463325252ULL);
    for (int k = 1; k < 6; ++k)
        epidemic.infect(town.size() * k / 6 + side / 2);
    for (int d = 1; d <= days; ++d) {
        epidemic.day();
        if (d % 20 == 0)
            std::cout << "day " << d << " susceptible " << epidemic.count(Health::susceptible)
                      << " ill " << epidemic.count(Health::ill)
                      << " immune " << epidemic.count(Health::immune) << '\n';
    }
    return 0;
}
