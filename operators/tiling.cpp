#include "tiling.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "../core/ceil_div.hpp"
#include "../core/error.hpp"
#include "../core/rounding.hpp"
#include "../core/spelled.hpp"
#include "../core/units.hpp"
#include "projector.hpp"

namespace tandem {

namespace {

constexpr Index step = 8;  // pieces begin at multiples of it

/// The number of pieces in which an input passes. They should be small, because work begins only when the
/// first one has come, and the output leaves only during the last one. They should be large, because kernels
/// need many views at a time.
constexpr Index pieces_of_input = 8;
constexpr double share_of_input = 1.0 / 8;  // share of a device's memory for each piece

Index round_up(Index a, Index to = step) { return ceil_div(a, to) * to; }

/// Lines of a volume, or views: how many there are, the bytes of one, and how many stay together.
struct Axis {
  Index count;
  double bytes;
  Index unit = 1;
  Index units() const { return ceil_div(count, unit); }
  Index within(Index some) const { return std::min(count, some * unit); }  ///< count in some units
};

struct Sizes {
  Index input, output;  ///< lines or views of a piece; output is 0 if nothing fits
};

/// The largest output, up to `most`, beside inputs of at most `input`. Inputs become smaller if no output
/// fits beside them. Memory grows with both.
template <class Bytes>
Sizes largest(Index input, Index most, double bytes, const Bytes& needed) {
  for (;; input = ceil_div<Index>(input, 2)) {
    Index fits = 0, fails = most + 1;
    while (fails - fits > 1) {
      const Index middle = (fits + fails) / 2;
      (needed(input, middle) <= bytes ? fits : fails) = middle;
    }
    if (fits > 0 || input == 1) return {input, fits};
  }
}

template <class Bytes>
Sizes sizes(const Axis& input, Index passes, const Axis& output, Index devices, double bytes,
            const Bytes& kernels) {
  const auto needed = [&](Index in, Index out) {  // units
    const Index some = input.within(in), made = output.within(out);
    return inputs_at_once * some * input.bytes + made * output.bytes + kernels(some, made);
  };
  const Index lines = input.within(1) * output.within(1);  // one of the two counts is of views
  require<DeviceError>(needed(1, 1) <= bytes,
                       "tiles: ", lines == 1 ? "one line" : std::to_string(lines) + " lines",
                       " of voxels and one view need ", needed(1, 1) / bytes_per_mib,
                       " MiB of each device, the limit is ", bytes / bytes_per_mib, " MiB",
                       "; give a larger " + spelled("device-memory") + ", a smaller " + spelled("size") +
                           " or " + spelled("region") + ", or " + spelled("binning"));
  const double share = std::max(1.0, share_of_input * bytes / (input.bytes * input.unit));
  const Index wanted = std::min(input.units(), ceil_div(round_up(ceil_div(input.count, passes)), input.unit));
  const Sizes found =
      largest(share < wanted ? floor_index(share) : wanted, ceil_div(output.units(), devices), bytes, needed);
  return {found.input * input.unit, found.output * output.unit};
}

/// Cuts the first of several blocks of views in two, so that work begins when a quarter of it has come.
std::vector<Range> begun_early(std::vector<Range> blocks) {
  const Range first = blocks.front();
  const Index middle = first.first + first.size() / 4 / step * step;
  if (blocks.size() < 2 || middle == first.first) return blocks;
  blocks.front() = {middle, first.last};
  blocks.insert(blocks.begin(), {first.first, middle});
  return blocks;
}

/// The facts of a scan for tiles: its detector, its views, and the lines of a volume that stay together.
struct Cut {
  Detector detector;
  Index views, lines_together;
};

Tilings tilings_of(const Cut& cut, const VolumeGrid& grid, Index devices, double bytes,
                   const TileMemory& kernels) {
  validate(grid);
  const auto [nx, ny, nz] = grid.size;
  const auto [all, unit] = std::pair{cut.views, cut.lines_together};
  const Index rows = cut.detector.rows, bins = cut.detector.bins;
  const Axis lines{ny, double{sizeof(float)} * (nx * nz), unit},
      views{all, double{sizeof(float)} * (rows * bins)};
  const auto memory = [&, n0 = nz, n2 = nx](Index strip, Index block) {
    return kernels({n0, strip, n2}, {block, rows, bins});
  };
  const Sizes forward = sizes(lines, pieces_of_input, views, devices, bytes,
                              [&](Index strip, Index block) { return memory(strip, block).forward; });
  const Sizes backward = sizes(views, pieces_of_input, lines, devices, bytes,
                               [&](Index block, Index strip) { return memory(strip, block).backward; });
  const Range all_lines{0, ny}, all_views{0, all};
  return {
      {pieces(all_lines, forward.input, 1, unit), pieces(all_views, forward.output, devices)},
      {pieces(all_lines, backward.output, devices, unit), begun_early(pieces(all_views, backward.input))}};
}

}  // namespace

std::vector<Range> pieces(Range all, Index most, Index multiple, Index together) {
  const auto count_by = [&](Index unit) {
    const Index units = ceil_div(all.size(), unit);
    return std::min(units, round_up(ceil_div(units, most / unit), multiple));
  };
  const bool in_steps = most >= step && count_by(step) % multiple == 0;
  const Index unit = in_steps ? std::max(step, together) : together, count = count_by(unit),
              units = ceil_div(all.size(), unit);
  std::vector<Range> cut;
  for (Index k = 0; k < count; ++k)
    cut.push_back({all.first + k * units / count * unit,
                   std::min(all.last, all.first + (k + 1) * units / count * unit)});
  return cut;
}

std::vector<Range> in_pieces(Range all, Index count) {
  return pieces(all, std::min(all.size(), round_up(ceil_div(all.size(), count))));
}

Tilings plan_tiles(const Scan& scan, const VolumeGrid& grid, Index devices, double bytes,
                   const TileMemory& kernels) {
  validate(scan);
  return tilings_of({detector_of(scan), views_of(scan), lines_together(scan)}, grid, devices, bytes, kernels);
}

}  // namespace tandem
