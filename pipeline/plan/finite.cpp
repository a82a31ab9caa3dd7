#include "finite.hpp"

#include "../../core/error.hpp"
#include "../../operators/vector.hpp"

namespace tandem::pipeline {

void require_finite(const Job& job, Range slices, ConstVectorView volume) {
  const ConstVectorView all = volume.share(0);
  const Shape shape{slices.size(), job.grid.size[1], job.grid.size[0]};
  const std::vector<Index> bad =
      count_not_finite({all.data, Space(shape, Blocks::slices, all.space.device())},
                       default_stream(volume.space.device()).member(0));
  for (std::size_t z = 0; z < bad.size(); ++z)
    require<GeometryError>(bad[z] == 0, "slice ", slices.first + static_cast<Index>(z), ": ", bad[z], " of ",
                           shape[1] * shape[2], " voxels are not finite, with a voxel of ", job.grid.pitch[0],
                           job.pitch_known ? " mm" : " bins",
                           "; values beyond 3e38 come from such a --pixel-size or --voxel-size, from data "
                           "of that size, or from an iteration that diverges");
}

}  // namespace tandem::pipeline
