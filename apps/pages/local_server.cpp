#include "local_server.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

// these stand before the header of the library, which takes its limits from them
#define CPPHTTPLIB_HEADER_MAX_LENGTH 16384  // the longest line; `longest_request` bounds all lines together
#define CPPHTTPLIB_LISTEN_BACKLOG SOMAXCONN
#include <httplib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <random>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include "../../core/error.hpp"
#include "../../options/values.hpp"
#include "connections.hpp"

namespace tandem::apps {

using namespace options;

namespace {

using httplib::Request, httplib::Response;

constexpr std::size_t longest_request = 8192, longest_command = 65536;
constexpr time_t patience_s = 5;

/// Whether two texts are the same. The time does not depend on how many letters agree.
bool same_word(std::string_view a, std::string_view b) {
  unsigned differ = a.size() != b.size();
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k)
    differ |= static_cast<unsigned char>(a[k]) ^ static_cast<unsigned char>(b[k]);
  return differ == 0;
}

std::size_t length_of(const Request& request) {
  std::size_t length = request.target.size();
  for (const auto& [name, value] : request.headers) length += name.size() + value.size();
  return length;
}

/// Limits the commands that pass: a number at once, and then a number per second.
class Throttle {
 public:
  bool lets_pass() {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    left_ = std::min(most_at_once, left_ + a_second * std::chrono::duration<double>(now - last_).count());
    last_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  static constexpr double most_at_once = 200, a_second = 100;
  std::mutex mutex_;
  double left_ = most_at_once;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Limits the connections that come to the threads of the library.
class Gate final : public httplib::TaskQueue {
 public:
  explicit Gate(Connections& connections) : connections_(connections) {}
  bool enqueue(std::function<void()> task) override {
    if (connections_.admit()) return threads_.enqueue(std::move(task));
    task();  // on the thread that accepts, which refuses it
    return true;
  }
  void shutdown() override {
    connections_.end_all();
    threads_.shutdown();
  }

 private:
  Connections& connections_;
  httplib::ThreadPool threads_{Connections::most};  // all at once: it may start more too late
};

thread_local bool accepts = false;                      // whether this thread accepts connections
thread_local Connections::One* this_threads = nullptr;  // the connection that it serves

/// Answers a connection for which no thread is free, in a tenth of a second.
void refuse(int socket) {
  using namespace std::chrono;
  const std::string said = "503 all connections are being answered; ask again\n";
  const std::string text =
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 1\r\n"
      "Connection: close\r\nContent-Length: " +
      std::to_string(said.size()) + "\r\n\r\n" + said;
  std::ignore = ::send(socket, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  ::shutdown(socket, SHUT_WR);
  const auto end = steady_clock::now() + 100ms;
  std::array<char, 4096> bytes;  // what it sends is read, or the answer could be lost
  for (pollfd waited{socket, POLLIN, 0};;) {
    const auto left = duration_cast<milliseconds>(end - steady_clock::now()).count();
    if (left <= 0 || ::poll(&waited, 1, static_cast<int>(left)) <= 0) break;
    if (::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT) <= 0) break;
  }
  ::close(socket);
}

}  // namespace

std::string random_word() {
  std::random_device random;
  std::string text;
  for (int k = 0; k < 4; ++k) {
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", random());
    text += digits.data();
  }
  return text;
}

std::multimap<std::string, std::string> headers_with(const std::string& nonce, const std::string& ancestors) {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'nonce-" + nonce + "'; style-src 'nonce-" + nonce +
               "'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
               "frame-ancestors " +
               ancestors},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cache-Control", "no-store"}};
}

std::string with_nonce(std::string text, const std::string& nonce) {
  const std::string mark = "{{nonce}}";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at))
    text.replace(at, mark.size(), nonce);
  return text;
}

struct LocalServer::Impl final : httplib::Server {
  Impl(const Port& wished, const std::multimap<std::string, std::string>& headers, Answer for_path,
       Command for_body);
  ~Impl() override {
    connections.end_all();  // first: the library would break off what it sends
    stop();
    thread.join();
  }

  int bound_to(const Port& wished);
  bool process_and_close_socket(socket_t socket) override;
  int judged(const Request& request);
  int judged_command(const Request& request);
  int reply(const Request& request, Response& response);

  const std::string secret = random_word();
  const Answer answer;
  const Command command;
  Throttle throttle;
  Connections connections;
  int port = 0;
  std::thread thread;
};

