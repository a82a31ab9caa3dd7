#include "voxel_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/spelled.hpp"
#include "../../operators/distributed/rank_projector.hpp"
#include "../../operators/projector.hpp"
#include "../plan/grids.hpp"
#include "written_volume.hpp"

namespace tandem::pipeline {

namespace {

/// Where a voxel is, as the floats of a volume.
constexpr float outside = 0, inside = 1, in_shell = 2;

/// The unit of a support, in units of the job's grid.
double unit_of(const Job& job) { return job.pitch_known ? 1 : std::ldexp(1, -job.preprocessing.binning); }

/// Whether voxels need a lowest bound of their own: outside, in the shell, or all of them.
bool needs_lowest(const Bounds& all, const Recipe& asked) {
  return all.lowest != 0 || asked.support.shell || !asked.lowest_file.empty();
}

/// Draws the support in a slice, as its lines from `first_line` on.
void draw_disc(const Job& job, const VolumeGrid& grid, Index first_line, Image<float> x) {
  const Support& support = job.options.support;
  const double unit = unit_of(job), radius = support.disc->radius, most = unit * (radius + support.margin),
               shell = unit * (radius - support.shell.value_or(0)),
               whole = unit * radius - 0.5 * grid.pitch[0];  // voxels that the edge does not cut
  parallel_for(x.n0 * x.n1, [&](Index line) {
    const Index z = line / x.n1, y = line % x.n1;
    for (Index k = 0; k < x.n2; ++k) {
      const double r =
          std::hypot(grid.x(k) - unit * support.disc->x, grid.y(first_line + y) - unit * support.disc->y);
      x(z, y, k) = r > most ? outside : support.shell && r > shell && r <= whole ? in_shell : inside;
    }
  });
}

/// Marks the voxels of slices whose distance from a voxel outside, in their slice, is not more than that of
/// the edge between them and the shell.
void draw_shell(double thickness, const std::array<double, 3>& pitch, Image<float> x) {
  const double most = thickness + 0.5 * std::min(pitch[0], pitch[1]);
  const auto reach = static_cast<Index>(most / pitch[1]);
  parallel_for(x.n0, [&](Index z) {
    std::vector<double> aside(x.n1 * x.n2);  // the squares of distances within lines
    for (Index y = 0; y < x.n1; ++y)
      for (const Index step : {Index{1}, Index{-1}}) {
        double distance = INFINITY;
        for (Index n = 0, k = step > 0 ? 0 : x.n2 - 1; n < x.n2; ++n, k += step) {
          distance = x(z, y, k) == outside ? 0 : distance + pitch[0];
          double& square = aside[y * x.n2 + k];
          square = step > 0 ? distance * distance : std::min(square, distance * distance);
        }
      }
    for (Index y = 0; y < x.n1; ++y)
      for (Index k = 0; k < x.n2; ++k) {
        if (x(z, y, k) == outside) continue;
        double nearest = INFINITY;
        for (Index j = std::max<Index>(0, y - reach); j <= std::min(x.n1 - 1, y + reach); ++j)
          nearest = std::min(nearest, aside[j * x.n2 + k] + std::pow((j - y) * pitch[1], 2));
        if (nearest <= most * most) x(z, y, k) = in_shell;
      }
  });
}

/// Reads slices of the support's file, as where voxels are.
void read_places(const Job& job, io::VolumeReader& file, Range slices, float* to) {
  const Support& support = job.options.support;
  file.read(slices, to);
  const auto [nx, ny, nz] = job.grid.size;
  const Index count = slices.size() * ny * nx;
  for (Index k = 0; k < count; ++k) {
    require<FileError>(!std::isnan(to[k]), support.file.string(), ": ", spelled("support"),
                       " has NaN in slice ", slices.first + k / (ny * nx),
                       "; give numbers, 0 outside of the object");
    to[k] = to[k] != 0 ? inside : outside;
  }
  if (support.shell)
    draw_shell(unit_of(job) * *support.shell, job.grid.pitch, {to, slices.size(), ny, nx, ny * nx, nx});
}

std::unique_ptr<io::VolumeReader> open_support(const Job& job, bool any_external) {
  const Support& support = job.options.support;
  if (support.file.empty()) return nullptr;
  auto file = open_on_grid(job.place(), support.file, spelled("support"), any_external);
  const auto [nx, ny, nz] = job.grid.size;
  std::vector<float> slice(ny * nx);
  Index within = 0, beside_shell = 0;
  for (Index z = 0; z < nz; ++z) {
    read_places(job, *file, {z, z + 1}, slice.data());
    within += std::ssize(slice) - std::ranges::count(slice, outside);
    beside_shell += std::ranges::count(slice, inside);
  }
  require<FileError>(within > 0, support.file.string(), ": ", spelled("support"),
                     " is zero in all voxels; those of the object have to be another number");
  require<FileError>(beside_shell > 0, spelled("shell"), " ", support.shell.value_or(0),
                     job.pitch_known ? " mm" : " pixels", ": no voxel of ", support.file.string(),
                     " is farther from its edge; give a thinner one");
  return file;
}

/// Requires that no voxel has a lowest value above its highest one.
void require_order(const Job& job, const BoundsFiles& files) {
  const Bounds all = job.method->bounds(job.options);
  const auto [nx, ny, nz] = job.grid.size;
  std::vector<float> low(nx * ny, all.lowest), high(nx * ny, all.highest);
  for (Index z = 0; z < nz && (files.lowest || files.highest); ++z) {
    if (files.lowest) files.lowest->read({z, z + 1}, low.data());
    if (files.highest) files.highest->read({z, z + 1}, high.data());
    for (Index k = 0; k < nx * ny; ++k)
      require<FileError>(low[k] <= high[k], spelled("bounds"), ": voxel (", z, ", ", k / nx, ", ", k % nx,
                         ") (z, y, x) has the lowest value ", low[k], " and the highest ", high[k],
                         "; the lowest must not be above");
  }
}

}  // namespace

int volumes_of_bounds(const Method& method, const Recipe& asked) {
  return asked.bounds_vary() ? 1 + needs_lowest(method.bounds(asked), asked) : 0;
}

BoundsFiles open_bounds(const Job& job, bool any_external) {
  const auto opened = [&](const std::filesystem::path& path) {
    return path.empty() ? nullptr : open_on_grid(job.place(), path, spelled("bounds"), any_external);
  };
  BoundsFiles files{open_support(job, any_external), opened(job.options.lowest_file),
                    opened(job.options.highest_file)};
  require_order(job, files);
  return files;
}

VoxelBounds::VoxelBounds(Work& work)
    : work_(work), all_(work.plan.job.method->bounds(work.plan.job.options)) {
  const Job& job = work.plan.job;
  const Recipe& o = job.options;
  const auto opened = [&](const std::filesystem::path& path, const char* option) {
    return path.empty() ? nullptr : open_on_grid(job.place(), path, spelled(option), work.any_external);
  };
  files_ = {opened(o.support.file, "support"), opened(o.lowest_file, "bounds"),
            opened(o.highest_file, "bounds")};
  const double voxel = job.grid.pitch[0] / unit_of(job);
  require<GeometryError>(o.support.shell.value_or(voxel) >= voxel, spelled("shell"), " ",
                         o.support.shell.value_or(0), job.pitch_known ? " mm" : " pixels",
                         ": a voxel is as wide as ", voxel, "; give a thicker shell, or leave it out");
  require<GeometryError>(!o.support.is_disc || o.support.disc, spelled("support"),
                         " disc: no disc was fitted; give disc:at=X,Y,RADIUS");
}

Bounds VoxelBounds::operator()(const Problem& problem, Range slices) {
  const Recipe& asked = work_.plan.job.options;
  if (!asked.bounds_vary()) return all_;
  const Array where = places(problem, slices);
  const auto on_its_device = [&](Array ends) {
    return std::make_shared<const Array>(on_device(std::move(ends), work_.device()));
  };
  Bounds bounds = all_;
  Array highest = ends(files_.highest.get(), all_.highest, INFINITY, where, slices);
  if (needs_lowest(all_, asked)) {
    Array lowest = ends(files_.lowest.get(), all_.lowest, -INFINITY, where, slices);
    for (Index k = 0; k < lowest.size(); ++k)
      if (where.data()[k] == in_shell && std::isfinite(highest.data()[k])) {  // infinite beyond a file
        require<FileError>(highest.data()[k] < no_bound, asked.highest_file.string(), ": ", spelled("shell"),
                           " has its values, and ", highest.data()[k], " is no bound; give others there");
        lowest.data()[k] = highest.data()[k];
      }
    bounds.lowest_of_each = on_its_device(std::move(lowest));
  }
  bounds.highest_of_each = on_its_device(std::move(highest));
  return bounds;
}

/// The lowest or highest values of the voxels that this process has, on the host.
Array VoxelBounds::ends(io::VolumeReader* file, float for_all, float beyond, const Array& places,
                        Range slices) {
  Array x(places.space());
  std::fill_n(x.data(), x.size(), file ? beyond : for_all);
  if (file)
    read_into(
        work_, slices, [&](Range some, float* to) { file->read(some, to); }, beyond, x);
  for (Index k = 0; k < x.size(); ++k)
    if (places.data()[k] == outside) x.data()[k] = 0;
  return x;
}

/// Where the voxels are that this process has, on the host.
Array VoxelBounds::places(const Problem& problem, Range slices) {
  const Job& job = work_.plan.job;
  Array x(problem.A.domain().on(Device::cpu()));
  const Support& support = job.options.support;
  if (!files_.support && !support.is_disc) {
    std::fill_n(x.data(), x.size(), inside);
    return x;
  }
  if (!files_.support) {
    const Comm& ranks = work_.plan.flow.shared.vectors;
    const Range lines =
        portion_of_rank(problem.grid.size[1], ranks.rank(), ranks.size(), lines_together(job.scan));
    draw_disc(job, problem.grid, ranks.is_alone() ? 0 : lines.first, image(VectorView(x)));
    require<GeometryError>(!ranks.is_alone() || std::count(x.data(), x.data() + x.size(), outside) < x.size(),
                           spelled("support"), " disc: no voxel lies within a radius of ",
                           support.disc->radius, " about (", support.disc->x, ", ", support.disc->y, ")");
    return x;
  }
  std::fill_n(x.data(), x.size(), inside);
  read_into(
      work_, slices, [&](Range some, float* to) { read_places(job, *files_.support, some, to); }, inside, x);
  return x;
}

}  // namespace tandem::pipeline
