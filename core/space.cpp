#include "space.hpp"

#include <algorithm>

#include "error.hpp"
#include "extents.hpp"

namespace tandem {

Space::Space(Shape shape, Blocks blocks, Device device, std::uint64_t key)
    : shape_(shape), blocks_(blocks), device_(device), key_(key) {
  for (Index n : shape)
    require<SpaceError>(n > 0, "Space: extent ", n, " in shape (", shape[0], ", ", shape[1], ", ", shape[2],
                        ") is not positive");
  require<SpaceError>(countable(shape), "Space: shape (", shape[0], ", ", shape[1], ", ", shape[2],
                      ") has more than 2^60 elements");
}

Space Space::direct_sum(std::vector<Space> parts) {
  require<SpaceError>(!parts.empty(), "direct_sum: 0 parts; at least 1 is needed");
  for (const Space& p : parts)
    require<SpaceError>(p.device() == parts[0].device() && p.block_count() == parts[0].block_count(),
                        "direct_sum: parts differ in device or number of blocks: ", p.device().name(),
                        " with ", p.block_count(), ", ", parts[0].device().name(), " with ",
                        parts[0].block_count());
  for (const Space& p : parts)
    require<SpaceError>(p.is_portion() == parts[0].is_portion(),
                        "direct_sum: some parts are portions of ranks, others are not; all must be");
  if (parts.size() == 1) return parts[0];
  Space sum = parts[0];
  sum.key_ = 0;
  sum.parts_ = std::make_shared<const std::vector<Space>>(std::move(parts));
  return sum;
}

Shape Space::shape() const {
  require<SpaceError>(!parts_, "Space::shape: a direct sum of ", parts(),
                      " parts has no shape; ask its parts");
  return shape_;
}

Index Space::size() const { return offset(parts()); }

Device Space::device() const { return device_; }

Space Space::on(Device device) const {
  Space moved = *this;
  moved.device_ = device;
  if (!parts_) return moved;
  std::vector<Space> parts;
  for (const Space& part : *parts_) parts.push_back(part.on(device));
  moved.parts_ = std::make_shared<const std::vector<Space>>(std::move(parts));
  return moved;
}

Space Space::split() const {
  Space space = *this;
  space.spread_ = Spread::split;
  return space;
}

Index Space::first_plane(int k) const {
  const Index planes = shape()[0];
  require<SpaceError>(planes >= shares() && (shares() == 1 || blocks_ != Blocks::slices), "Space: ", planes,
                      blocks_ == Blocks::slices ? " blocks" : " planes", " split over ", device_.name(),
                      "; take fewer devices, or one");
  return k * planes / shares();
}

Space Space::share(int k) const {
  if (shares() == 1) return *this;
  const Device member = device_.member(k);
  if (parts_) {
    std::vector<Space> parts;
    for (const Space& part : *parts_) parts.push_back(part.share(k));
    return direct_sum(std::move(parts));
  }
  if (spread_ == Spread::copied) return on(member);
  return Space({first_plane(k + 1) - first_plane(k), shape_[1], shape_[2]}, blocks_, member);
}

Space Space::portion(int axis, Index begin, Index end) const {
  const std::size_t along = axis;
  const Index planes = shape()[along];
  require<SpaceError>((axis == 0 || axis == 1) && !is_portion() && blocks_ == Blocks::whole && 0 <= begin &&
                          begin <= end && end <= planes,
                      "Space: planes ", begin, ":", end, " of ", planes, " in ", block_count(),
                      " blocks, as the portion of a rank; planes of one block are needed");
  Space some = *this;
  some.shape_[along] = end - begin;
  some.of_ranks_ = {axis, begin, planes};
  return some;
}

Space Space::whole() const {
  if (!is_portion()) return *this;
  if (parts_) {
    std::vector<Space> wholes;
    for (const Space& part : *parts_) wholes.push_back(part.whole());
    return direct_sum(std::move(wholes));
  }
  Space all = *this;
  all.shape_[of_ranks_.axis] = of_ranks_.planes;
  all.of_ranks_ = {};
  return all;
}

Index Space::line_in_whole(Index line) const {
  if (!is_portion()) return line;
  const Index rows = shape()[1];
  if (of_ranks_.axis == 0) return of_ranks_.begin * rows + line;
  return line / rows * of_ranks_.planes + of_ranks_.begin + line % rows;
}

Index Space::block_count() const {
  if (parts_) return parts_->front().block_count();
  return blocks_ == Blocks::slices ? shape_[0] : blocks_ == Blocks::rows ? shape_[1] : 1;
}

int Space::parts() const { return parts_ ? static_cast<int>(parts_->size()) : 1; }

Space Space::part(int i) const {
  require<SpaceError>(0 <= i && i < parts(), "Space::part: ", i, " is not in 0..", parts() - 1);
  return parts_ ? (*parts_)[i] : *this;
}

Index Space::offset(int i) const {
  if (!parts_) return i == 0 ? 0 : shape_[0] * shape_[1] * shape_[2];
  Index sum = 0;
  for (int k = 0; k < i; ++k) sum += (*parts_)[k].size();
  return sum;
}

bool Space::alike(const Space& other, bool any_key) const {
  if (device_ != other.device_ || parts() != other.parts()) return false;
  if (parts_)
    return std::equal(parts_->begin(), parts_->end(), other.parts_->begin(),
                      [&](const Space& a, const Space& b) { return a.alike(b, any_key); });
  return shape_ == other.shape_ && blocks_ == other.blocks_ && of_ranks_ == other.of_ranks_ &&
         (shares() == 1 || spread_ == other.spread_) &&
         (key_ == other.key_ || (any_key && (key_ == 0 || other.key_ == 0)));
}

bool Space::operator==(const Space& other) const { return alike(other, false); }

bool Space::fits(const Space& other) const { return alike(other, true); }

}  // namespace tandem
