#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tandem::apps {

/// 128 random bits, as 32 hexadecimal digits, which nobody can guess.
std::string random_word();

/// The headers of a page that may run its own script, if it has the nonce, and may load nothing from
/// elsewhere. `ancestors`: pages that may frame it.
std::multimap<std::string, std::string> headers_with(const std::string& nonce,
                                                     const std::string& ancestors = "'none'");
/// The text of such a page, with {{nonce}} replaced by the nonce.
std::string with_nonce(std::string text, const std::string& nonce);

/// The answer to a browser for a path.
struct Content {
  std::string type, body;
  int status = 200;
  /// Gives the pieces of a stream, which has no body. Each call waits for the next piece, at most half a
  /// second. It returns nothing when the stream is over.
  std::function<std::optional<std::string>()> next = {};
  /// A long body, which is sent from where it lies; `body` is empty then.
  std::shared_ptr<const std::string> kept = {};
};

/// The port, and the name of its option, for messages.
struct Port {
  int number = 0;  ///< 0: any free one
  std::string option;
};

/// Serves a few pages over HTTP/1.1 to browsers of this machine. It listens only on 127.0.0.1. It answers GET
/// of known paths, and refuses everything else: other paths (404), other methods (405), requests that are not
/// HTTP (400) or that are longer than 8 KiB (431). It refuses requests to another host than 127.0.0.1 or
/// localhost, or from the page of another host (403), so that no page of the network can read it through a
/// name of its own. It refuses paths that do not begin with /SECRET/ (403), because other users of the
/// machine reach the port, but do not know the secret. Each connection is closed after one answer, or when it
/// has been silent for 5 s. There are at most 7 connections, each with a thread; a new one replaces the
/// oldest one that has not sent its whole request yet, or that has its answer.
///
/// A page that has commands sends them by POST, as application/json (else 415), with a length (else 411) of
/// at most 64 KiB (else 413). More than 100 commands a second, or 200 at once, are refused (429).
class LocalServer {
 public:
  /// Answers a path, given without the secret, with the query after '?'. Several threads may call it at once.
  using Answer = std::function<std::optional<Content>(const std::string& path, const std::string& query)>;
  /// Obeys the body that was sent to a path. Several threads may call it at once.
  using Command = std::function<std::optional<Content>(const std::string& path, const std::string& body)>;

  /// Listens on a port. `headers` are (name, value) pairs that every answer has.
  /// @throws DeviceError if the port is in use, or may not be used
  LocalServer(const Port& port, const std::multimap<std::string, std::string>& headers, Answer answer,
              Command command = {});
  /// Finishes answers that were begun, for at most a quarter of a second.
  ~LocalServer();

  /// Waits, at most so long, until all answers that were begun are sent entirely. True if there were some,
  /// and they are.
  bool wait_for_answers(std::chrono::duration<double> longest);

  int port() const;
  const std::string& secret() const;  ///< 128 random bits, see `random_word`

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::apps
