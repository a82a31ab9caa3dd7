#include <algorithm>
#include <array>

#include "beam.hpp"

namespace tandem::io {

extern const BeamFields parallel_fields, cone_fields, flexible_fields;

std::span<const BeamFields> beam_fields() {
  static const std::array all{parallel_fields, cone_fields, flexible_fields};
  return all;
}

const BeamFields* find_beam_fields(std::string_view kind) {
  const auto all = beam_fields();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const BeamFields& f) { return f.kind == kind; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace tandem::io
