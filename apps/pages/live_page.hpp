#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "../../core/space.hpp"
#include "../../pipeline/reconstruct.hpp"

namespace tandem::apps {

/// The page of a run, for browsers of this machine (apps/pages/live.html). It shows the newest slice or the
/// iterate of a solver, the middle planes, progress, residuals, the log, and what each station does. The
/// browser asks for state.json, which is answered when there is news or after half a second, and for a
/// picture when there is a new one. Any thread may call its functions.
class LivePage {
 public:
  /// @throws DeviceError if the port is in use, or may not be used; 0: any free one
  explicit LivePage(int port);
  ~LivePage();

  std::string address() const;        ///< its address with the secret, without which nothing is shown
  const std::string& secret() const;  ///< see LocalServer

  /// Tells what will be done, in the form of the report of `recon` after planning.
  void tell_plan(const nlohmann::json& planned, const std::string& output);
  void tell_stage(const pipeline::Stage& stage);
  void log(const std::string& line);
  /// Makes a reconstruction show its stations and pictures here, and shows its forecast in the form of the
  /// report of `recon`.
  void watch(pipeline::Options& options, const nlohmann::json& forecast);
  /// Tells how the run ended: "done", or the error. If a browser watches, it waits until the browser has that
  /// and the last pictures: a second for it to ask, each time, and 5 s for it to read them all. Answers that
  /// were begun are finished in that time, whoever asked. After a signal it does not wait for readers.
  void end(const std::string& how);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Does the work, and shows it on a page at this port, if a port is given. Says the address on standard
/// error. @throws what the work throws, DeviceError for the port
void with_page(const std::optional<Index>& port, const std::function<void(LivePage*)>& work);

}  // namespace tandem::apps
