// From counts to a volume, between files or host memory: all stations together, and each of them alone.

#include "../pipeline/reconstruct.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "../core/ceil_div.hpp"
#include "../core/error.hpp"
#include "../core/host_memory.hpp"
#include "../core/parallel.hpp"
#include "../io/memory_scan.hpp"
#include "../io/scan_writer.hpp"
#include "../operators/algebra.hpp"
#include "../pipeline/chunks_due.hpp"
#include "../pipeline/gpu_counts.hpp"
#include "../pipeline/problem.hpp"
#include "../pipeline/simulate.hpp"
#include "input.hpp"
#include "parallel_case.hpp"

namespace tandem::bench {

namespace {

namespace fs = std::filesystem;
namespace p = tandem::pipeline;

/// A volume in memory, as a file would have it. Its values are unset.
class HostVolume final : public io::VolumeWriter {
 public:
  HostVolume(Shape shape, io::VoxelType type)
      : area_(shape[1] * shape[2]),
        bytes_(type == io::VoxelType::float16 ? 2 : 4),
        format_{.type = type},
        memory_(Space({shape[0], shape[1], ceil_div<Index>(shape[2] * bytes_, 4)}),
                default_stream(Device::cpu())) {}
  void write(Range slices, const float* data) override {
    const auto* from = reinterpret_cast<const std::byte*>(data);
    if (from == room(slices)) return;
    require<DeviceError>(bytes_ == 4, "bench pipeline: to host memory, only a GPU makes float16");
    parallel_for(slices.size(), [&](Index k) {
      std::copy_n(from + k * area_ * bytes_, area_ * bytes_, room({slices.first + k, slices.last}));
    });
  }
  const io::VolumeFormat* takes_stored() const override { return &format_; }
  std::byte* room(Range slices) override {
    return reinterpret_cast<std::byte*>(memory_.data()) + slices.first * area_ * bytes_;
  }
  void finish(const std::string&) override {}

 private:
  Index area_, bytes_;
  io::VolumeFormat format_;
  Array memory_;
};

void simulate(const Case& c, const fs::path& path) {
  p::Simulation s;
  s.phantom = "foam", s.scan = c.scan, s.grid = c.grid, s.photons = 1e4;
  const p::SimulatedScan simulated(s);
  const Index rows = c.scan.detector.rows;
  io::ScanWriter scan(path, c.scan, {}, simulated.type(), s.flats, s.darks);
  for (const io::FrameKind kind : {io::FrameKind::projection, io::FrameKind::flat, io::FrameKind::dark})
    scan.write(kind, {0, rows}, simulated.frames(kind, {0, rows}));
  scan.finish("{}");
}

/// Where the scan comes from and the volume goes to.
struct Ends {
  fs::path folder;
  bool from_file, to_file;
  io::VoxelType type;
  std::unique_ptr<io::ScanReader> host = {};

