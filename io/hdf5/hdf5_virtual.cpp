// Checks that all elements of a virtual data set are there. If a source is missing, is too small or cannot be
// opened, libhdf5 silently returns fill values.

#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/names.hpp"
#include "hdf5_detail.hpp"
#include "hdf5_direct.hpp"
#include "rehearsal.hpp"

namespace tandem::io::hdf5 {

namespace fs = std::filesystem;

namespace {

constexpr int max_sources = 8;
using Extents = std::vector<hsize_t>;

Extents extents_of(hid_t space) {
  Extents extents(std::max(0, H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return extents;
}

double product(const Extents& extents) {
  double all = 1;
  for (hsize_t n : extents) all *= n;
  return all;
}

std::string numbers_in(const Extents& extents) {
  return joined(extents, " x ", [](hsize_t n) { return std::to_string(n); });
}

/// A selection of blocks along every axis. Count or block of one axis may be H5S_UNLIMITED, which means up to
/// the end of the data set.
struct Slab {
  Extents start, stride, count, block;

  bool is_open(std::size_t axis) const {
    return count[axis] == H5S_UNLIMITED || block[axis] == H5S_UNLIMITED;
  }
  /// The number of blocks that begin before `extent`.
  hsize_t blocks_before(std::size_t axis, hsize_t extent) const {
    return extent <= start[axis] ? 0 : (extent - start[axis] + stride[axis] - 1) / stride[axis];
  }
  hsize_t selected_before(std::size_t axis, hsize_t extent) const {
    if (extent <= start[axis]) return 0;
    const hsize_t length = extent - start[axis];
    if (block[axis] == H5S_UNLIMITED) return length;
    return length / stride[axis] * block[axis] + std::min(length % stride[axis], block[axis]);
  }
  /// The end of the first `selected` elements along the axis.
  hsize_t end_of(std::size_t axis, hsize_t selected) const {
    if (selected == 0 || block[axis] == H5S_UNLIMITED) return start[axis] + selected;
    return start[axis] + (selected - 1) / block[axis] * stride[axis] + (selected - 1) % block[axis] + 1;
  }
};

/// A selection of blocks, and the axis along which it has no end.
struct OpenSlab {
  Slab slab;
  std::size_t axis;
};
std::optional<OpenSlab> open_slab(hid_t space) {
  const std::size_t rank = extents_of(space).size();
  Slab slab{Extents(rank), Extents(rank), Extents(rank), Extents(rank)};
  if (H5Sget_select_type(space) != H5S_SEL_HYPERSLABS || H5Sis_regular_hyperslab(space) <= 0 ||
      H5Sget_regular_hyperslab(space, slab.start.data(), slab.stride.data(), slab.count.data(),
                               slab.block.data()) < 0)
    return std::nullopt;
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (slab.is_open(axis)) return OpenSlab{std::move(slab), axis};
  return std::nullopt;
}

/// The file name of a block: "frames_%b.h5" with its number for %b; "%%" is a percent sign.
std::string name_of_block(const std::string& name, hsize_t block) {
  std::string made;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool special = name[i] == '%' && i + 1 < name.size();
    if (special && name[i + 1] == 'b')
      made += std::to_string(block), ++i;
    else if (special && name[i + 1] == '%')
      made += '%', ++i;
    else
      made += name[i];
  }
  return made;
}

/// The source of some elements of the virtual data set.
struct Mapping {
  std::string file, set;  // names as they are written, without the number of a block
  Handle to, from;        // selections in the virtual data set and in the source
};

std::string text_from(ssize_t (*get)(hid_t, std::size_t, char*, std::size_t), hid_t plan, std::size_t index) {
  std::string text(std::max<ssize_t>(0, get(plan, index, nullptr, 0)), '\0');
  get(plan, index, text.data(), text.size() + 1);
  return text;
}

Mapping mapping(hid_t plan, std::size_t index) {
  return {text_from(H5Pget_virtual_filename, plan, index), text_from(H5Pget_virtual_dsetname, plan, index),
          Handle(H5Pget_virtual_vspace(plan, index), H5Sclose),
          Handle(H5Pget_virtual_srcspace(plan, index), H5Sclose)};
}

/// The selected box; empty if the selection is no box.
std::optional<std::vector<Range>> box_of(hid_t selection) {
  Extents first(extents_of(selection).size()), last(first.size());
  const H5S_sel_type type = H5Sget_select_type(selection);  // points have an order of their own
  if ((type != H5S_SEL_HYPERSLABS && type != H5S_SEL_ALL) ||
      H5Sget_select_bounds(selection, first.data(), last.data()) < 0)
    return std::nullopt;
  std::vector<Range> box;
  double points = 1;
  for (std::size_t axis = 0; axis < first.size(); ++axis) {
    box.push_back({static_cast<Index>(first[axis]), static_cast<Index>(last[axis] + 1)});
    points *= box.back().size();
  }
  return points == H5Sget_select_npoints(selection) ? std::optional(box) : std::nullopt;
}

/// Whether no element is in two boxes. Sorts the boxes by their first axis.
bool are_apart(std::vector<MappedBox>& boxes) {
  std::sort(boxes.begin(), boxes.end(),
            [](const MappedBox& a, const MappedBox& b) { return a.to[0].first < b.to[0].first; });
  for (auto one = boxes.begin(); one != boxes.end(); ++one)
    for (auto next = one + 1; next != boxes.end() && next->to[0].first < one->to[0].last; ++next)
      if (meet(one->to, next->to)) return false;
  return true;
}

Extents needed_of(const Slab& slab, std::size_t open_axis) {
  Extents ends(slab.start.size());
  for (std::size_t axis = 0; axis < ends.size(); ++axis)
    if (axis != open_axis)
      ends[axis] = slab.start[axis] + (slab.count[axis] - 1) * slab.stride[axis] + slab.block[axis];
  return ends;
}

/// Whether boxes have the same extents. The source may lack first axes that have one element.
bool has_shape_of(const std::vector<Range>& from, const std::vector<Range>& to) {
  if (from.empty() || from.size() > to.size()) return false;
  const auto shared = to.end() - from.size();
  return std::all_of(to.begin(), shared, [](const Range& range) { return range.size() == 1; }) &&
         std::equal(shared, to.end(), from.begin(),
                    [](const Range& a, const Range& b) { return a.size() == b.size(); });
}

struct Source {
  Extents extents;
  std::shared_ptr<const Direct> direct;  // null if only libhdf5 can read it
};

/// The sources of one virtual data set, by their names.
class Sources {
 public:
  Sources(hid_t set, const std::string& where, const Origin& origin, Storage& found)
      : set_(set), where_(where), origin_(origin), found_(found), file_(found.files.back().path.string()) {}

  /// The source of a block, which must hold what is selected. `ends`: the ends of the selection along each
  /// axis. Empty if all is selected, which is `points` elements.
  const Source& required(const Mapping& m, hsize_t block, const std::optional<Extents>& ends, double points) {
    const std::string file = name_of_block(m.file, block), set = name_of_block(m.set, block);
    const auto [known, is_new] = sources_.try_emplace({file, set});
    if (is_new) known->second = examined(file, set);
    const Extents& extents = known->second.extents;
    const auto fits = [](hsize_t end, hsize_t extent) { return end <= extent; };
    require<FileError>(!ends || (extents.size() == ends->size() &&
                                 std::equal(ends->begin(), ends->end(), extents.begin(), fits)),
                       label(file, set), ": has ", numbers_in(extents), " elements; ",
                       numbers_in(ends.value_or(Extents{})), " are needed");
    require<FileError>(ends || product(extents) == points, label(file, set), ": has ", numbers_in(extents),
                       " elements; ", points, " are needed");
    return known->second;
  }

  /// Requires spare file handles, since libhdf5 opens every source again when it reads, and returns zeros if
  /// it cannot.
  void require_spare_handles() const {
    std::array<int, 16> spare{};
    for (int& handle : spare) handle = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (int handle : spare)
      if (handle >= 0) ::close(handle);
    require<FileError>(*std::min_element(spare.begin(), spare.end()) >= 0, where_, ": its ",
                       found_.files.size() - 1,
                       " sources take all file handles there are; raise the limit (ulimit -n)");
  }

 private:
  std::string label(const std::string& file, const std::string& set) const {
    return where_ + ": its source " + (file == "." ? file_ : file) + ": " + set;
  }

  /// Opens a source, and checks that all its elements are there.
  Source examined(const std::string& file, const std::string& set) {
    const hid_t open = file == "." ? set_ : source_file(file);
    const std::string from_root = set.starts_with('/') ? set : "/" + set;  // also for this file
    Handle object(H5Oopen(open, from_root.c_str(), link_access().id()), H5Oclose);
    require<FileError>(object.valid() && H5Iget_type(object.id()) == H5I_DATASET, label(file, set),
                       ": no such data set");
    Storage own;
    own.depth = found_.depth;
    require_stored(object.id(), label(file, set), origin_, own);
    const Handle space(H5Dget_space(object.id()), H5Sclose);
    Source source{extents_of(space.id()), direct(object.id(), label(file, set), own)};
    std::move(own.files.begin(), own.files.end(), std::back_inserter(found_.files));
    std::move(own.held.begin(), own.held.end(), std::back_inserter(found_.held));
    if (source.direct) found_.held.push_back(std::move(object));
    return source;
  }

  hid_t source_file(const std::string& name) {
    const auto [known, is_new] = files_.try_emplace(name, -1);
    if (!is_new) return known->second;
    for (const fs::path& place : places_of(name, file_, "HDF5_VDS_PREFIX")) {
      std::error_code fault;
      if (!fs::exists(place, fault)) continue;
      require<FileError>(!is_special(place), where_, ": its source ", place.string(),
                         " is a pipe or a device; a regular file is needed");
      const Handle access = source_access();
      Handle file(H5Fopen(place.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
      if (!file.valid()) fail(where_ + ": its source " + place.string(), "the file may be damaged");
      take_longer(0.05);  // for each virtual source, since there may be thousands
      found_.held.push_back(std::move(file));
      return known->second = found_.held.back().id();
    }
    throw FileError(where_ + ": its source " + name + " is missing; put that file where " + file_ +
                    " looks for it");
  }

  /// Properties for opening sources, as libhdf5 itself uses them, since it opens an open file again only in
  /// the same way.
  Handle source_access() const {
    const Handle file(H5Iget_file_id(set_), H5Fclose);
    Handle access(H5Fget_access_plist(file.id()), H5Pclose);
    H5Pset_fclose_degree(access.id(), H5F_CLOSE_WEAK);
    return access;
  }

  hid_t set_;
  const std::string& where_;
  const Origin& origin_;
  Storage& found_;
  std::string file_;  // the file that holds the virtual data set
  std::map<std::pair<std::string, std::string>, Source> sources_;
  std::map<std::string, hid_t> files_;
};

/// Goes through all parts of one virtual data set.
class Examination {
 public:
  Examination(hid_t set, const std::string& where, const Origin& origin, Storage& found)
      : set_(set),
        where_(where),
        found_(found),
        sources_(set, where, origin, found),
        extents_(extents_of(Handle(H5Dget_space(set), H5Sclose).id())) {}

  void run() {
    const Handle plan(H5Dget_create_plist(set_), H5Pclose);
    std::size_t count = 0;
    H5Pget_virtual_count(plan.id(), &count);
    double mapped = 0;
    const double all = product(extents_);
    for (std::size_t i = 0; i < count; ++i) mapped += examine(mapping(plan.id(), i));
    require<FileError>(mapped >= all, where_, ": ", all - mapped, " of its ", all,
                       " elements come from no source; it is a virtual data set that is not finished");
    const bool apart = !only_boxes_ || are_apart(boxes_);
    require<FileError>(apart || mapped > all, where_,
                       ": some of its elements come from two sources, and others from no source");
    const bool readable =
        only_boxes_ && apart &&
        std::all_of(boxes_.begin(), boxes_.end(), [](const MappedBox& b) { return b.source; });
    if (readable) found_.boxes = std::move(boxes_);
    sources_.require_spare_handles();
  }

 private:
  /// Returns the number of elements that this mapping gives.
  double examine(const Mapping& m) {
    const std::optional<OpenSlab> to = open_slab(m.to.id()), from = open_slab(m.from.id());
    if (!to) {
      const double points = H5Sget_select_npoints(m.to.id());
      add_box(m, sources_.required(m, 0, needed(m.from.id()), points));
      return points;
    }
    only_boxes_ = false;
    double points = 1;
    for (std::size_t axis = 0; axis < extents_.size(); ++axis)
      if (axis != to->axis) points *= 1.0 * to->slab.count[axis] * to->slab.block[axis];
    const hsize_t selected = to->slab.selected_before(to->axis, extents_[to->axis]);
    if (from) {
      Extents ends = needed_of(from->slab, from->axis);
      ends[from->axis] = from->slab.end_of(from->axis, selected);
      sources_.required(m, 0, ends, points * selected);
    } else {
      const hsize_t blocks = to->slab.blocks_before(to->axis, extents_[to->axis]);
      const double each = points * to->slab.block[to->axis];
      for (hsize_t block = 0; block < blocks; ++block) sources_.required(m, block, needed(m.from.id()), each);
    }
    return points * selected;
  }

  void add_box(const Mapping& m, const Source& source) {
    const std::optional<std::vector<Range>> to = box_of(m.to.id());
    std::optional<std::vector<Range>> from = box_of(m.from.id());
    if (H5Sget_select_type(m.from.id()) == H5S_SEL_ALL) {
      from.emplace();
      for (const hsize_t n : source.extents) from->push_back({0, static_cast<Index>(n)});
    }
    only_boxes_ = only_boxes_ && to && from && is_inside(*to) && has_shape_of(*from, *to);
    if (!only_boxes_) return;
    MappedBox box{*to, {}, source.direct};
    for (const Range& range : *from) box.from.push_back(range.first);
    boxes_.push_back(std::move(box));
  }

  bool is_inside(const std::vector<Range>& box) const {
    return std::equal(box.begin(), box.end(), extents_.begin(), extents_.end(),
                      [](const Range& range, hsize_t n) { return range.last <= static_cast<Index>(n); });
  }

  /// The ends of a selection along each axis. Empty if all is selected, since the file does not say then how
  /// much that was.
  std::optional<Extents> needed(hid_t selection) const {
    if (H5Sget_select_type(selection) == H5S_SEL_ALL) return std::nullopt;
    Extents first(extents_of(selection).size()), last(first.size());
    const bool bounded = H5Sget_select_bounds(selection, first.data(), last.data()) >= 0;
    if (!bounded) fail(where_ + ": a source's selection cannot be read", "the file may be damaged");
    for (hsize_t& end : last) ++end;
    return last;
  }

  hid_t set_;
  const std::string& where_;
  Storage& found_;
  Sources sources_;
  Extents extents_;
  bool only_boxes_ = true;
  std::vector<MappedBox> boxes_;
};

}  // namespace

void require_sources(std::int64_t set, const std::string& where, const Origin& origin, Storage& found) {
  require<FileError>(++found.depth <= max_sources, where,
                     ": has virtual sources of virtual sources, more than ", max_sources, " times");
  Examination(set, where, origin, found).run();
  --found.depth;
}

}  // namespace tandem::io::hdf5
