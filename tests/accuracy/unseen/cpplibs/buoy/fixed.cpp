// Synthetic wave buoy: heave record of a JONSWAP sea, sampled and stored with its running statistics.
// usage: main [samples] [components] [file]
#include <hdf5.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

class Handle {
public:
    using Closer = herr_t (*)(hid_t);
    Handle(hid_t id, Closer close) : id_(id), close_(close) {
        if (id < 0) throw std::runtime_error("hdf5 call failed");
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() { close_(id_); }
    operator hid_t() const { return id_; }

private:
    hid_t id_;
    Closer close_;
};

class Record {
public:
    Record(hid_t file, const std::string& name, hsize_t length)
        : length_(length), space_(H5Screate_simple(1, &length_, nullptr), H5Sclose),
          set_(H5Dcreate2(file, name.c_str(), H5T_NATIVE_DOUBLE, space_, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose) {}

    void append(double value) {
        pending_.push_back(value);
        if (pending_.size() == 16384) flush();
    }

    void flush() {
        const hsize_t count = pending_.size();
        if (count == 0) return;
        Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose);
        H5Sselect_hyperslab(space_, H5S_SELECT_SET, &position_, nullptr, &count, nullptr);
        if (H5Dwrite(set_, H5T_NATIVE_DOUBLE, memory, space_, H5P_DEFAULT, pending_.data()) < 0)
            throw std::runtime_error("write failed");
        position_ += count;
        pending_.clear();
    }

    std::vector<double> readBack() const {
        std::vector<double> all(length_);
        H5Dread(set_, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data());
        return all;
    }

private:
    hsize_t length_;
    hsize_t position_ = 0;
    Handle space_;
    Handle set_;
    std::vector<double> pending_;
};

class Sea {
public:
    Sea(int components, double hs, double tp, double dt) {
        const double fp = 1.0 / tp;
        double m0 = 0.0;
        unsigned seed = 12345;
        for (int i = 0; i < components; ++i) {
            const double f = fp * (0.5 + 3.0 * (i + 0.5) / components);
            const double sigma = f < fp ? 0.07 : 0.09;
            const double peak = std::pow(3.3, std::exp(-std::pow((f - fp) / (sigma * fp), 2) / 2.0));
            const double s = std::pow(f, -5.0) * std::exp(-1.25 * std::pow(fp / f, 4)) * peak;
            seed = seed * 1664525u + 1013904223u;
            const double phase = 2.0 * M_PI * (seed >> 8) / 16777216.0;
            const double w = 2.0 * M_PI * f * dt;
            const double a = std::sqrt(s);
            re_.push_back(a * std::cos(phase));
            im_.push_back(a * std::sin(phase));
            c_.push_back(std::cos(w));
            s_.push_back(std::sin(w));
            m0 += 0.5 * s;
        }
        const double scale = 0.25 * hs / std::sqrt(m0);
        for (auto& x : re_) x *= scale;
        for (auto& x : im_) x *= scale;
    }

    double sample() {
        double heave = 0.0;
        for (std::size_t i = 0; i < re_.size(); ++i) {
            const double r = re_[i] * c_[i] - im_[i] * s_[i];
            im_[i] = re_[i] * s_[i] + im_[i] * c_[i];
            re_[i] = r;
            heave += r;
        }
        return heave;
    }

private:
    std::vector<double> re_, im_, c_, s_;
};

struct Summary {
    double mean = 0.0, m2 = 0.0, crest = -1e30, trough = 1e30;
    long n = 0, crossings = 0;
    double last = 0.0;
    void add(double x) {
        ++n;
        const double d = x - mean;
        mean += d / double(n);
        m2 += d * (x - mean);
        if (x > crest) crest = x;
        if (x < trough) trough = x;
        if (last < 0.0 && x >= 0.0) ++crossings;
        last = x;
    }
};

int main(int argc, char** argv) {
    const long samples = argc > 1 ? std::atol(argv[1]) : 1000000;
    const int components = argc > 2 ? std::atoi(argv[2]) : 48;
    const std::string name = argc > 3 ? argv[3] : "buoy.h5";
    const double dt = 0.25;

    Summary summary;
    double checksum = 0.0;
    {
        Handle file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
        Record heave(file, "heave", static_cast<hsize_t>(samples));
        Sea sea(components, 3.2, 9.5, dt);
        for (long i = 0; i < samples; ++i) {
            const double x = sea.sample();
            summary.add(x);
            heave.append(x);
        }
        heave.flush();
        for (double x : heave.readBack()) checksum += x * x;
    }
    std::remove(name.c_str());

    std::printf("samples %ld\n", summary.n);
    std::printf("significant height %.5f m\n", 4.0 * std::sqrt(summary.m2 / double(summary.n)));
    std::printf("mean period %.5f s\n", dt * double(summary.n) / double(summary.crossings));
    std::printf("crest %.5f m, trough %.5f m\n", summary.crest, summary.trough);
    std::printf("stored variance %.8f\n", checksum / double(samples));
    return 0;
}
