#include "tiled_projector.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../kernels/cone.hpp"
#include "../kernels/flexible.hpp"
#include "projector.hpp"

namespace tandem {

namespace {

constexpr Index parts_of_output = 8;  // each part is downloaded as soon as it is made

/// Some lines (axis 1) of a volume, or some views (axis 0) of projections.
template <class T>
Image<T> part_of(Image<T> whole, int axis, Range part) {
  whole.data += part.first * (axis == 0 ? whole.s0 : whole.s1);
  (axis == 0 ? whole.n0 : whole.n1) = part.size();
  return whole;
}

template <class T>
Index elements(const Image<T>& image) {
  return image.n0 * image.n1 * image.n2;
}

/// An image of the same extents in an array that has room for it.
template <class T>
Image<float> shaped(Array& room, const Image<T>& like) {
  return {room.data(), like.n0, like.n1, like.n2, like.n1 * like.n2, like.n2};
}

Image<const float> read_only(const Image<float>& i) { return {i.data, i.n0, i.n1, i.n2, i.s0, i.s1}; }

/// A vector in host memory, and the ranges into which it is cut.
template <class T>
struct Side {
  Image<T> image;
  int axis;
  const std::vector<Range>& cut;
  Image<T> at(Range part) const { return part_of(image, axis, part); }
  /// Memory for the largest piece on a device.
  Array room(const Stream& stream) const {
    Index most = 0;
    for (const Range r : cut) most = std::max(most, elements(at(r)));
    return Array(Space({1, 1, most}, Blocks::whole, stream.device()), stream);
  }
};

/// One application in one direction: out <- beta out + what `add` adds.
struct Application {
  Side<const float> in;
  Side<float> out;
  float beta;
  /// Computes one tile on the stream's device, from the lines or views `from` in `in` to those `to` in `out`.
  std::function<void(Range from, Range to, Image<const float> in, float beta, Image<float> out, Stream&)> add;
};

/// The part of one device in an application. Why no buffer is overwritten too early:
/// - A buffer for inputs is filled again when the host has seen the event `read`, which is recorded behind
/// the last
///   kernel that reads it. Kernels wait for `filled`, which is recorded behind the upload.
/// - The output is first written, by a kernel or an upload, when the host has seen `saved`, which is recorded
/// behind the
///   last download of the output before. A download waits for `made`, which is recorded behind the last
///   kernel that adds to its part.
/// - Memory is given back when all streams have ended. Memory of kernels beside their vectors is allocated
/// and freed in
///   the order of the one stream on which they run.
class Lane {
 public:
  Lane(const Application& application, Device device, int streams)
      : application_(application), output_(application.out.room(default_stream(device))), saved_(device) {
    const Stream& births = default_stream(device);
    const int count = std::clamp(streams, 1, 3);
    for (int k = 0; k < 3; ++k) streams_.push_back(k < count ? Stream(device) : streams_[k % count]);
    const auto rooms = std::min(inputs_at_once, std::ssize(application.in.cut));
    for (Index k = 0; k < rooms; ++k)
      inputs_.push_back({application.in.room(births), Event(device), Event(device)});
    for (Index k = 0; k < parts_of_output; ++k) made_.emplace_back(device), here_.emplace_back(device);
    births.synchronize();  // now the buffers are there for all streams
  }
  Lane(Lane&&) = delete;
  ~Lane() {
    for (const Stream& stream : streams_) try {
        stream.synchronize();
      } catch (const DeviceError&) {  // the error is on its way already
      }
  }

  /// Makes a piece of the output from all of the input, as long as `proceed` returns true. An upload is
  /// queued after the kernels of the piece before, because the host waits for copies if memory is not pinned,
  /// and kernels run meanwhile.
  template <class Proceed>
  void make(Range output, const Proceed& proceed) {
    const std::vector<Range> parts = in_pieces(output, parts_of_output);
    load(0);
    for (std::size_t i = 0; i < application_.in.cut.size(); ++i) {
      if (!proceed()) return;
      add(i, output, parts);
      if (i + 1 < application_.in.cut.size()) load(i + 1);
    }
    save(output, parts);
  }

  void finish() const {
    for (const Stream& stream : streams_) stream.synchronize();
  }

 private:
  struct Input {
    Array room;
    Event filled, read;
  };
  Stream& uploads() { return streams_[0]; }
  Stream& kernels() { return streams_[1]; }
  Stream& downloads() { return streams_[2]; }

  /// A part of the output on the device.
  Image<float> here(Range output, Range part) {
    return part_of(shaped(output_, application_.out.at(output)), application_.out.axis,
                   {part.first - output.first, part.last - output.first});
  }

  void load(std::size_t i) {
    Input& input = inputs_[loaded_++ % inputs_.size()];
    input.read.synchronize();
    const Image<const float> from = application_.in.at(application_.in.cut[i]);
    copy(from, shaped(input.room, from), uploads());
    input.filled.record(uploads());
  }

  /// Adds input i to the output. Before the first input, the old output is uploaded part by part. After the
  /// last input, parts are done and are downloaded.
  void add(std::size_t i, Range output, const std::vector<Range>& parts) {
    const Range from = application_.in.cut[i];
    const bool first = i == 0, last = i + 1 == application_.in.cut.size(),
               loads = first && application_.beta != 0;
    Input& input = inputs_[added_++ % inputs_.size()];
    const Image<const float> in = read_only(shaped(input.room, application_.in.at(from)));
    kernels().wait(input.filled);
    if (first) saved_.synchronize();
    const std::vector<Range> whole{output}, &todo = loads || last ? parts : whole;
    for (std::size_t p = 0; p < todo.size(); ++p) {
      const Image<float> out = here(output, todo[p]);
      if (loads) {
        copy(read_only(application_.out.at(todo[p])), out, uploads());
        here_[p].record(uploads());
        kernels().wait(here_[p]);
      }
      application_.add(from, todo[p], in, first ? application_.beta : 1, out, kernels());
      if (last) made_[p].record(kernels());
    }
    input.read.record(kernels());
  }

