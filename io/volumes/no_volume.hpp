#pragma once

#include "volume_file.hpp"

namespace tandem::io {

/// Takes slices, and keeps none.
class NoVolume final : public VolumeWriter {
 public:
  void write(Range, const float*) override {}
  void finish(const std::string&) override {}
};

}  // namespace tandem::io
