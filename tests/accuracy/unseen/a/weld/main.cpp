#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <vector>

struct Key {
    std::int32_t x, y, z;
    friend bool operator==(const Key& a, const Key& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
};

struct Point {
    double x, y, z;
    Key key() const
    {
        return {static_cast<std::int32_t>(std::lround(x * 1e5)), static_cast<std::int32_t>(std::lround(y * 1e5)),
                static_cast<std::int32_t>(std::lround(z * 1e5))};
    }
};

using Facet = std::array<Point, 3>;

class Mesh {
public:
    void add(const Facet& f)
    {
        std::array<int, 3> corner{};
        for (int i = 0; i < 3; ++i)
            corner[i] = vertex(f[i]);
        triangles_.push_back(corner);
    }
    std::size_t vertices() const { return points_.size(); }
    std::size_t triangles() const { return triangles_.size(); }
    const Point& point(int v) const { return points_[v]; }
    const std::vector<std::array<int, 3>>& corners() const { return triangles_; }

private:
    int vertex(const Point& p)
    {
        const Key key = p.key();
        const auto it = std::find(keys_.begin(), keys_.end(), key);
        if (it != keys_.end())
            return static_cast<int>(it - keys_.begin());
        keys_.push_back(key);
        points_.push_back(p);
        return static_cast<int>(points_.size()) - 1;
    }

    std::vector<Key> keys_;
    std::vector<Point> points_;
    std::vector<std::array<int, 3>> triangles_;
};

template <class Surface>
std::vector<Facet> triangulate(int n, Surface surface)
{
    std::vector<Facet> facets;
    facets.reserve(2 * static_cast<std::size_t>(n) * n);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            const Point a = surface(i, j), b = surface(i + 1, j), c = surface(i, j + 1), d = surface(i + 1, j + 1);
            facets.push_back({a, b, d});
            facets.push_back({a, d, c});
        }
    }
    return facets;
}

double area(const Mesh& mesh)
{
    double sum = 0.0;
    for (const auto& t : mesh.corners()) {
        const Point &a = mesh.point(t[0]), &b = mesh.point(t[1]), &c = mesh.point(t[2]);
        const double ux = b.x - a.x, uy = b.y - a.y, uz = b.z - a.z;
        const double vx = c.x - a.x, vy = c.y - a.y, vz = c.z - a.z;
        sum += 0.5 * std::hypot(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx);
    }
    return sum;
}

std::vector<double> smooth(const Mesh& mesh, int rounds)
{
    std::vector<double> height(mesh.vertices()), next(mesh.vertices()), weight(mesh.vertices());
    for (std::size_t v = 0; v < height.size(); ++v)
        height[v] = mesh.point(static_cast<int>(v)).z;
    for (int r = 0; r < rounds; ++r) {
        std::fill(next.begin(), next.end(), 0.0);
        std::fill(weight.begin(), weight.end(), 0.0);
        for (const auto& t : mesh.corners()) {
            const double mean = (height[t[0]] + height[t[1]] + height[t[2]]) / 3.0;
            for (int v : t) {
                next[v] += mean;
                weight[v] += 1.0;
            }
        }
        for (std::size_t v = 0; v < height.size(); ++v)
            height[v] = next[v] / weight[v];
    }
    return height;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 120;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 300;
    const double h = 1.0 / n;
    const auto facets = triangulate(n, [h](int i, int j) {
        return Point{i * h, j * h, 0.1 * std::sin(9.0 * i * h) * std::cos(7.0 * j * h)};
    });
    Mesh mesh;
    for (const auto& f : facets)
        mesh.add(f);
    const auto height = smooth(mesh, rounds);
    std::cout << std::setprecision(10) << "vertices " << mesh.vertices() << " triangles " << mesh.triangles()
              << " area " << area(mesh) << " peak " << *std::max_element(height.begin(), height.end()) << '\n';
    return 0;
}
