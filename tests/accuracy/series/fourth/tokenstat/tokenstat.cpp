// Word statistics of a (synthetic) newspaper corpus: stems, frequencies, bigrams.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

static uint32_t state = 2463534242u;
static uint32_t draw() { state ^= state << 13; state ^= state >> 17; state ^= state << 5; return state; }

__attribute__((noinline)) std::string compose_text(size_t words) {
    static const char *syl[] = {"ka", "to", "mi", "ren", "sal", "dor", "ing", "est", "ly", "u", "ber", "ness", "al", "ed", "qui", "or"};
    std::string t;
    for (size_t i = 0; i < words; ++i) {
        double u = (draw() + 1.0) / 4294967297.0;
        uint32_t rank = uint32_t(1.0 / (u + 2e-4));
        uint32_t h = rank * 2654435761u;
        int k = 1 + (rank > 3) + (rank > 40) + (rank > 400);
        for (int s = 0; s < k; ++s) { t += syl[h >> 28]; h = h * 1664525u + 1013904223u; }
        t += (draw() % 12 == 0) ? ". " : " ";
    }
    return t;
}

__attribute__((noinline)) std::vector<std::string> make_headwords(int n) {
    static const char *c = "kmrstdbnlg", *v = "aeiou";
    std::vector<std::string> h(n);
    for (int i = 0; i < n; ++i)
        h[i] = {c[i % 10], v[i % 5], c[i / 10 % 10], v[i / 7 % 5], c[i / 3 % 10]};
    return h;
}

class Tokenizer {
    std::string rest_;
public:
    explicit Tokenizer(const std::string &text) : rest_(text) {}
    __attribute__((noinline)) bool next(std::string &word) {
        size_t b = rest_.find_first_not_of(" .,;\n");
        if (b == std::string::npos) return false;
        size_t e = rest_.find_first_of(" .,;\n", b);
        if (e == std::string::npos) e = rest_.size();
        word.assign(rest_, b, e - b);
        rest_.erase(0, e);
        return true;
    }
};

__attribute__((noinline)) std::string stem(const std::string &w) {
    static const char *suffix[] = {"ingness", "nessly", "ness", "ing", "est", "ed", "ly", "al"};
    std::string s = w;
    bool again = true;
    while (again) {
        again = false;
        for (const char *x : suffix) {
            std::string y(x);
            if (s.size() > y.size() + 2 && s.compare(s.size() - y.size(), y.size(), y) == 0) {
                s.resize(s.size() - y.size());
                again = true;
            }
        }
    }
    return s;
}

// Levenshtein distance against a short list of headwords
__attribute__((noinline)) int nearest_headword(const std::string &w, const std::vector<std::string> &heads) {
    int best = 1 << 20, arg = -1, row[64];
    for (size_t h = 0; h < heads.size(); ++h) {
        const std::string &v = heads[h];
        int m = std::min<int>(v.size(), 63);
        for (int j = 0; j <= m; ++j) row[j] = j;
        for (size_t i = 1; i <= w.size(); ++i) {
            int diag = row[0];
            row[0] = int(i);
            for (int j = 1; j <= m; ++j) {
                int c = std::min({row[j] + 1, row[j - 1] + 1, diag + (w[i - 1] != v[j - 1])});
                diag = row[j];
                row[j] = c;
            }
        }
        if (row[m] < best) { best = row[m]; arg = int(h); }
    }
    return arg;
}

__attribute__((noinline)) double entropy(const std::unordered_map<std::string, long> &freq, double total) {
    double h = 0;
    for (auto &f : freq) h -= f.second / total * std::log2(f.second / total);
    return h;
}

int main(int argc, char **argv) {
    size_t n = argc > 1 ? strtoul(argv[1], nullptr, 10) : 20000;
    std::string text = compose_text(n);
    auto heads = make_headwords(300);
    std::vector<long> group(heads.size());
    std::unordered_map<std::string, long> freq, pairs;
    Tokenizer tok(text);
    std::string w, last;
    long total = 0;
    while (tok.next(w)) {
        std::string s = stem(w);
        ++freq[s];
        ++group[nearest_headword(w, heads)];
        if (total++) ++pairs[last + '_' + s];
        last = s;
    }
    printf("%ld tokens, %zu stems, %zu bigrams\n", total, freq.size(), pairs.size());
    printf("entropy %.4f bits, bigram %.4f bits, first group %ld\n", entropy(freq, total), entropy(pairs, total - 1), group[0]);
    return 0;
}
