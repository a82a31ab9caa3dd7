#include "subsets.hpp"

#include <type_traits>
#include <utility>

#include "../core/error.hpp"
#include "algebra.hpp"

namespace tandem {

namespace {

/// The space of all views together, or of the views of this rank. It has no key, since no scan has this order
/// of views.
Space joined(const std::vector<LinearOperator>& parts) {
  require<SpaceError>(!parts.empty(), "Subsets: 0 operators; at least 1 is needed");
  const Space first = parts.front().range();
  auto [views, rows, bins] = first.shape();
  Index begin = first.first_of_portion(), of_all = first.whole().shape()[0];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Space part = parts[i].range();
    require<SpaceError>(parts[i].domain().fits(parts.front().domain()) && part.shape()[1] == rows &&
                            part.shape()[2] == bins && part.blocks() == first.blocks() &&
                            part.device() == first.device() && part.is_portion() == first.is_portion(),
                        "Subsets: operator ", i,
                        " has another volume, other rows or other bins than the first one; they must agree");
    views += part.shape()[0];
    begin += part.first_of_portion(), of_all += part.whole().shape()[0];
  }
  const Space all({of_all, rows, bins}, first.blocks(), first.device());
  return first.is_portion() ? all.portion(0, begin, begin + views) : all;
}

}  // namespace

Subsets::Subsets(std::vector<LinearOperator> parts, std::vector<std::vector<Index>> views)
    : parts_(std::move(parts)), views_(std::move(views)), range_(joined(parts_)) {
  require<SpaceError>(views_.size() == parts_.size(), "Subsets: ", views_.size(), " lists of views for ",
                      parts_.size(), " operators; give one each");
  const Index all = range_.shape()[0];
  std::vector<bool> met(all, false);
  Index first = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Index count = views_[i].size();
    require<SpaceError>(count == parts_[i].range().shape()[0], "Subsets: ", count, " views for operator ", i,
                        ", which has ", parts_[i].range().shape()[0]);
    for (const Index view : views_[i]) {
      require<SpaceError>(view >= 0 && view < all && !met[view], "Subsets: view ", view, " is not one of ",
                          all, ", or is listed twice");
      met[view] = true;
    }
    first_.push_back(first);
    first += count;
  }
}

Index Subsets::offset(std::size_t i) const { return first_[i] * range_.shape()[1] * range_.shape()[2]; }

VectorView Subsets::part(VectorView whole, std::size_t i) const {
  return {whole.data + offset(i), parts_[i].range()};
}

ConstVectorView Subsets::part(ConstVectorView whole, std::size_t i) const {
  return {whole.data + offset(i), parts_[i].range()};
}

Array Subsets::ordered(const Array& data) const {
  require<SpaceError>(data.space().parts() == 1 && data.space().shape() == range_.shape() &&
                          data.space().device() == range_.device(),
                      "Subsets: the data have ", data.space().size(), " elements, the subsets ",
                      range_.size(), ", or lie on another device; they must be as many, on one device");
  Stream& stream = default_stream(range_.device());
  Array sorted(range_, stream);
  const auto [views, rows, bins] = range_.shape();
  const auto view_of = [rows = rows, bins = bins](auto* all, Index view) {
    return Image<std::remove_reference_t<decltype(*all)>>{
        all + view * rows * bins, 1, rows, bins, rows * bins, bins};
  };
  Index to = 0;
  for (const std::vector<Index>& subset : views_)
    for (const Index from : subset) copy(view_of(data.data(), from), view_of(sorted.data(), to++), stream);
  stream.synchronize();
  return sorted;
}

Array Subsets::ordered(Array&& data) const {
  const Array own = std::move(data);
  return ordered(own);
}

void Subsets::apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
  for (std::size_t i = 0; i < count(); ++i) parts_[i].apply(alpha, x, beta, part(y, i), stream);
}

void Subsets::apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
  for (std::size_t i = 0; i < count(); ++i)
    parts_[i].apply_adjoint(alpha, part(y, i), i == 0 ? beta : 1, x, stream);
}

Subsets Subsets::weighed(const Array& weights) const {
  Stream& stream = default_stream(range_.device());
  const Array sorted = ordered(weights);
  std::vector<LinearOperator> parts;
  for (std::size_t i = 0; i < count(); ++i) {
    Array own(parts_[i].range(), stream);
    copy(part(sorted, i), own, stream);
    stream.synchronize();
    parts.push_back(diagonal(std::move(own)) * parts_[i]);
  }
  return {std::move(parts), views_};
}

}  // namespace tandem
