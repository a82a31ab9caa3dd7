// The times from counts to a volume, between files or host memory: of all stations together, and of each
// alone.

#include "../core/rounding.hpp"
#include "../pipeline/plan/make_problem.hpp"
#include "../pipeline/reconstruct.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "../core/ceil_div.hpp"
#include "../core/error.hpp"
#include "../core/host_memory.hpp"
#include "../core/parallel.hpp"
#include "../counts/gpu_counts.hpp"
#include "../io/scans/memory_scan.hpp"
#include "../io/scans/scan_writer.hpp"
#include "../operators/algebra.hpp"
#include "../operators/tiling.hpp"
#include "../pipeline/beams/beam.hpp"
#include "../pipeline/plan/chunks_due.hpp"
#include "../pipeline/plan/problem.hpp"
#include "../pipeline/simulate.hpp"
#include "cone_case.hpp"
#include "input.hpp"
#include "parallel_case.hpp"
#include "steps.hpp"

namespace tandem::bench {

namespace {

namespace fs = std::filesystem;
namespace p = tandem::pipeline;

/// A volume in memory in the place of a file. Its values are unset.
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

/// The scan, the grid, and the number of updates of a reconstruction.
struct PipelineCase {
  Scan scan;
  VolumeGrid grid;
  double updates;
};

PipelineCase pipeline_case(const Axes& axes, Index slices) {
  if (axes.cone) {
    const ConeCase c(axes.size, axes.views);
    return {c.scan, c.grid, c.updates()};
  }
  const Case c(axes.size, axes.views, slices);
  return {c.scan, c.grid, c.updates()};
}

void simulate(const PipelineCase& c, const fs::path& path) {
  p::Simulation s;
  s.phantom = needs_mm(c.scan) ? "ellipsoids" : "foam";
  s.scan = c.scan, s.grid = c.grid, s.photons = 1e4;
  const p::SimulatedScan simulated(s);
  const Detector& d = detector_of(c.scan);
  const Index rows = d.rows;
  io::ScanWriter scan({path, io::Content::scan}, c.scan, d.bin_pitch, simulated.type(), s.flats, s.darks);
  for (const io::FrameKind kind : {io::FrameKind::projection, io::FrameKind::flat, io::FrameKind::dark})
    scan.write(kind, {0, rows}, simulated.frames(kind, {0, rows}));
  scan.finish("{}");
}

/// Where the scan comes from and the volume goes to.
struct Ends {
  fs::path folder;
  bool from_file;
  std::string to;  ///< see Axes
  io::VoxelType type;
  std::unique_ptr<io::ScanReader> host = {};