  void save(Range output, const std::vector<Range>& parts) {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      downloads().wait(made_[p]);
      copy(read_only(here(output, parts[p])), application_.out.at(parts[p]), downloads());
    }
    saved_.record(downloads());
  }

  const Application& application_;
  Array output_;
  std::vector<Input> inputs_;
  std::size_t loaded_ = 0, added_ = 0;  ///< number of inputs loaded, and added, by now
  std::vector<Event> here_, made_;      ///< events of each part of the output
  Event saved_;
  std::vector<Stream> streams_;
};

// What tiles need to know about a kind of beam.

const kernels::ConeVariant& kernels_of(const ConeBeam&, Device device) {
  return kernels::cone(Model::separable_footprint, device);
}
const kernels::FlexibleVariant& kernels_of(const FlexibleBeam&, Device device) {
  return kernels::flexible(device).front();
}
ConeViews packed(const ConeBeam& scan, const VolumeGrid& grid) { return pack(scan, grid); }
FlexibleViews packed(const FlexibleBeam& scan, const VolumeGrid& grid) {
  return places(scan, tall_voxels(scan, grid));
}

template <class Beam>
struct Tiles {
  Beam scan;
  VolumeGrid grid;
  std::vector<Device> devices;
  Tilings tilings;
  TileRun how;
  Space domain() const { return cone_volume_space(grid); }
  Space range() const { return projection_space(scan); }

  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream&) const {
    const auto& [strips, blocks] = tilings.forward;
    run({{image(x), 1, strips},
         {image(y), 0, blocks},
         beta,
         [&](Range lines, Range views, Image<const float> in, float b, Image<float> out, Stream& stream) {
           kernels_of(scan, stream.device()).forward(tile(lines, views), {}, alpha, in, b, out, stream);
         }});
  }

  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream&) const {
    const auto& [strips, blocks] = tilings.backward;
    run({{image(y), 0, blocks},
         {image(x), 1, strips},
         beta,
         [&](Range views, Range lines, Image<const float> in, float b, Image<float> out, Stream& stream) {
           kernels_of(scan, stream.device()).backward(tile(lines, views), {}, alpha, in, b, out, stream);
         }});
  }

  auto tile(Range lines, Range views) const {
    return packed(crop(scan, views), region(grid, {0, grid.size[0]}, lines, {0, grid.size[2]}));
  }

  /// Runs an application. Devices take the pieces of the output in turn.
  void run(const Application& application) const {
    std::atomic<bool> stop = false;
    on_threads(std::ssize(devices), [&](Index d) {
      const Device device = devices[d];
      try {
        run_on(device, d, application, stop);
      } catch (const DeviceError& e) {
        stop = true;
        throw DeviceError("tiles on " + device.name() + ": " + e.what());
      } catch (...) {
        stop = true;
        throw;
      }
    });
  }

  void run_on(Device device, std::size_t first, const Application& application,
              const std::atomic<bool>& stop) const {
    const std::vector<Range>& outputs = application.out.cut;
    if (first >= outputs.size()) return;
    {
      Lane lane(application, device, how.streams);
      for (std::size_t k = first; k < outputs.size() && !stop; k += devices.size())
        lane.make(outputs[k], [&] {
          if (!stop && how.on_tile) how.on_tile(device);
          return !stop;
        });
      lane.finish();
    }
    default_stream(device).synchronize();  // now its memory is back in the pool for others
  }
};

template <class Beam>
LinearOperator in_tiles(const Beam& scan, const VolumeGrid& grid, std::vector<Device> devices, double bytes,
                        TileRun run) {
  validate(scan);
  validate(grid);
  require_source_outside(scan, grid);  // the source is outside of any strip then
  Tilings tilings = plan_tiles(scan, grid, devices, bytes);
  return Tiles<Beam>{scan, grid, std::move(devices), std::move(tilings), std::move(run)};
}

}  // namespace

Tilings plan_tiles(const Scan& scan, const VolumeGrid& grid, const std::vector<Device>& devices,
                   double bytes) {
  require<DeviceError>(!devices.empty(), "tiles: no device is given");
  const auto most_of_all = [&](Shape volume, Shape projections) {
    WorkingMemory most{};
    for (const Device device : devices) {
      const WorkingMemory one = working_memory(scan, volume, projections, device);
      most = {std::max(most.forward, one.forward), std::max(most.backward, one.backward)};
    }
    return most;
  };
  return plan_tiles(scan, grid, std::ssize(devices), bytes, most_of_all);
}

LinearOperator tiled_projector(const Scan& scan, const VolumeGrid& grid, std::vector<Device> devices,
                               double bytes, TileRun run) {
  return std::visit(
      [&]<class Kind>(const Kind& s) -> LinearOperator {
        if constexpr (Kind::rays_cross_slices)
          return in_tiles(s, grid, std::move(devices), bytes, std::move(run));
        throw GeometryError("tiles: slices of a " + std::string(s.kind) +
                            " beam are no problem of several devices");
      },
      scan);
}

}  // namespace tandem
