#include "compute.hpp"

#include <utility>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../operators/vector.hpp"

namespace tandem::pipeline {

ComputeStation::ComputeStation(Work work, ReadStation& read, PrepareStation& prepare,
                               io::VolumeWriter* writer, bool may_store)
    : work_(std::move(work)),
      stream_(work_.device()),
      landing_(work_, writer, may_store),
      maker_(route_of(work_.plan.flow).begin(work_, read, prepare)) {}

/// A small chunk of independent slices comes from a GPU to the host here, at once. A larger volume comes in
/// the station that follows, a few slices at a time, while the next one is made.
void ComputeStation::operator()(Chunk& chunk) {
  const UseStream own(stream_);
  Array volume = maker_(chunk, stream_);
  chunk.stored = nullptr;
  if (chunk.slices.size() == 0) return;
  const Job& job = work_.plan.job;
  if (job.options.first.mend)
    job.options.first.mend->put_back(
        volume, region(job.grid, {0, job.grid.size[0]}, {0, job.grid.size[1]}, chunk.slices));
  require_finite(job, chunk.slices, volume);
  const Device device = volume.space().device();
  const double bytes = 4.0 * volume.size();
  if (device.is_cuda() && route_of(work_.plan.flow).slices_apart && bytes <= bytes_landed_whole) {
    landing_.bring(volume.data(), device, chunk);
  } else {
    chunk.own = std::move(volume);
    chunk.volume = ConstVectorView(*chunk.own).share(0).data;
  }
  work_.outcome.slices += chunk.slices.size();
  work_.watch.computed(work_.worker, chunk.slices.size());
}

Outcome ComputeStation::outcome() const {
  Outcome all = work_.outcome;
  all.add(landing_.outcome());
  return all;
}

void require_finite(const Job& job, Range slices, ConstVectorView volume) {
  const ConstVectorView all = volume.share(0);
  const Shape shape{slices.size(), job.grid.size[1], job.grid.size[0]};
  const std::vector<Index> bad =
      count_not_finite({all.data, Space(shape, Blocks::slices, all.space.device())},
                       default_stream(volume.space.device()).member(0));
  for (std::size_t z = 0; z < bad.size(); ++z)
    require<GeometryError>(
        bad[z] == 0, "slice ", slices.first + z, ": ", bad[z], " of ", shape[1] * shape[2],
        " voxels are not finite, with a voxel of ", job.grid.pitch[0], job.pitch_known ? " mm" : " bins",
        "; values beyond 3e38 come from such a " + spelled("pixel-size") + " or " + spelled("voxel-size") +
            ", from data of that size, or from an iteration that diverges");
}

}  // namespace tandem::pipeline
