#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tandem::apps {

/// 128 bits that nobody guesses, as 32 hexadecimal digits.
std::string random_word();

/// The headers of a page that may run its own script, if that has the nonce, and load nothing from elsewhere.
std::multimap<std::string, std::string> headers_with(const std::string& nonce);
/// The text of such a page, where {{nonce}} stands for the nonce.
std::string with_nonce(std::string text, const std::string& nonce);

/// What a browser gets for a path.
struct Content {
  std::string type, body;
  int status = 200;
  /// The pieces of a stream, which has no body: each call waits for the next one, for half a second at most;
  /// empty: the stream is over.
  std::function<std::optional<std::string>()> next = {};
};

/// The port, and the name of its option, for messages.
struct Port {
  int number = 0;  ///< 0: any free one
  std::string option;
};

/// Serves a few pages over HTTP/1.1 to browsers of this machine: it listens on 127.0.0.1 alone. It answers
/// GET of the paths that it is asked to answer and refuses everything else: other paths (404), other methods
/// (405), requests that are not HTTP (400) or that are longer than 8 KiB (431). It also refuses requests to
/// another host than 127.0.0.1 or localhost, or from the page of another one (403), so that no page of the
/// network reads it under a name of its own, and paths that do not begin with /SECRET/ (403): other users of
/// the machine reach the port, but do not know the secret. Each connection is closed after one answer, or
/// when it has been silent for 5 s. There are at most 7, each with a thread; a new one takes the place of the
/// one that has been silent for longest.
///
/// A page that has commands sends them by POST, as application/json (415), with a length (411) of at most 64
/// KiB (413). More than 100 of them a second, or 200 at once, are not taken (429).
class LocalServer {
 public:
  /// Answers a path without the secret, and what stands behind '?'. Several threads may call it at once.
  using Answer = std::function<std::optional<Content>(const std::string& path, const std::string& query)>;
  /// Obeys what was sent to a path, likewise.
  using Command = std::function<std::optional<Content>(const std::string& path, const std::string& body)>;

  /// Listens on a port. `headers` are (name, value) pairs that every answer has.
  /// @throws DeviceError if the port is in use, or may not be used
  LocalServer(const Port& port, const std::multimap<std::string, std::string>& headers, Answer answer,
              Command command = {});
  /// Answers that were begun are sent, for a quarter of a second at most.
  ~LocalServer();

  int port() const;
  const std::string& secret() const;  ///< 128 bits that nobody guesses

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::apps
