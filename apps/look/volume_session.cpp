#include "volume_session.hpp"

#include "../../core/error.hpp"
#include "../command.hpp"
#include "../runs/lines.hpp"

namespace tandem::apps {

using nlohmann::json;

namespace {

Content json_of(const json& all, int status = 200) { return {"application/json", text_of(all), status}; }

Content refused(const char* why, int status = 422) { return json_of({{"error", one_line("", why)}}, status); }

}  // namespace

void VolumeSession::end() {
  const std::lock_guard lock(mutex_);
  over_ = true;
}

std::optional<Content> VolumeSession::answer(const std::string& path) {
  if (path != "/about.json") return {};
  const std::lock_guard lock(reading_);
  return json_of(volume_.report());
}

std::optional<Content> VolumeSession::obey(const std::string& path, const std::string& body) {
  const json asked = parsed(body);
  if (!asked.is_object()) return refused("a command is an object of JSON", 400);
  try {
    return obeyed(path, asked);
  } catch (const Superseded&) {
    return refused("a newer command has come", 409);
  } catch (const Error& fault) {
    return refused(fault.what());
  } catch (const UsageError& fault) {
    return refused(fault.what());
  } catch (const json::exception&) {
    return refused("a value of the command is of another kind");
  } catch (const std::bad_alloc&) {
    return refused("memory does not suffice");
  }
}

Content VolumeSession::obeyed(const std::string& path, const json& asked) {
  if (path == "/plane") return plane(asked);
  if (path != "/value") return refused("no such command", 404);
  const std::lock_guard lock(reading_);
  return json_of(volume_.value(asked));
}

/// Waits for its turn, if nothing newer comes before.
Content VolumeSession::plane(const json& asked) {
  const std::string pane = asked.value("pane", "");
  Index number = 0;
  {
    const std::lock_guard lock(mutex_);
    constexpr std::size_t most = 32;
    if (newest_.size() >= most && !newest_.contains(pane)) newest_.clear();
    number = ++newest_[pane];
  }
  const auto go_on = [&] {
    const std::lock_guard lock(mutex_);
    if (over_ || newest_[pane] != number) throw Superseded{};
  };
  const std::lock_guard lock(reading_);
  go_on();
  return {"application/octet-stream", bytes_of(volume_.plane(asked, go_on))};
}

}  // namespace tandem::apps
