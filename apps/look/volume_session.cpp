#include "volume_session.hpp"

namespace tandem::apps {

using nlohmann::json;

void VolumeSession::end() { newest_.end(); }

std::optional<Content> VolumeSession::answer(const std::string& path) {
  if (path != "/about.json") return {};
  const std::lock_guard lock(reading_);
  return json_content(volume_.report());
}

std::optional<Content> VolumeSession::obey(const std::string& path, const std::string& body) {
  return obeyed_or_refused(body, [&](const json& asked) { return obeyed(path, asked); });
}

Content VolumeSession::obeyed(const std::string& path, const json& asked) {
  if (path == "/plane") return plane(asked);
  if (path != "/value") return refusal("no such command", 404);
  const std::lock_guard lock(reading_);
  return json_content(volume_.value(asked));
}

/// Waits for its turn, if nothing newer comes before.
Content VolumeSession::plane(const json& asked) {
  const std::string pane = asked.value("pane", "");
  const Index number = newest_.begin(pane);
  const auto go_on = [&] { newest_.require_newest(pane, number); };
  const std::lock_guard lock(reading_);
  go_on();
  return answers_.answer(volume_.plane(asked, go_on));
}

}  // namespace tandem::apps
