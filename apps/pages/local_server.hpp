#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tandem::apps {

/// 128 bits that nobody guesses, as 32 hexadecimal digits.
std::string random_word();

/// What a browser gets for a path.
struct Content {
  std::string type, body;
};

/// Serves a few pages over HTTP/1.1 to browsers of this machine: it listens on 127.0.0.1 alone. It answers
/// GET of the paths that it is asked to answer and refuses everything else: other paths (404), other methods
/// (405), requests that are not HTTP (400) or that are longer than 8 KiB (431). It also refuses requests to
/// another host than 127.0.0.1 or localhost, or from the page of another one (403), so that no page of the
/// network reads it under a name of its own, and paths that do not begin with /SECRET/ (403): other users of
/// the machine reach the port, but do not know the secret. Each connection is closed after one answer, or
/// when it has been silent for 5 s. There are at most 7, each with a thread; a new one takes the place of the
/// one that has been silent for longest.
class LocalServer {
 public:
  /// Answers a path without the secret, and what stands behind '?'. Several threads may call it at once.
  using Answer = std::function<std::optional<Content>(const std::string& path, const std::string& query)>;

  /// Listens on a port; 0: any free one. `headers` are (name, value) pairs that every answer has.
  /// @throws DeviceError if the port is in use, or may not be used
  LocalServer(int port, const std::multimap<std::string, std::string>& headers, Answer answer);
  /// Answers that were begun are sent, for a quarter of a second at most.
  ~LocalServer();

  int port() const;
  const std::string& secret() const;  ///< 128 bits that nobody guesses

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::apps