LocalServer::Impl::Impl(const Port& wished, const std::multimap<std::string, std::string>& headers,
                        Answer for_path, Command for_body)
    : answer(std::move(for_path)), command(std::move(for_body)) {
  set_default_headers({headers.begin(), headers.end()});
  set_address_family(AF_INET);
  set_payload_max_length(command ? longest_command : longest_request);
  set_read_timeout(patience_s), set_write_timeout(patience_s);
  set_tcp_nodelay(true);
  set_socket_options([](socket_t socket) {  // the library's default would share the port with other programs
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  new_task_queue = [this] { return new Gate(connections); };
  set_pre_routing_handler([this](const Request& request, Response& response) {
    const int status = judged(request);
    if (status == 200 && request.method == "POST")
      return HandlerResponse::Unhandled;  // its body is read first
    response.status = status == 200 ? reply(request, response) : status;
    return HandlerResponse::Handled;
  });
  if (command)
    Post("/:secret/:command",
         [this](const Request& request, Response& response) { response.status = reply(request, response); });
  set_error_handler([this](const Request& request, Response& response) {
    if (response.status == 400 && request.version == "HTTP/1.1" && request.method != "GET" &&
        request.method != "POST")
      response.status = 405;             // a method that the library does not know
    if (!response.body.empty()) return;  // since that says more
    const std::string text = std::to_string(response.status) + " " + httplib::status_message(response.status);
    response.set_content(request.method == "HEAD" ? "" : text + "\n", "text/plain; charset=utf-8");
    response.set_header("Allow", command ? "GET, POST" : "GET");
  });
  port = bound_to(wished);
  thread = std::thread([this] {
    accepts = true;
    listen_after_bind();
  });
  wait_until_ready();
}

/// Listens on a port, and returns its number. @throws DeviceError
int LocalServer::Impl::bound_to(const Port& wished) {
  errno = 0;
  const int number = wished.number;
  const int bound = number == 0 ? bind_to_any_port("127.0.0.1", AI_NUMERICHOST)
                                : bind_to_port("127.0.0.1", number, AI_NUMERICHOST) * number;
  const int why = errno;
  require<DeviceError>(bound > 0 || why != EADDRINUSE, wished.option, " ", number, ": port ", number,
                       " of 127.0.0.1 is in use; give another port, or 0 for any free one");
  require<DeviceError>(bound > 0, wished.option, " ", number, ": port ", number,
                       " of 127.0.0.1 cannot be listened on, ", std::strerror(why),
                       "; give a port from 1024 on, or 0 for any free one");
  return bound;
}

/// Answers one request. This takes the place of a function of the library, since nothing else of it gives
/// away the socket of a connection, which `Connections` needs to end a silent one.
bool LocalServer::Impl::process_and_close_socket(socket_t socket) {
  if (accepts) return refuse(socket), false;
  Connections::One& one = connections.begin(socket);
  this_threads = &one;
  httplib::detail::SocketStream stream(socket, patience_s, 0, patience_s, 0);
  bool closes = true;
  // the rest of a body that was refused is not read: no other request follows
  const bool done = process_request(stream, "127.0.0.1", 0, "127.0.0.1", port, true, closes,
                                    [](Request& request) { request.body_consumed_ = true; });
  connections.finish(one);
  return done;
}

/// The status of a request: 200 if it may be answered.
int LocalServer::Impl::judged(const Request& request) {
  if (request.version != "HTTP/1.1" || request.get_header_value_count("Host") != 1) return 400;
  if (length_of(request) > longest_request) return 431;
  const std::string number = port == 80 ? "" : ":" + std::to_string(port);  // browsers leave out 80
  const auto is_ours = [&](const std::string& host) {
    return host == "127.0.0.1" + number || host == "localhost" + number;
  };
  if (!is_ours(in_lower_case(request.get_header_value("Host")))) return 403;
  const std::string origin = in_lower_case(request.get_header_value("Origin"));
  if (request.has_header("Origin") && !(origin.starts_with("http://") && is_ours(origin.substr(7))))
    return 403;
  if (request.method != "GET" && (request.method != "POST" || !command)) return 405;
  const std::size_t behind = std::min(request.target.find_first_of("/?", 1), request.target.size());
  const bool knows =
      request.target.starts_with('/') && same_word(request.target.substr(1, behind - 1), secret);
  if (!knows) return 403;
  return request.method == "POST" ? judged_command(request) : 200;
}

/// The status of a command. Pages of other hosts can send its content type only if they are allowed to.
int LocalServer::Impl::judged_command(const Request& request) {
  if (!throttle.lets_pass()) return 429;
  const std::string type = in_lower_case(request.get_header_value("Content-Type"));
  if (type.substr(0, type.find(';')) != "application/json") return 415;
  if (request.has_header("Transfer-Encoding") || request.get_header_value_count("Content-Length") != 1)
    return 411;
  const std::optional<Index> length = whole_in(request.get_header_value("Content-Length"));
  if (!length || *length < 0) return 400;
  return static_cast<std::size_t>(*length) <= longest_command ? 200 : 413;
}

/// Sends the pieces of a stream one after the other.
void stream(Response& response, const Content& content) {
  response.set_chunked_content_provider(content.type,
                                        [next = content.next](std::size_t, httplib::DataSink& sink) {
                                          const std::optional<std::string> piece = next();
                                          if (piece) return sink.write(piece->data(), piece->size());
                                          sink.done();
                                          return true;
                                        });
}

/// Sends a long body without a copy of it.
void send(Response& response, const Content& content) {
  response.set_content_provider(
      content.kept->size(), content.type,
      [kept = content.kept](std::size_t first, std::size_t count, httplib::DataSink& sink) {
        return sink.write(kept->data() + first, count);
      });
}

/// Answers a request that is there whole.
int LocalServer::Impl::reply(const Request& request, Response& response) {
  connections.ask(*this_threads);
  const std::string rest = request.target.substr(1 + secret.size());
  const std::size_t end = std::min(rest.find('?'), rest.size());
  const std::string path = rest.substr(0, end), query = rest.substr(std::min(end + 1, rest.size()));
  try {
    std::optional<Content> content =
        request.method == "POST" ? command(path, request.body) : answer(path, query);
    if (!content) return 404;
    if (content->next)
      stream(response, *content);
    else if (content->kept)
      send(response, *content);
    else
      response.set_content(std::move(content->body), content->type);
    return content->status;
  } catch (const std::exception&) {
    return 500;
  }
}

LocalServer::LocalServer(const Port& port, const std::multimap<std::string, std::string>& headers,
                         Answer answer, Command command)
    : impl_(std::make_unique<Impl>(port, headers, std::move(answer), std::move(command))) {}

LocalServer::~LocalServer() = default;

bool LocalServer::wait_for_answers(std::chrono::duration<double> longest) {
  return impl_->connections.wait_for_answers(longest);
}

int LocalServer::port() const { return impl_->port; }
const std::string& LocalServer::secret() const { return impl_->secret; }

}  // namespace tandem::apps
