#include "growing_scan.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../files/input_file.hpp"
#include "../hdf5/rehearsal.hpp"
#include "frame_source.hpp"
#include "layouts/layout.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

/// The part of a scan that is there.
class Source {
 public:
  virtual ~Source() = default;
  /// Looks at the scan. Empty if nothing has changed since the last look, or if that cannot be told now.
  /// `release` frees the result of an earlier look.
  virtual std::optional<Acquisition> look(const std::function<void()>& release) = 0;
  virtual std::string next() const = 0;  ///< why the next view does not count; may be empty
};

class FolderSource final : public Source {
 public:
  FolderSource(const fs::path& path, const OpenOptions& options) : folder_(path, options) {}
  std::optional<Acquisition> look(const std::function<void()>&) override { return folder_.look(); }
  std::string next() const override { return folder_.next(); }

 private:
  GrowingFolder folder_;
};

/// The device and the inode of the file with a name.
std::pair<dev_t, ino_t> file_named(const fs::path& path) {
  struct stat found {};
  const bool seen = ::stat(path.c_str(), &found) == 0;
  require<FileError>(seen, path.string(), ": is gone; a scan that is followed must keep its name");
  return {found.st_dev, found.st_ino};
}

/// Whether no program wrote to the file lately, by a clock that moves in steps.
bool is_quiet(const FileStamp& stamp) {
  using namespace std::chrono;
  const auto now = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  return std::abs(now - stamp.modified_ns) > 50'000'000;
}

/// A file in SWMR mode stays open. Any other one is opened again when its writer has closed it.
class Hdf5Source final : public Source {
 public:
  Hdf5Source(const fs::path& path, const OpenOptions& options)
      : path_(path), options_(options), id_(file_named(path)) {}

  std::optional<Acquisition> look(const std::function<void()>& release) override {
    require<FileError>(file_named(path_) == id_, path_.string(),
                       ": another file has this name now; a scan that is followed must stay one file");
    try {
      next_.clear();
      return swmr_ ? acquisition_in(*swmr_, options_) : opened_again(release);
    } catch (const FileError& fault) {  // it is being written
      next_ = fault.what();
      return std::nullopt;
    }
  }
  std::string next() const override { return next_; }

 private:
  std::optional<Acquisition> opened_again(const std::function<void()>& release) {
    const FileStamp now = stamp_of(path_, path_.string());
    if (seen_ == now || (seen_ && !is_quiet(now))) return std::nullopt;
    release();  // else libhdf5 would show the file as it was
    Acquisition found = rehearsed(path_, [&] {
      hdf5::File file =
          hdf5::File::open_growing(path_, std::make_shared<hdf5::Growth>(), options_.allow_external_files);
      Acquisition all = acquisition_in(file, options_);
      if (file.is_swmr()) swmr_ = std::move(file);
      return all;
    });
    seen_ = now;
    return found;
  }

  fs::path path_;
  OpenOptions options_;
  std::pair<dev_t, ino_t> id_;
  std::optional<hdf5::File> swmr_;
  std::optional<FileStamp> seen_;  ///< stamp of the file when it was opened
  std::string next_;
};

std::unique_ptr<Source> source_of(const fs::path& path, const OpenOptions& options) {
  if (fs::is_directory(path)) return std::make_unique<FolderSource>(path, options);
  require_regular_file(path);
  require<FileError>(hdf5::is_hdf5(path), path.string(),
                     ": is no HDF5 file and no folder; only these are followed while they are written");
  return std::make_unique<Hdf5Source>(path, options);
}

/// The number of angles that are written. A data set that was made with its full size ends in zeros or NaN.
Index written(const std::vector<double>& angles) {
  Index count = angles.size();
  const auto at = [&](Index k) { return angles[k]; };
  const auto unset = [&](Index k) { return !std::isfinite(at(k)) || at(k) == 0; };
  while (count > 1 && unset(count - 1)) --count;
  const bool one = count + 1 == std::ssize(angles) && count > 1 && std::isfinite(at(count));
  const bool next = one && std::abs(at(count) - at(count - 1)) < 3 * std::abs(at(count - 1) - at(count - 2));
  return next ? count + 1 : count;
}

/// An angle for each planned view.
std::vector<double> extended(std::vector<double> angles, Index known, Index planned) {
  angles.resize(known);
  const double step = known > 1 ? (angles.back() - angles.front()) / (known - 1) : half_turn / planned;
  while (std::ssize(angles) < planned) angles.push_back(angles.back() + step);
  angles.resize(planned);
  return angles;
}

class Followed final : public GrowingScan {
 public:
  Followed(const fs::path& path, const OpenOptions& options, std::optional<Index> planned)
      : path_(path), options_(options), source_(source_of(path, options)) {
    std::optional<Acquisition> found = source_->look([] {});
    if (!found) throw FileError(source_->next());
    if (!options.angles.empty() && !planned)
      planned = static_cast<Index>(read_angles(options.angles, options.angle_lines).size());
    if (!planned) planned = found->planned_views;
    require<FileError>(
        planned.has_value(), path.string(),
        ": does not say how many views the scan will have; give " + spelled("follow") + "=views=N");
    require<FileError>(found->can_grow, path.string(),
                       ": its views are not in chunks, so nothing tells which of them are there; wait until "
                       "it is written, and leave out " +
                           spelled("follow"));
    planned_ = *planned;
    take(std::move(*found));
    info_ = reader_->info();
    options_.flats.clear(), options_.darks.clear();  // since they are read before the next look
  }

  Index look() override {
    const Index before = views_;
    if (std::optional<Acquisition> found = source_->look([this] { reader_.reset(); })) {
      take(std::move(*found));
      info_.scan = reader_->info().scan;
    }
    require<FileError>(views_ >= before, path_.string(), ": had ", before, " views, and has ", views_,
                       " now; a scan that is followed must not shrink");
    return reader_ ? std::min({views_, known_, planned_}) : 0;
  }
  Index planned() const override { return planned_; }
  Index angles_known() const override { return known_; }
  Index unplanned() const override { return std::max<Index>(0, views_ - planned_); }
  std::string next() const override { return source_->next(); }

  using ScanReader::read;
  void read(FrameKind kind, Range frames, Range rows, Range bins, Frames& into) override {
    require<FileError>(reader_ != nullptr, path_.string(), ": cannot be read now: ", source_->next());
    reader_->read(kind, frames, rows, bins, into);
  }

 private:
  void take(Acquisition found) {
    const bool given = !options_.angles.empty() || options_.arc_deg;
    known_ = given ? planned_ : std::min(planned_, written(found.angles));
    if (!given && !found.angles.empty()) found.angles = extended(std::move(found.angles), known_, planned_);
    views_ = 0;
    for (const auto& source : found.projections) views_ += source->shape()[0];
    require<GeometryError>(options_.angles.empty() || views_ <= planned_, options_.angles.string(), ": ",
                           planned_, " angles for a scan that has ", views_,
                           " views already; one per view is needed, give " + spelled("angles") +
                               " FILE[A:B] or " + spelled("arc") + " DEG");
    reader_ = reader_of(path_, std::move(found), options_, planned_);
  }

  fs::path path_;
  OpenOptions options_;
  std::unique_ptr<Source> source_;
  Index planned_ = 0, views_ = 0, known_ = 0;
  std::unique_ptr<ScanReader> reader_;
};

}  // namespace

std::unique_ptr<GrowingScan> open_growing_scan(const fs::path& path, const OpenOptions& options,
                                               std::optional<Index> planned) {
  return std::make_unique<Followed>(path, options, planned);
}

}  // namespace tandem::io
