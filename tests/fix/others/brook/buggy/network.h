#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

class Reach {
 public:
  Reach(int id, const Reach *down, double length, double slope);

  int id() const { return id_; }
  int level() const { return level_; }
  int down() const { return down_; }
  double keep() const { return keep_; }
  double area() const { return area_; }

 private:
  int id_, level_;
  std::string name_;
  double length_, slope_, rough_, area_;
  double crest_, width_, wetted_;
  int down_;
  double keep_;
};

struct Flow {
  int down;
  double keep, area, inflow, volume, outflow;
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
  std::vector<Flow> flows_;
  std::vector<int> place_;
};
