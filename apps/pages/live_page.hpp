#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "../../core/space.hpp"
#include "../../pipeline/reconstruct.hpp"

namespace tandem::apps {

/// The page of a run, for browsers of this machine (apps/pages/page.html): the newest slice or the iterate of
/// a solver, the middle planes, how far the run is, residuals, the log, what each station does. It asks for
/// state.json, which is answered when there is news or after half a second, and for a picture when there is a
/// new one. Any thread may tell it things.
class LivePage {
 public:
  /// @throws DeviceError if the port is in use, or may not be used; 0: any free one
  explicit LivePage(int port);
  ~LivePage();

  std::string address() const;        ///< with the secret, without which nothing is shown
  const std::string& secret() const;  ///< see LocalServer

  /// What is done, as `recon` reports it when it is planned.
  void tell_plan(const nlohmann::json& planned, const std::string& output);
  void tell_stage(const pipeline::Stage& stage);
  void log(const std::string& line);
  /// Makes a reconstruction show its stations and pictures here, beside its forecast as `recon` reports it.
  void watch(pipeline::Options& options, const nlohmann::json& forecast);
  /// Tells how the run ended: "done", or the error. If a browser looks, waits until it has seen it, but at
  /// most a second.
  void end(const std::string& how);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Does the work, which a page shows at this port if there is one. Says the address on standard error.
/// @throws what the work throws, DeviceError for the port
void with_page(const std::optional<Index>& port, const std::function<void(LivePage*)>& work);

}  // namespace tandem::apps
