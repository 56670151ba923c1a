// Letter trigram language model: perplexity of sentences under interpolated smoothing
#include <mpi.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static const int A = 27;   // letters and the blank

struct Lcg {
    uint64_t s;
    explicit Lcg(uint64_t seed) : s(seed * 2862933555777941757ULL + 3037000493ULL) {}
    uint32_t next() { s = s * 6364136223846793005ULL + 1442695040888963407ULL; return uint32_t(s >> 33); }
};

struct Model {
    std::vector<double> tri, bi, uni;
    double l3 = 0.6, l2 = 0.3, l1 = 0.1;
    Model() : tri(A * A * A, 0.1), bi(A * A, 0.1), uni(A, 0.1) {}
};

__attribute__((noinline)) std::string write_text(uint64_t seed, int length) {
    Lcg g(seed);
    std::string s(length, ' ');
    int a = 0, b = 0;
    for (int i = 0; i < length; i++) {
        int c = (g.next() % 5 < 3) ? (a * 5 + b * 3 + int(g.next() % 3)) % A : int(g.next() % A);
        s[i] = char(c == 26 ? ' ' : 'a' + c);
        a = b;
        b = c;
    }
    return s;
}

static inline int letter(char c) { return c == ' ' ? 26 : c - 'a'; }

static inline double prob(const Model &m, int a, int b, int c) {
    return m.l3 * m.tri[(a * A + b) * A + c] + m.l2 * m.bi[b * A + c] + m.l1 * m.uni[c];
}

__attribute__((noinline)) void count_letters(Model &m, const std::string &text) {
    for (size_t i = 2; i < text.size(); i++) {
        int a = letter(text[i - 2]), b = letter(text[i - 1]), c = letter(text[i]);
        m.tri[(a * A + b) * A + c] += 1;
        m.bi[b * A + c] += 1;
        m.uni[c] += 1;
    }
    auto normalise = [](std::vector<double> &v) {
        for (size_t r = 0; r < v.size(); r += A) {
            double s = 0;
            for (int c = 0; c < A; c++) s += v[r + c];
            for (int c = 0; c < A; c++) v[r + c] /= s;
        }
    };
    normalise(m.tri);
    normalise(m.bi);
    normalise(m.uni);
}

// EM for the interpolation weights on held-out text
__attribute__((noinline)) void fit_weights(Model &m, const std::string &text, int rounds) {
    for (int it = 0; it < rounds; it++) {
        double e3 = 0, e2 = 0, e1 = 0;
        for (size_t i = 2; i < text.size(); i++) {
            int a = letter(text[i - 2]), b = letter(text[i - 1]), c = letter(text[i]);
            double p = prob(m, a, b, c);
            e3 += m.l3 * m.tri[(a * A + b) * A + c] / p;
            e2 += m.l2 * m.bi[b * A + c] / p;
            e1 += m.l1 * m.uni[c] / p;
        }
        double s = e1 + e2 + e3;
        m.l3 = e3 / s;
        m.l2 = e2 / s;
        m.l1 = e1 / s;
    }
}

__attribute__((noinline)) double score_sentence(const Model &m, const std::string &s) {
    double ll = 0;
    for (size_t i = 2; i < s.size(); i++)
        ll -= std::log2(prob(m, letter(s[i - 2]), letter(s[i - 1]), letter(s[i])));
    return ll;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int sentences = argc > 1 ? atoi(argv[1]) : 120000;
    int rounds = argc > 2 ? atoi(argv[2]) : 90;
    Model m;
    count_letters(m, write_text(1, 400000));
    fit_weights(m, write_text(2, 1500000), rounds);
    double bits = 0, all = 0;
    for (int k = rank; k < sentences; k += size) bits += score_sentence(m, write_text(100 + k, 300));
    MPI_Reduce(&bits, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("weights %.4f %.4f %.4f  bits per letter %.6f\n", m.l3, m.l2, m.l1, all / (298.0 * sentences));
    MPI_Finalize();
    return 0;
}
