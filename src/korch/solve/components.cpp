#include "korch/solve/components.h"

#include <algorithm>

namespace korch {
namespace {

class Components {
 public:
  explicit Components(const std::vector<std::vector<int>>& edges)
      : edges_(edges), component_(edges.size(), -1), index_(edges.size(), -1), low_(edges.size(), 0) {
    for (size_t n = 0; n < edges.size(); ++n)
      if (index_[n] < 0) visit(static_cast<int>(n));
  }
  std::vector<int> take() { return std::move(component_); }

 private:
  struct Frame {
    int node;
    size_t edge;
  };
  void open(int node) {
    index_[node] = low_[node] = next_index_++;
    path_.push_back(node);
    frames_.push_back({node, 0});
  }
  void close(int node) {
    if (low_[node] != index_[node]) return;
    for (int member = -1; member != node;) {
      member = path_.back();
      path_.pop_back();
      component_[member] = next_component_;
    }
    ++next_component_;
  }
  void visit(int root) {
    open(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const int node = frame.node;
      if (frame.edge == edges_[node].size()) {
        close(node);
        frames_.pop_back();
        if (!frames_.empty()) low_[frames_.back().node] = std::min(low_[frames_.back().node], low_[node]);
        continue;
      }
      const int to = edges_[node][frame.edge++];
      if (index_[to] < 0) {
        open(to);
      } else if (component_[to] < 0) {
        low_[node] = std::min(low_[node], index_[to]);
      }
    }
  }

  const std::vector<std::vector<int>>& edges_;
  std::vector<int> component_, index_, low_, path_;
  std::vector<Frame> frames_;
  int next_index_ = 0, next_component_ = 0;
};

}  // namespace

std::vector<int> strong_components(const std::vector<std::vector<int>>& successors) {
  return Components(successors).take();
}

}  // namespace korch
