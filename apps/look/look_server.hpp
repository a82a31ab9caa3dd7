#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../options/recon_options.hpp"
#include "../pages/local_server.hpp"
#include "looked_volume.hpp"

namespace tandem::apps {

/// What is looked at, and where the page is served.
struct LookCommand {
  ReconOptions recon;
  Index port = 0;
  std::string beside;  ///< another volume
};
void add_look_options(Table& table, LookCommand& o);

/// A page about a scan or about volumes, served as long as the object lives.
class LookServer {
 public:
  /// What the command line says. @throws what opening the scan or the volume throws, UsageError for options
  /// that do not go with it
  explicit LookServer(const LookCommand& o);
  /// The same of words behind `tandem`; a page of 127.0.0.1 may frame this page, as a notebook does.
  explicit LookServer(const std::vector<std::string>& words);
  /// The same for volumes that are at hand.
  explicit LookServer(LookedVolume volume);
  ~LookServer();

  std::string address() const;  ///< with the secret
  const std::string& secret() const { return server_->secret(); }

 private:
  template <class Session>
  void serve(std::shared_ptr<Session> session, const char* page, int port);
  void open(const LookCommand& o);

  std::string ancestors_ = "'none'";  ///< pages that may frame this one
  std::function<void()> end_;
  std::unique_ptr<LocalServer> server_;
};

}  // namespace tandem::apps
