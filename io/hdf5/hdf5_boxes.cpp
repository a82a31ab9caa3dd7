// Virtual data sets whose sources give boxes. Each source has its own reader, outside libhdf5's lock.

#include <algorithm>
#include <atomic>
#include <set>

#include "../../core/names.hpp"
#include "../../core/parallel.hpp"
#include "hdf5_direct.hpp"

namespace tandem::io::hdf5 {

namespace {

constexpr Index most_sources = 8;  // sources open at a time for a reading, beside the held handles

class Boxes : public Direct {
 public:
  Boxes(PixelType type, std::vector<MappedBox> boxes) : Direct(type), boxes_(std::move(boxes)) {}

  std::size_t piece_bytes() const override {
    std::size_t most = 0;
    for (const MappedBox& box : boxes_) most = std::max(most, box.source->piece_bytes());
    return most;
  }

  Index packed_pieces() const override {
    Index pieces = 0;
    for (const MappedBox& box : boxes_) pieces += box.source->packed_pieces();
    return pieces;
  }

  std::string packing() const override {
    std::set<std::string> packings;
    for (const MappedBox& box : boxes_) packings.insert(box.source->packing());
    return joined(packings, "; ");
  }

  void read(std::span<const Range> part, const BoxPlace& to, std::byte* out) const override {
    std::vector<const MappedBox*> met;
    for (const MappedBox& box : boxes_)
      if (meet(box.to, part)) met.push_back(&box);
    std::atomic<std::size_t> next = 0;
    parallel_for(std::min(std::ssize(met), most_sources), [&](Index) {
      for (std::size_t k = next++; k < met.size(); k = next++) read_box(*met[k], part, to, out);
    });
  }

 private:
  void read_box(const MappedBox& box, std::span<const Range> part, const BoxPlace& to, std::byte* out) const {
    const std::size_t lacking = part.size() - box.from.size();  // first axes that the source does not have
    std::vector<Range> wanted;
    std::vector<Index> shape, corner;
    Index before = 0;  // pixels before this place along the lacking axes
    for (std::size_t axis = 0; axis < part.size(); ++axis) {
      const Index first = std::max(part[axis].first, box.to[axis].first);
      const Index last = std::min(part[axis].last, box.to[axis].last);
      const Index place = to.first[axis] + first - part[axis].first;
      before *= to.shape[axis];
      if (axis < lacking) {
        before += place;
        continue;
      }
      const Index begin = box.from[axis - lacking] + first - box.to[axis].first;
      wanted.push_back({begin, begin + last - first});
      shape.push_back(to.shape[axis]);
      corner.push_back(place);
    }
    box.source->read(wanted, {shape, corner}, out + before * bytes_of(type()));
  }

  std::vector<MappedBox> boxes_;
};

}  // namespace

bool meet(std::span<const Range> one, std::span<const Range> other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](const Range& a, const Range& b) {
    return std::max(a.first, b.first) < std::min(a.last, b.last);
  });
}

std::unique_ptr<const Direct> direct_boxes(PixelType type, const std::vector<MappedBox>& boxes) {
  const bool same = std::all_of(boxes.begin(), boxes.end(),
                                [type](const MappedBox& box) { return box.source->type() == type; });
  return boxes.empty() || !same ? nullptr : std::make_unique<Boxes>(type, boxes);
}

}  // namespace tandem::io::hdf5
