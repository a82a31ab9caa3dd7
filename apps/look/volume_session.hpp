#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "look_answers.hpp"
#include "look_picture.hpp"
#include "looked_volume.hpp"

namespace tandem::apps {

/// What a page and a volume say to each other, for a `LocalServer`. Planes are read one at a time; one that
/// the same pane of the page does not want any more is given up.
class VolumeSession {
 public:
  explicit VolumeSession(LookedVolume volume) : volume_(std::move(volume)) {}

  std::optional<Content> answer(const std::string& path);  ///< about.json
  /// plane and value: an object each, see `LookedVolume` and `obeyed_or_refused`.
  std::optional<Content> obey(const std::string& path, const std::string& body);
  void end();  ///< gives up what is being read

 private:
  using Json = nlohmann::json;
  Content obeyed(const std::string& path, const Json& asked);
  Content plane(const Json& asked);

  LookedVolume volume_;
  NewestCommands newest_{32};
  PictureAnswers answers_;
  std::mutex reading_;  ///< held by whoever uses `volume_`
};

}  // namespace tandem::apps
