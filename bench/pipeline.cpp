// From counts to a volume, between files or host memory: all stations together, and each of them alone.

#include "../pipeline/reconstruct.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "../core/host_memory.hpp"
#include "../core/parallel.hpp"
#include "../io/memory_scan.hpp"
#include "../io/scan_writer.hpp"
#include "../operators/algebra.hpp"
#include "../pipeline/chunks_due.hpp"
#include "../pipeline/problem.hpp"
#include "../pipeline/simulate.hpp"
#include "input.hpp"
#include "parallel_case.hpp"

namespace tandem::bench {

namespace {

namespace fs = std::filesystem;
namespace p = tandem::pipeline;

/// A volume in memory, which is touched when it is made.
class HostVolume final : public io::VolumeWriter {
 public:
  explicit HostVolume(Shape shape) : area_(shape[1] * shape[2]), voxels_(Space(shape)) {}
  void write(Range slices, const float* data) override {
    if (data == room(slices)) return;
    parallel_for(slices.size(), [&](Index k) {
      std::copy_n(data + k * area_, area_, room({slices.first + k, slices.last}));
    });
  }
  float* room(Range slices) override { return voxels_.data() + slices.first * area_; }
  void finish(const std::string&) override {}

 private:
  Index area_;
  Array voxels_;
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
  std::unique_ptr<io::ScanReader> host = {};

  std::unique_ptr<io::ScanReader> open() const { return io::open_scan(folder / "scan.h5"); }
  std::unique_ptr<io::VolumeWriter> create(const p::Plan& plan) const {
    if (!to_file) return std::make_unique<HostVolume>(plan.grid.shape());
    return io::create_volume(folder / "volume.h5", plan.grid.shape(), {}, "{}");
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
  return median_ms(axes, [&] {
    for (std::size_t k = 0; k < p::chunks_due(plan, {}).size(); ++k) {
      p::Findings findings;
      preprocess(frames, reference, plan.preprocessing, space, findings);
    }
  });
}

/// Filter and back-projection of data that lie on the device.
double fbp_alone(const Axes& axes, const p::Plan& plan) {
  const p::Problem problem = problem_of(plan, {0, plan.rows_at_once}, plan.workers.front());
  const LinearOperator F = filter_of(plan, problem);
  const Array y = input(problem.A.range());
  const KeepHostMemory kept;
  Stream& stream = default_stream(problem.worker.device);
  return median_ms(axes, [&] {
    for (std::size_t k = 0; k < p::chunks_due(plan, {}).size(); ++k)
      back_projected(plan, problem, F * y, [](double) {});
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

Rows::value_type timed(const Axes& axes, const Case& c, const Execution& wanted, Ends& ends) {
  p::Recipe recipe;
  recipe.devices = {axes.device}, recipe.execution = wanted;
  const auto scan = ends.open();
  const p::Plan plan = make_plan(scan->info(), recipe);
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
  const double computing = fbp_alone(axes, plan), reading = read_alone(axes, plan, source),
               preparing = preprocess_alone(axes, plan, source), writing = write_alone(axes, plan, ends);
  row.update({{"read_ms", 1e3 * seconds.read},
              {"preprocess_ms", 1e3 * seconds.preprocess},
              {"transfer_ms", 1e3 * seconds.transfer},
              {"compute_ms", 1e3 * (seconds.filter + seconds.backproject)},
              {"write_ms", 1e3 * seconds.write},
              {"read_alone_ms", reading},
              {"preprocess_alone_ms", preparing},
              {"compute_alone_ms", computing},
              {"write_alone_ms", writing},
              {"of_slowest", ms / std::max({computing, reading, preparing, writing})}});
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
    Ends ends{folder, axes.from_file, axes.to_file};
    for (const Execution& wanted : axes.executions) {
      on_line(words(name_of(wanted), slices));
      rows.push_back(timed(axes, c, wanted, ends));
    }
  }
  fs::remove_all(folder);
  return rows;
}

}  // namespace tandem::bench
