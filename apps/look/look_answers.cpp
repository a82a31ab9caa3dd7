#include "look_answers.hpp"

#include <new>

#include "../../core/error.hpp"
#include "../../io/files/json.hpp"
#include "../command.hpp"
#include "../runs/lines.hpp"
#include "../runs/signals.hpp"

namespace tandem::apps {

using nlohmann::json;

Content json_content(const json& all, int status) { return {"application/json", text_of(all), status}; }

Content refusal(const std::string& why, int status) {
  return json_content({{"error", one_line("", why)}}, status);
}

namespace {

/// Whether all texts of a command, names of members too, are plain lines: others would be cut off, or be told
/// in several lines.
bool is_plain_throughout(const json& asked) {
  if (asked.is_string()) return is_plain(asked.get_ref<const std::string&>());
  for (const auto& [name, value] : asked.items())
    if (asked.is_structured() && !(is_plain(name) && is_plain_throughout(value))) return false;
  return true;
}

}  // namespace

Content obeyed_or_refused(const std::string& body, const std::function<Content(const json& asked)>& obeyed) {
  const json asked = io::json_of(body);
  if (!asked.is_object()) return refusal("a command is an object of JSON", 400);
  if (!is_plain_throughout(asked)) return refusal("a text of the command has a control character");
  constexpr auto* ends = "tandem look ends";
  try {
    return obeyed(asked);
  } catch (const NewestCommands::Superseded&) {
    return refusal("a newer command has come", 409);
  } catch (const UsageError& fault) {
    return refusal(fault.what());
  } catch (const Error& fault) {
    return refusal(fault.what());
  } catch (const Interrupted&) {
    return refusal(ends, 503);
  } catch (const LookEnds&) {
    return refusal(ends, 503);
  } catch (const json::exception&) {
    return refusal("a value of the command is of another kind");
  } catch (const std::bad_alloc&) {
    return refusal("memory does not suffice");
  }
}

Index NewestCommands::begin(const std::string& pane) {
  const std::lock_guard lock(mutex_);
  if (newest_.size() >= most_ && !newest_.contains(pane)) newest_.clear();
  return ++newest_[pane];
}

void NewestCommands::require_newest(const std::string& pane, Index number) {
  const std::lock_guard lock(mutex_);
  if (over_ || newest_[pane] != number) throw Superseded{};
}

void NewestCommands::end() {
  const std::lock_guard lock(mutex_);
  over_ = true;
}

}  // namespace tandem::apps
