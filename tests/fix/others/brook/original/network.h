#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

class Reach {
 public:
  Reach(int id, Reach *down, double length, double slope);

  void rain(double depth) { inflow_ += depth * area_; }
  void pass();

  int id() const { return id_; }
  int level() const { return level_; }
  double volume() const { return volume_; }
  double outflow() const { return outflow_; }
  double area() const { return area_; }

 private:
  int id_, level_;
  std::string name_;
  double length_, slope_, rough_, area_;
  double crest_, width_, wetted_;
  Reach *down_;
  double keep_;
  double inflow_ = 0.0, volume_ = 0.0, outflow_ = 0.0;
};

class Network {
 public:
  Network(int count, uint64_t seed);
  void step(double depth);
  double volume() const;
  double mouth() const;
  double gauge(int id) const;

 private:
  std::vector<std::unique_ptr<Reach>> reaches_;
  std::vector<Reach *> order_;
};
