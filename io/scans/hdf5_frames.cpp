#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/spelled.hpp"
#include "changed_frames.hpp"
#include "frame_source.hpp"

namespace tandem::io {

namespace {

/// The order of the stored axes.
enum class Order { views, rows, lines };  ///< (view, row, bin), (row, view, bin), (view, bin)

/// The order by names of axes as the APS writes them: theta, theta_white, theta_dark.
Order order_of(const std::string& axes, std::size_t rank, const std::string& where) {
  const bool rows_first =
      axes.starts_with("y:theta") && axes.find(':', 2) == axes.size() - 2 && axes.ends_with(":x");
  require<FileError>(axes != "z:y:x", where,
                     ": is a volume (axes z:y:x), not a scan; tandem project makes a scan of it");
  if (rows_first) return Order::rows;
  if (axes == "theta:x" && rank == 2) return Order::lines;
  const bool views_first = axes.starts_with("theta") && axes.find(':') == axes.find(":y:x");
  require<FileError>(views_first && axes.ends_with(":y:x"), where, ": axes = \"", axes,
                     "\"; \"theta:y:x\", \"theta:x:y\", \"y:theta:x\" or \"x:theta:y\" is needed");
  return Order::views;
}

Shape frames_shape(std::vector<Index> n, Order order, bool has_times) {
  if (has_times) n.erase(n.begin());
  if (n.size() == 2) return order == Order::lines ? Shape{n[0], 1, n[1]} : Shape{1, n[0], n[1]};
  return order == Order::rows ? Shape{n[1], n[0], n[2]} : Shape{n[0], n[1], n[2]};
}

/// The axes with x and y exchanged, if images are stored with their rows along the last one; else empty.
std::string axes_exchanged(const std::string& axes) {
  for (const auto& [stored, exchanged] :
       {std::pair("theta:x:y", "theta:y:x"), std::pair("x:theta:y", "y:theta:x")})
    if (axes == stored || axes.ends_with(std::string(":") + stored))
      return axes.substr(0, axes.size() - std::string_view(stored).size()) + exchanged;
  return {};
}

/// Picks the wanted time, or channel (as of energy), of a data set that has several.
std::optional<Index> time_in(const hdf5::DataSet& data, const std::string& axes, std::optional<Index> time) {
  const bool channels = axes.starts_with("channel:");
  if (data.shape().size() != 4 && !channels && axes != "time:theta:x") return std::nullopt;
  const Index times = data.shape()[0];
  require<FileError>(axes.starts_with("time:") || channels, data.where(), ": has 4 axes, \"", axes,
                     "\"; \"time:theta:y:x\" is needed");
  require<FileError>(time && *time >= 0 && *time < times, data.where(), ": has ", times,
                     channels ? " channels" : " times", "; give " + spelled("time") + " K, from 0 to ",
                     times - 1);
  return time;
}

class Hdf5Frames : public FrameSource {
 public:
  /// The place of the frames in the data set.
  struct Place {
    Order order;
    std::optional<Index> time;
    std::vector<Range> runs;
  };
  Hdf5Frames(std::shared_ptr<const hdf5::DataSet> data, Place place, Shape shape)
      : FrameSource(data->where(), data->pixel_type(), shape),
        data_(std::move(data)),
        place_(std::move(place)) {}

  std::size_t decoded_bytes() const override { return data_->decoded_bytes(); }
  std::string packing() const override { return data_->packing(); }

  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    const std::size_t frame_bytes = rows.size() * bins.size() * bytes_of(type());
    Index before = 0;  // frames in the runs passed so far
    for (const Range& run : place_.runs) {
      const Range part{std::max(frames.first, before), std::min(frames.last, before + run.size())};
      if (part.size() > 0) {
        const Range stored{run.first + part.first - before, run.first + part.last - before};
        read_run(stored, rows, bins, out + (part.first - frames.first) * frame_bytes);
      }
      before += run.size();
    }
  }

 private:
  void read_run(Range frames, Range rows, Range bins, std::byte* out) const {
    if (place_.order == Order::lines) return read_part({frames, bins}, out);
    if (data_->shape().size() == 2) return read_part({rows, bins}, out);
    if (place_.order == Order::views) return read_part({frames, rows, bins}, out);
    const std::size_t line = bins.size() * bytes_of(type());
    parallel_for(rows.size(), [&](Index y) {
      std::vector<std::byte> row(frames.size() * line);
      const Range stored{rows.first + y, rows.first + y + 1};
      read_part({stored, frames, bins}, row.data());
      for (Index k = 0; k < frames.size(); ++k)
        std::memcpy(out + (k * rows.size() + y) * line, row.data() + k * line, line);
    });
  }

  void read_part(std::vector<Range> part, std::byte* out) const {
    if (place_.time) part.insert(part.begin(), Range{*place_.time, *place_.time + 1});
    data_->read(type(), part, out);
  }

  std::shared_ptr<const hdf5::DataSet> data_;
  Place place_;
};

}  // namespace

std::unique_ptr<FrameSource> hdf5_frames(std::shared_ptr<hdf5::DataSet> data, const std::string& axes,
                                         std::optional<std::vector<Range>> runs, std::optional<Index> time) {
  if (const std::string exchanged = axes_exchanged(axes); !exchanged.empty())
    return oriented(hdf5_frames(std::move(data), exchanged, std::move(runs), time), {.transpose = true});
  const std::size_t rank = data->shape().size();
  require<FileError>(rank == 3 || ((rank == 2 || rank == 4) && !runs), data->where(), ": has ", rank,
                     rank == 1 ? " axis" : " axes", "; 3 are needed (view, row, bin)");
  time = time_in(*data, axes, time);
  const Order order =
      order_of(time ? axes.substr(axes.find(':') + 1) : axes, rank - (time ? 1 : 0), data->where());
  Shape shape = frames_shape(data->shape(), order, time.has_value());
  require<FileError>(shape[0] > 0 && shape[1] > 0 && shape[2] > 0, data->where(), ": has ", shape[0],
                     " views of ", shape[1], " rows and ", shape[2], " bins; at least 1 of each is needed");
  data->require_stored();
  if (!runs) runs = {Range{0, shape[0]}};
  shape[0] = 0;
  for (const Range& run : *runs) shape[0] += run.size();
  return std::make_unique<Hdf5Frames>(std::move(data), Hdf5Frames::Place{order, time, std::move(*runs)},
                                      shape);
}

}  // namespace tandem::io
