#include <algorithm>
#include <cstring>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "frame_source.hpp"

namespace tandem::io {

namespace {

/// Whether the second axis is the views'. Names as the APS writes them: theta, theta_white, theta_dark.
bool has_rows_first(const std::string& axes, const std::string& where) {
  const bool views_first = axes.starts_with("theta") && axes.find(':') == axes.find(":y:x");
  const bool rows_first =
      axes.starts_with("y:theta") && axes.find(':', 2) == axes.size() - 2 && axes.ends_with(":x");
  require<FileError>(axes != "z:y:x", where,
                     ": is a volume (axes z:y:x), not a scan; tandem project makes a scan of it");
  require<FileError>((views_first && axes.ends_with(":y:x")) || rows_first, where, ": axes = \"", axes,
                     "\"; \"theta:y:x\" or \"y:theta:x\" is needed");
  return rows_first;
}

Shape frames_shape(const hdf5::DataSet& data, bool rows_first) {
  const std::vector<Index>& n = data.shape();
  if (n.size() == 2) return {1, n[0], n[1]};
  return rows_first ? Shape{n[1], n[0], n[2]} : Shape{n[0], n[1], n[2]};
}

class Hdf5Frames : public FrameSource {
 public:
  Hdf5Frames(std::shared_ptr<const hdf5::DataSet> data, bool rows_first, std::vector<Range> runs, Shape shape)
      : FrameSource(data->where(), data->pixel_type(), shape),
        data_(std::move(data)),
        rows_first_(rows_first),
        runs_(std::move(runs)) {}

  std::size_t decoded_bytes() const override { return data_->decoded_bytes(); }
  std::string packing() const override { return data_->packing(); }

  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    const std::size_t frame_bytes = static_cast<std::size_t>(rows.size() * bins.size()) * bytes_of(type());
    Index before = 0;  // frames in the runs passed so far
    for (const Range& run : runs_) {
      const Range part{std::max(frames.first, before), std::min(frames.last, before + run.size())};
      if (part.size() > 0) {
        const Range stored{run.first + part.first - before, run.first + part.last - before};
        read_run(stored, rows, bins, out + static_cast<std::size_t>(part.first - frames.first) * frame_bytes);
      }
      before += run.size();
    }
  }

 private:
  void read_run(Range frames, Range rows, Range bins, std::byte* out) const {
    if (data_->shape().size() == 2) return data_->read(type(), std::vector<Range>{rows, bins}, out);
    if (!rows_first_) return data_->read(type(), std::vector<Range>{frames, rows, bins}, out);
    const std::size_t line = static_cast<std::size_t>(bins.size()) * bytes_of(type());
    parallel_for(rows.size(), [&](Index y) {
      std::vector<std::byte> row(static_cast<std::size_t>(frames.size()) * line);
      const Range stored{rows.first + y, rows.first + y + 1};
      data_->read(type(), std::vector<Range>{stored, frames, bins}, row.data());
      for (Index k = 0; k < frames.size(); ++k)
        std::memcpy(out + static_cast<std::size_t>(k * rows.size() + y) * line,
                    row.data() + static_cast<std::size_t>(k) * line, line);
    });
  }

  std::shared_ptr<const hdf5::DataSet> data_;
  bool rows_first_;
  std::vector<Range> runs_;
};

}  // namespace

std::unique_ptr<FrameSource> hdf5_frames(std::shared_ptr<hdf5::DataSet> data, const std::string& axes,
                                         std::optional<std::vector<Range>> runs) {
  const std::size_t rank = data->shape().size();
  require<FileError>(rank == 3 || (rank == 2 && !runs), data->where(), ": has ", rank,
                     rank == 1 ? " axis" : " axes", "; 3 are needed (view, row, bin)");
  const bool rows_first = has_rows_first(axes, data->where());
  Shape shape = frames_shape(*data, rows_first);
  require<FileError>(shape[0] > 0 && shape[1] > 0 && shape[2] > 0, data->where(), ": has ", shape[0],
                     " views of ", shape[1], " rows and ", shape[2], " bins; at least 1 of each is needed");
  data->require_stored();
  if (!runs) runs = {Range{0, shape[0]}};
  shape[0] = 0;
  for (const Range& run : *runs) shape[0] += run.size();
  return std::make_unique<Hdf5Frames>(std::move(data), rows_first, std::move(*runs), shape);
}

}  // namespace tandem::io
