// Orthographic drift in digitised newspapers: letter-bigram profiles per
// decade, and the Jensen-Shannon divergence between neighbouring decades.
#include <array>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <iomanip>
#include <locale>
#include <string>
#include <vector>

namespace {

constexpr int kLetters = 27;                 // a-z and the word gap
using Profile = std::array<double, kLetters * kLetters>;

class TextSource {
public:
    TextSource(int decade, std::uint32_t seed) : decade_(decade), s_(seed) {}

    // Delivers the next printed page.
    void page(std::string &out) {
        static const char *const stems[] = {
            "Town", "council", "harvest", "STEAMER", "arriv", "publick", "musick", "notice",
            "Parliament", "railway", "shew", "colour", "honour", "telegraph", "wharf", "Governor",
            "sheep", "gold", "mining", "weather", "the", "and", "of", "to", "in", "was", "upon"};
        static const char *const ends[] = {"", "s", "ed", "ing", "eth", "-", ", ", ". ", "; ", "", "", ""};
        out.clear();
        while (out.size() < 6000) {
            const char *w = stems[draw(27)];
            if (decade_ > 4 && draw(10) < static_cast<unsigned>(decade_) - 3) w = stems[16 + draw(11)];
            out += w;
            out += ends[draw(12)];
            if (draw(60) == 0) out += std::to_string(1800 + 10 * decade_ + draw(10));
            if (draw(300) == 0) out += '~';
            out += draw(12) == 0 ? '\n' : ' ';
        }
    }

private:
    unsigned draw(unsigned n) {
        s_ = s_ * 1103515245u + 12345u;
        return static_cast<unsigned>((static_cast<std::uint64_t>(s_ >> 8) * n) >> 24);
    }
    int decade_;
    std::uint32_t s_;
};

int letterIndex(char c) {
    const std::locale loc;
    if (!std::isalpha(c, loc)) return 26;
    return std::tolower(c, loc) - 'a';
}

class BigramCounter {
public:
    BigramCounter() : n_{} {}

    void add(const std::string &text) {
        int prev = 26;
        for (char c : text) {
            const int cur = letterIndex(c);
            if (!(prev == 26 && cur == 26)) ++n_[prev * kLetters + cur];
            prev = cur;
        }
    }

    Profile normalised() const {
        Profile p;
        std::uint64_t total = 0;
        for (auto v : n_) total += v;
        for (std::size_t i = 0; i < n_.size(); ++i) p[i] = (n_[i] + 0.5) / (total + 0.5 * n_.size());
        return p;
    }

    std::uint64_t count(char a, char b) const { return n_[(a - 'a') * kLetters + (b - 'a')]; }

private:
    std::array<std::uint64_t, kLetters * kLetters> n_;
};

double divergence(const Profile &p, const Profile &q) {
    double d = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
        const double m = 0.5 * (p[i] + q[i]);
        d += 0.5 * p[i] * std::log2(p[i] / m) + 0.5 * q[i] * std::log2(q[i] / m);
    }
    return d;
}

} // namespace

int main() {
    const int decades = 10, pages = 2400;
    std::vector<BigramCounter> counters(decades);
    std::string page;
    for (int d = 0; d < decades; ++d) {
        TextSource src(d, 4711u + 97u * d);
        for (int k = 0; k < pages; ++k) {
            src.page(page);
            counters[d].add(page);
        }
    }
    std::cout << std::fixed << std::setprecision(8);
    for (int d = 0; d + 1 < decades; ++d)
        std::cout << 1800 + 10 * d << " -> " << 1810 + 10 * d << "  "
                  << divergence(counters[d].normalised(), counters[d + 1].normalised())
                  << "  ck " << counters[d].count('c', 'k') << "  ou " << counters[d].count('o', 'u') << '\n';
    return 0;
}