  std::unique_ptr<io::ScanReader> open() const { return io::open_scan(folder / "scan.h5"); }
  std::unique_ptr<io::VolumeWriter> create(const p::Plan& plan) const {
    if (!to_file) return std::make_unique<HostVolume>(plan.grid.shape(), type);
    return io::create_volume(folder / "volume.h5", plan.grid.shape(), {.type = type}, "{}");
  }
};

double read_alone(const Axes& axes, const p::Plan& plan, io::ScanReader& reader) {
  io::Frames frames;
  return median_ms(axes, [&] {
    for (const Range slices : p::chunks_due(plan, {}))
      reader.read(io::FrameKind::projection, plan.views, slices, plan.bins, frames);
  });
}

double preprocess_alone(const Axes& axes, const p::Plan& plan, io::ScanReader& reader) {
  const Range slices{0, plan.rows_at_once};
  const io::Frames frames = reader.read(io::FrameKind::projection, plan.views, slices, plan.bins);
  const p::Reference reference = read_reference(reader, slices, plan.bins, plan.preprocessing);
  const Space space = projection_space(scan_of(plan, slices));
  const KeepHostMemory kept;
  const std::size_t chunks = p::chunks_due(plan, {}).size();
  p::Findings unheeded;
  if (!plan.home().is_cuda() || !p::gpu_prepares(frames, plan.preprocessing))
    return median_ms(axes, [&] {
      for (std::size_t k = 0; k < chunks; ++k)
        preprocess(frames, reference, plan.preprocessing, space, unheeded);
    });
  const p::GpuFrames there = p::on_gpu(frames, plan.home());
  return median_ms(axes, [&] {
    for (std::size_t k = 0; k < chunks; ++k)
      preprocess_on_gpu(there, reference, plan.preprocessing, space.on(plan.home()), unheeded);
  });
}

/// Counts to a GPU and volumes from it, both at the same time. Nothing on the CPU.
double transfer_alone(const Axes& axes, const p::Plan& plan, io::ScanReader& reader, io::VoxelType type) {
  if (!plan.home().is_cuda()) return 0;
  const Range slices{0, plan.rows_at_once};
  const io::Frames frames = reader.read(io::FrameKind::projection, plan.views, slices, plan.bins);
  const Index bytes = type == io::VoxelType::float16 ? 2 : 4;
  const Array volume = input(Space({plan.rows_at_once, plan.grid.size[1], plan.grid.size[0] * bytes / 4}));
  Stream up(plan.home()), down(plan.home());
  Array there = on_device(volume, plan.home()), back = volume.clone();
  return median_ms(axes, [&] {
    for (std::size_t k = 0; k < p::chunks_due(plan, {}).size(); ++k) {
      copy(there, back, down);
      const UseStream use(up);
      p::on_gpu(frames, plan.home());
    }
    down.synchronize();
  });
}

/// Filter and back-projection of data that lie on the device.
double fbp_alone(const Axes& axes, const p::Plan& plan) {
  const p::Problem problem = problem_of(plan, {0, plan.rows_at_once}, plan.workers.front());
  const std::optional<LinearOperator> F = filter_of(plan, problem);
  const p::BackProjection B = back_projection_of(plan, problem);
  const auto unheard = [](double) {};
  const Array y = input(problem.A.range());
  const KeepHostMemory kept;
  Stream& stream = default_stream(problem.worker.device);
  return median_ms(axes, [&] {
    for (std::size_t k = 0; k < p::chunks_due(plan, {}).size(); ++k) F ? B(*F * y, unheard) : B(y, unheard);
    stream.synchronize();
  });
}

double write_alone(const Axes& axes, const p::Plan& plan, const Ends& ends) {
  const Array slab = input(Space({plan.rows_at_once, plan.grid.size[1], plan.grid.size[0]}));
  return median_ms(axes, [&] {
    const auto writer = ends.create(plan);
    for (const Range slices : p::chunks_due(plan, {})) writer->write(slices, slab.data());
    writer->finish("{}");
  });
}

/// Who works, beside the axes.
struct Crew {
  Index devices, streams;
};

Rows::value_type timed(const Axes& axes, const Crew& how, const Case& c, const Execution& wanted,
                       Ends& ends) {
  p::Recipe recipe;
  recipe.devices.clear();
  for (Index k = 0; k < how.devices; ++k)
    recipe.devices.push_back(axes.device.is_cuda() ? Device::cuda(axes.device.ordinal() + static_cast<int>(k))
                                                   : axes.device);
  recipe.streams = static_cast<int>(how.streams), recipe.rows_at_once = axes.chunk;
  recipe.execution = wanted;
  const auto scan = ends.open();
  const p::Plan plan = make_plan(scan->info(), recipe);
  const PinHostMemory pinned(axes.device);
  const KeepHostMemory kept;  // touched and pinned in the first run, which does not count
  if (!ends.from_file && !ends.host) ends.host = std::make_unique<io::MemoryScan>(*scan);
  io::ScanReader& source = ends.from_file ? *scan : *ends.host;
  p::Seconds seconds;
  const double ms = median_ms(axes, [&] {
    const auto reader = ends.from_file ? ends.open() : nullptr;
    const auto writer = ends.create(plan);
    seconds = reconstruct(reader ? *reader : source, plan, *writer).seconds;
    writer->finish("{}");
  });
  Rows::value_type row =
      line(c, std::string(ends.from_file ? "file" : "host") + " to " + (ends.to_file ? "file" : "host"), ms,
           c.updates(), plan.execution());
  // a GPU brings a volume that stays in memory where it belongs
  const bool writes = ends.to_file || !plan.home().is_cuda(),
             reads = ends.from_file || !plan.home().is_cuda();
  const double computing = fbp_alone(axes, plan), reading = reads ? read_alone(axes, plan, source) : 0,
               preparing = preprocess_alone(axes, plan, source),
               moving = transfer_alone(axes, plan, source, ends.type),
               writing = writes ? write_alone(axes, plan, ends) : 0;
  row.update({{"devices", how.devices},
              {"streams", how.streams},
              {"chunk", plan.rows_at_once},
              {"read_ms", 1e3 * seconds.read},
              {"preprocess_ms", 1e3 * seconds.preprocess},
              {"transfer_ms", 1e3 * seconds.transfer},
              {"compute_ms", 1e3 * (seconds.filter + seconds.backproject)},
              {"write_ms", 1e3 * seconds.write},
              {"read_alone_ms", reading},
              {"preprocess_alone_ms", preparing},
              {"transfer_alone_ms", moving},
              {"compute_alone_ms", computing},
              {"write_alone_ms", writing},
              {"of_slowest", ms / std::max({computing, reading, preparing, moving, writing})}});
  return row;
}

}  // namespace

Rows pipeline(const Axes& axes, const OnLine& on_line) {
  Rows rows = Rows::array();
  const fs::path folder = fs::temp_directory_path() / "tandem-bench";
  fs::create_directories(folder);
  for (const Index slices : axes.slices) {
    on_line(words("simulate", slices));
    const Case c(axes.size, axes.views, slices);
    simulate(c, folder / "scan.h5");
    Ends ends{folder, axes.from_file, axes.to_file,
              axes.halves ? io::VoxelType::float16 : io::VoxelType::float32};
    for (const Execution& wanted : axes.executions)
      for (const Index devices : axes.devices)
        for (const Index streams : axes.streams) {
          on_line(words(name_of(wanted), slices));
          rows.push_back(timed(axes, {devices, streams}, c, wanted, ends));
        }
  }
  fs::remove_all(folder);
  return rows;
}

}  // namespace tandem::bench