  std::unique_ptr<io::ScanReader> open() const { return io::open_scan(folder / "scan.h5"); }
  std::unique_ptr<io::VolumeWriter> create(const p::Plan& plan) const {
    if (to.empty()) return std::make_unique<HostVolume>(plan.job.grid.shape(), type);
    return io::create_volume(folder / ("volume" + to), plan.job.grid.shape(), {.type = type}, "{}");
  }
};

/// The blocks of views that pass for each chunk.
std::vector<Range> blocks_of(const p::Plan& plan) {
  const Range all{0, plan.job.views.size()};
  return (block_views(plan.flow) > 0) ? pieces(all, block_views(plan.flow)) : std::vector{all};
}

/// Calls body(slices, views) for all that a plan reads, in its order.
template <class Body>
void for_parts(const p::Plan& plan, const Body& body) {
  for (const Range slices : p::chunks_due(plan, {}))
    for (const Range views : blocks_of(plan)) body(slices, views);
}

void read(io::ScanReader& reader, const p::Plan& plan, Range slices, Range views, io::Frames& into) {
  reader.read(io::FrameKind::projection, views, rows_read(plan, slices).rows, plan.job.bins, into);
}

double read_alone(const Axes& axes, const p::Plan& plan, io::ScanReader& reader) {
  io::Frames frames;
  return median_ms(axes, [&] {
    for_parts(plan, [&](Range slices, Range views) { read(reader, plan, slices, views, frames); });
  });
}

/// The milliseconds of preprocessing: that of the first block of views, as often as there are blocks.
double preprocess_alone(const Axes& axes, const p::Plan& plan, io::ScanReader& reader) {
  const KeepHostMemory kept;
  const std::vector<Range> blocks = blocks_of(plan);
  const Range first = blocks.front();
  double ms = 0;
  io::Frames frames;
  for (const Range slices : p::chunks_due(plan, {})) {
    read(reader, plan, slices, first, frames);
    const Scan whole = scan_of(plan, slices);
    const Space space = projection_space(crop(whole, first));
    const p::RowsRead rows = rows_read(plan, slices);
    p::Reference reference = read_reference(reader, rows.rows, plan.job.bins, plan.job.preprocessing);
    reference.margin_above = rows.above, reference.margin_below = rows.below;
    const bool on_gpu = plan.flow.home().is_cuda() && p::gpu_prepares(frames, plan.job.preprocessing);
    std::optional<p::GpuFrames> there;
    if (on_gpu) there = p::on_gpu(frames, plan.flow.home());
    p::Findings unheeded;
    ms += median_ms(axes, [&] {
      for (std::size_t k = 0; k < blocks.size(); ++k)
        if (on_gpu)
          preprocess_on_gpu(*there, reference, plan.job.preprocessing, space.on(plan.flow.home()), unheeded);
        else
          preprocess(frames, reference, plan.job.preprocessing, space, unheeded);
    });
    if (!(block_views(plan.flow) > 0)) return ms * p::chunks_due(plan, {}).size();
  }
  return ms;
}

/// The milliseconds of transfers: counts to a GPU and volumes from it at the same time. Zero on the CPU.
double transfer_alone(const Axes& axes, const p::Plan& plan, io::ScanReader& reader, io::VoxelType type) {
  if (!plan.flow.home().is_cuda()) return 0;
  io::Frames frames;
  read(reader, plan, {0, plan.flow.chunk_slices}, blocks_of(plan).front(), frames);
  const Index bytes = type == io::VoxelType::float16 ? 2 : 4;
  const Array volume =
      input(Space({plan.flow.chunk_slices, plan.job.grid.size[1], plan.job.grid.size[0] * bytes / 4}));
  Stream up(plan.flow.home()), down(plan.flow.home());
  Array there = on_device(volume, plan.flow.home()), back = volume.clone();
  return median_ms(axes, [&] {
    Range last{};
    for_parts(plan, [&](Range slices, Range views) {
      if (!(slices == last)) copy(there, back, down);
      last = slices;
      const UseStream use(up);
      io::FramesView some = frames;
      some.shape[0] = std::min(views.size(), some.shape[0]);
      some.shape[1] = std::min(rows_read(plan, slices).rows.size(), some.shape[1]);
      p::on_gpu(some, plan.flow.home());
    });
    down.synchronize();
  });
}

/// The milliseconds of filter and back-projection of data that lie on the device.
double fbp_alone(const Axes& axes, const p::Plan& plan) {
  const p::Problem problem = problem_of(plan, {0, plan.flow.chunk_slices}, plan.flow.workers.front());
  const std::optional<LinearOperator> F =
      plan.flow.pair.placement->filter(plan.flow, plan.job.options.fbp_filter, problem);
  const p::BackProjection B =
      plan.flow.pair.placement->back_projection(plan.flow, plan.job.options.fbp_filter, problem);
  const auto unheard = [](double) {};
  const Array y = input(problem.A.range());
  const KeepHostMemory kept;
  Stream& stream = default_stream(problem.worker.device);
  return median_ms(axes, [&] {
    for (std::size_t k = 0; k < p::chunks_due(plan, {}).size(); ++k) F ? B(*F * y, unheard) : B(y, unheard);
    stream.synchronize();
  });
}

/// The milliseconds of filter and back-projection if views pass in blocks, all on one device.
double fdk_alone(const Axes& axes, const p::Plan& plan) {
  double ms = 0;
  const KeepHostMemory kept;
  for (const Range slices : p::chunks_due(plan, {})) {
    const p::Problem problem = problem_of(plan, slices, plan.flow.workers.front());
    const p::ByViews fdk = p::beam_of(problem.scan).of_views(plan.job.options.fbp_filter, problem);
    const Range first = blocks_of(plan).front();
    const Array y = input(fdk.filter(first).domain());
    Array x(problem.A.domain());
    Stream& stream = default_stream(problem.worker.device);
    ms += median_ms(axes, [&] {
      for (std::size_t k = 0; k < blocks_of(plan).size(); ++k)  // all blocks are as large as the first
        fdk.back_projection(first).apply(1, fdk.filter(first) * y, 1, x, stream);
      stream.synchronize();
    });
  }
  return ms;
}

double write_alone(const Axes& axes, const p::Plan& plan, const Ends& ends) {
  const Array slab = input(Space({plan.flow.chunk_slices, plan.job.grid.size[1], plan.job.grid.size[0]}));
  return median_ms(axes, [&] {
    const auto writer = ends.create(plan);
    for (const Range slices : p::chunks_due(plan, {})) writer->write(slices, slab.data());
    writer->finish("{}");
  });
}

Rows::value_type line(const p::Plan& plan, const std::string& direction, double ms, double updates) {
  Execution how = plan.flow.execution();
  if (plan.flow.pair.model == Model::hierarchical) how.variant = name_of(plan.flow.pair.model);
  const Index views = plan.job.views.size();
  return table_line(how, direction, {plan.job.grid.size[2], plan.job.grid.size[0], views}, ms, updates);
}

/// The numbers of devices and streams of a run.
struct Crew {
  Index devices, streams;
};

Rows::value_type timed(const Axes& axes, const Crew& how, const PipelineCase& c, const Execution& wanted,
                       Ends& ends) {
  p::Recipe recipe;
  recipe.method = needs_mm(c.scan) ? "fdk" : "fbp";
  recipe.size = c.grid.size[0], recipe.slices = c.grid.size[2];
  recipe.devices = first_devices(axes.device, how.devices);
  recipe.streams = int_of(how.streams), recipe.most_slices = axes.chunk;
  if (wanted.variant == name_of(Model::hierarchical))
    recipe.model = Model::hierarchical;
  else
    recipe.execution = wanted;
  if (axes.all_steps) recipe.steps = chains_of_steps().back().values;
  const auto scan = ends.open();
  const p::Plan plan = make_plan(scan->info(), recipe);
  const PinHostMemory pinned(axes.device);
  const KeepHostMemory kept;  // memory is touched and pinned in the first run, which does not count
  if (!ends.from_file && !ends.host) ends.host = std::make_unique<io::MemoryScan>(*scan);
  io::ScanReader& source = ends.from_file ? *scan : *ends.host;
  p::Seconds seconds;
  const double ms = median_ms(axes, [&] {
    const auto reader = ends.from_file ? ends.open() : nullptr;
    const auto writer = ends.create(plan);
    seconds = reconstruct(reader ? *reader : source, plan, *writer).seconds;
    writer->finish("{}");
  });
  Rows::value_type row = line(
      plan, std::string(ends.from_file ? "file" : "host") + " to " + (ends.to.empty() ? "host" : ends.to), ms,
      c.updates);
  // if the volume stays in memory, a GPU brings it to its place, and nothing is written
  const bool writes = !ends.to.empty() || !plan.flow.home().is_cuda(),
             reads = ends.from_file || !plan.flow.home().is_cuda();
  const std::set<Device> crew(recipe.devices.begin(), recipe.devices.end());
  const double workers = (block_views(plan.flow) > 0) ? crew.size() : 1;
  const double computing =
                   (block_views(plan.flow) > 0) ? fdk_alone(axes, plan) / workers : fbp_alone(axes, plan),
               reading = reads ? read_alone(axes, plan, source) : 0,
               preparing = preprocess_alone(axes, plan, source) / workers,
               moving = transfer_alone(axes, plan, source, ends.type) / workers,
               writing = writes ? write_alone(axes, plan, ends) : 0;
  row.update({{"devices", how.devices},
              {"streams", how.streams},
              {"chunk", plan.flow.chunk_slices},
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
    const PipelineCase c = pipeline_case(axes, slices);
    simulate(c, folder / "scan.h5");
    Ends ends{folder, axes.from_file, axes.to, axes.halves ? io::VoxelType::float16 : io::VoxelType::float32};
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
