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
#include "../files/name_pattern.hpp"
#include "../hdf5/rehearsal.hpp"
#include "frame_source.hpp"
#include "images/image.hpp"
#include "images/image_folder.hpp"
#include "inside_file.hpp"
#include "layouts/layout.hpp"
#include "matlab.hpp"

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

/// A name, and the file or folder that has had it since the beginning.
class Named {
 public:
  Named(const fs::path& path, const char* what) : path_(path), what_(what), id_(id()) {}
  const fs::path& path() const { return path_; }
  /// @throws FileError if it has the name no more
  void require_same() const {
    require<FileError>(id() == id_, path_.string(), ": another ", what_,
                       " has this name now; a scan that is followed must stay one ", what_);
  }

 private:
  std::pair<dev_t, ino_t> id() const {
    struct stat found {};
    const bool seen = ::stat(path_.c_str(), &found) == 0;
    require<FileError>(seen, path_.string(), ": is gone; a scan that is followed must keep its name");
    return {found.st_dev, found.st_ino};
  }

  fs::path path_;
  const char* what_;
  std::pair<dev_t, ino_t> id_;
};

class FolderSource final : public Source {
 public:
  /// `path`: a folder, or a pattern of names in it
  FolderSource(const fs::path& path, const OpenOptions& options)
      : named_(name_pattern(path).folder, "folder"), folder_(path, options) {}
  std::optional<Acquisition> look(const std::function<void()>&) override {
    named_.require_same();
    try {
      return folder_.look();
    } catch (const fs::filesystem_error& fault) {
      throw FileError(named_.path().string() + ": cannot be read: " + fault.code().message());
    }
  }
  std::string next() const override { return folder_.next(); }

 private:
  Named named_;
  GrowingFolder folder_;
};

/// Whether no program wrote to the file lately, by a clock that moves in steps.
bool is_quiet(const FileStamp& stamp) {
  using namespace std::chrono;
  const auto now = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  return std::abs(now - stamp.modified_ns) > 50'000'000;
}

/// A file in SWMR mode stays open. Any other one is opened again when its writer has closed it.
class Hdf5Source final : public Source {
 public:
  Hdf5Source(const fs::path& path, const OpenOptions& options) : named_(path, "file"), options_(options) {}

  std::optional<Acquisition> look(const std::function<void()>& release) override {
    named_.require_same();
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
    const fs::path& path = named_.path();
    const FileStamp now = stamp_of(path, path.string());
    if (seen_ == now || (seen_ && !is_quiet(now))) return std::nullopt;
    release();  // else libhdf5 would show the file as it was
    Acquisition found = rehearsed(path, [&] {
      hdf5::File file =
          hdf5::File::open_growing(path, std::make_shared<hdf5::Growth>(), options_.allow_external_files);
      Acquisition all = acquisition_in(file, options_);
      if (file.is_swmr()) swmr_ = std::move(file);
      return all;
    });
    seen_ = now;
    return found;
  }

  Named named_;
  OpenOptions options_;
  std::optional<hdf5::File> swmr_;
  std::optional<FileStamp> seen_;  ///< stamp of the file when it was opened
  std::string next_;
};

std::unique_ptr<Source> source_of(const fs::path& path, const OpenOptions& options) {
  if (is_image_folder(path)) return std::make_unique<FolderSource>(path, options);
  require_regular_file(path);
  require<GeometryError>(
      !options.raw && !image_format_of(path) && !is_mat5(path), path.string(),
      ": is no HDF5 file and no folder of images; only these are followed while they are written; wait until "
      "it is complete, and leave out ",
      spelled("follow"));
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
    if (!options.angles.empty() && !planned) planned = read_angles(options).radians.size();
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
    info_ = reader_->info(), most_ = views_;
  }

  Index look() override {
    std::optional<Acquisition> found = source_->look([this] { reader_.reset(); });
    if (found && !(reader_ && views_in(*found) == views_ && found->angles == angles_)) {
      take(std::move(*found));
      info_.scan = reader_->info().scan;
    }
    most_ = std::max(most_, views_);
    require<FileError>(views_ == most_, path_.string(), ": had ", most_, " views, and has ", views_,
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
  static Index views_in(const Acquisition& found) {
    Index views = 0;
    for (const auto& source : found.projections) views += source->shape()[0];
    return views;
  }

  void take(Acquisition found) {
    angles_ = found.angles;
    const bool given = !options_.angles.empty() || options_.arc_deg;
    known_ = given ? planned_ : std::min(planned_, written(found.angles));
    if (!given && !found.angles.empty()) found.angles = extended(std::move(found.angles), known_, planned_);
    views_ = views_in(found);
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
  Index most_ = 0;              ///< views that were there at any look
  std::vector<double> angles_;  ///< angles that the newest look has found
  std::unique_ptr<ScanReader> reader_;
};

}  // namespace

std::unique_ptr<GrowingScan> open_growing_scan(const fs::path& path, const OpenOptions& options,
                                               std::optional<Index> planned) {
  require<GeometryError>(inside_file(path).name.empty(), path.string(),
                         ": a scan that is being written is followed as a whole file; leave out :/",
                         inside_file(path).name);
  return std::make_unique<Followed>(path, options, planned);
}

}  // namespace tandem::io
