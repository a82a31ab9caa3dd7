#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "../../core/array.hpp"
#include "../../pipeline/watch/live.hpp"
#include "../pages/local_server.hpp"

namespace tandem::apps {

/// A picture on its way to a page, and what it says beside it.
struct Pictured {
  io::Picture picture;
  nlohmann::json head;
  std::shared_ptr<const Array> voxels = {};  ///< the pixels, if the picture has none itself

  std::span<const float> grey() const {
    if (!voxels) return picture.grey;
    return {voxels->data(), static_cast<std::size_t>(picture.width * picture.height)};
  }
};

/// Makes answers of pictures. Their memory is used again when they are sent: the first to touch a page of it
/// waits for the system.
class PictureAnswers {
 public:
  /// As a page reads it: a line of JSON, filled up with blanks to a multiple of four bytes, and then the
  /// pixels row by row, as float32. With 16 bits they are uint16 codes if these are fine enough to be looked
  /// at, and the head has {coded: [low, step]}: code k stands for low + k step, the last three for -inf, inf
  /// and NaN.
  Content answer(const Pictured& some, int bits = 32);

 private:
  struct Spare {
    std::mutex mutex;
    std::vector<std::unique_ptr<std::string>> texts;
  };
  std::shared_ptr<std::string> text();
  std::shared_ptr<Spare> spare_ = std::make_shared<Spare>();
};

/// {bits}: 16, or 32, which is the default. @throws UsageError
int bits_in(const nlohmann::json& asked);

}  // namespace tandem::apps
