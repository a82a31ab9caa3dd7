#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "../../core/space.hpp"
#include "../pages/local_server.hpp"

namespace tandem::apps {

Content json_content(const nlohmann::json& all, int status = 200);
/// {error: why}, as one line.
Content refusal(const std::string& why, int status = 422);
/// What `obeyed` gives for the object in `body`. What is wrong comes back as a refusal: with 400 if it is no
/// object, 409 if a newer command has taken its place, 503 if the program ends meanwhile, else with 422.
struct LookEnds {};  ///< is thrown by work that goes on when the program ends
Content obeyed_or_refused(const std::string& body,
                          const std::function<Content(const nlohmann::json& asked)>& obeyed);

/// The newest command of each pane of a page: the others are given up. Any thread may call it.
class NewestCommands {
 public:
  /// `most` panes, the others of which are forgotten: a page that is opened again has others.
  explicit NewestCommands(std::size_t most) : most_(most) {}

  struct Superseded {};  ///< is thrown where a newer command has come
  /// A command of a pane; its number.
  Index begin(const std::string& pane);
  /// @throws Superseded unless it is the newest one of its pane, and before the end
  void require_newest(const std::string& pane, Index number);
  void end();

 private:
  const std::size_t most_;
  std::mutex mutex_;  ///< guards all members below
  std::map<std::string, Index> newest_;
  bool over_ = false;
};

}  // namespace tandem::apps
