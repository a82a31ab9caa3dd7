#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "../pages/local_server.hpp"
#include "looked_volume.hpp"

namespace tandem::apps {

/// What a page and a volume say to each other, for a `LocalServer`. Planes are read one at a time; one that
/// the same pane of the page does not want any more is given up.
class VolumeSession {
 public:
  explicit VolumeSession(LookedVolume volume) : volume_(std::move(volume)) {}

  std::optional<Content> answer(const std::string& path);  ///< about.json
  /// plane and value: an object each, see `LookedVolume`. What is wrong with one comes back as {error: one
  /// line}, with 400 if it is no object, 409 if a newer one has taken its place, else with 422.
  std::optional<Content> obey(const std::string& path, const std::string& body);
  void end();  ///< gives up what is being read

 private:
  using Json = nlohmann::json;
  struct Superseded {};  ///< is thrown where a newer command has come

  Content obeyed(const std::string& path, const Json& asked);
  Content plane(const Json& asked);

  LookedVolume volume_;
  std::mutex reading_;                   ///< held by whoever uses `volume_`
  std::mutex mutex_;                     ///< guards all members below
  std::map<std::string, Index> newest_;  ///< command of each pane
  bool over_ = false;
};

}  // namespace tandem::apps
