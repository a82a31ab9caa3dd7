#include "local_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <list>
#include <random>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../solvers/run.hpp"
#include "../options/values.hpp"

namespace tandem::apps {

namespace {

constexpr std::size_t longest_request = 8192, most_connections = 8;
constexpr double patience_s = 5, last_patience_s = 0.25;

/// A file descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

struct Connection {
  Descriptor socket;
  double until;  ///< when it is closed, by `seconds_now`
  std::string in = {}, out = {};
  std::size_t sent = 0;

  bool answered() const { return !out.empty(); }
  bool sends() const { return sent < out.size(); }
};

Descriptor listening(int port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;  // a port whose last connections fade away may be used; one that is listened on may not
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool listens =
      ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(socket.number(), SOMAXCONN) == 0;
  const int why = errno;
  require<DeviceError>(listens || why != EADDRINUSE, "--serve ", port, ": port ", port,
                       " of 127.0.0.1 is in use; give another port, or 0 for any free one");
  require<DeviceError>(listens, "--serve ", port, ": port ", port, " of 127.0.0.1 cannot be listened on, ",
                       std::strerror(why), "; give a port from 1024 on, or 0 for any free one");
  return socket;
}

int port_of(const Descriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

/// The values of all headers `host`, which are case-blind, as is the name.
std::vector<std::string> hosts_of(std::string_view head) {
  std::vector<std::string> hosts;
  for (std::size_t at = head.find("\r\n"); at != std::string_view::npos;) {
    const std::size_t end = head.find("\r\n", at + 2);
    const std::string line = in_lower_case(std::string(head.substr(at + 2, end - at - 2)));
    if (line.starts_with("host:")) {
      const std::size_t first = std::min(line.find_first_not_of(" \t", 5), line.size());
      hosts.push_back(line.substr(first, line.find_last_not_of(" \t") + 1 - first));
    }
    at = end;
  }
  return hosts;
}

/// Whether two texts are the same, in a time that does not tell how far they are.
bool same_word(std::string_view a, std::string_view b) {
  unsigned differ = a.size() != b.size();
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k)
    differ |= static_cast<unsigned char>(a[k]) ^ static_cast<unsigned char>(b[k]);
  return differ == 0;
}

struct Reply {
  const char* status;
  Content content;
};

Reply refusal(const char* status) {
  return {status, {"text/plain; charset=utf-8", std::string(status) + "\n"}};
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

struct LocalServer::Impl {
  Impl(int wished, std::string lines, Answer function)
      : headers(std::move(lines)), answer(std::move(function)), listener(listening(wished)) {
    port = port_of(listener);
    std::array<int, 2> ends{-1, -1};
    require<DeviceError>(::pipe2(ends.data(), O_CLOEXEC) == 0, "--serve ", wished, ": ", std::strerror(errno),
                         "; close files of other programs");
    asleep = std::make_unique<Descriptor>(ends[0]), alarm = std::make_unique<Descriptor>(ends[1]);
    thread = std::thread([this] { serve(); });
  }

  void serve();
  void accept();
  bool drop_silent();
  void attend(Connection& c, short events);
  void receive(Connection& c);
  void send(Connection& c) const;
  Reply reply_to(const std::string& head) const;
  std::string text_of(const Reply& reply) const;

  const std::string headers, secret = random_word();
  const Answer answer;
  Descriptor listener;
  int port = 0;
  void rest() { rests_until = seconds_now() + 0.1; }  ///< before somebody else is let in

  double rests_until = 0;
  std::unique_ptr<Descriptor> asleep, alarm;
  std::list<Connection> connections;
  std::thread thread;
};

LocalServer::LocalServer(int port, std::string headers, Answer answer)
    : impl_(std::make_unique<Impl>(port, std::move(headers), std::move(answer))) {}

LocalServer::~LocalServer() {
  const char byte = 0;
  static_cast<void>(!::write(impl_->alarm->number(), &byte, 1));
  impl_->thread.join();
}

int LocalServer::port() const { return impl_->port; }
const std::string& LocalServer::secret() const { return impl_->secret; }

/// Looks after all connections, until it is woken; then only after answers that were begun.
void LocalServer::Impl::serve() {
  double end = 0;  // of all
  for (;;) {
    std::vector<pollfd> watched{{asleep->number(), POLLIN, 0}, {listener.number(), POLLIN, 0}};
    if (end > 0) watched[0].fd = -1;
    if (end > 0 || seconds_now() < rests_until) watched[1].fd = -1;
    for (const Connection& c : connections)
      watched.push_back({c.socket.number(), static_cast<short>(c.sends() ? POLLOUT : POLLIN), 0});
    if (::poll(watched.data(), watched.size(), 100) < 0 && errno != EINTR) return;
    auto seen = watched.begin() + 2;
    for (Connection& c : connections) attend(c, (seen++)->revents);
    const double now = seconds_now();
    if ((watched[0].revents & POLLIN) != 0) end = now + last_patience_s;
    if ((watched[1].revents & POLLIN) != 0) accept();
    connections.remove_if([&](const Connection& c) { return now > c.until; });
    const bool busy =
        std::any_of(connections.begin(), connections.end(), [](const Connection& c) { return c.sends(); });
    if (end > 0 && (!busy || now > end)) return;
  }
}

/// Who is silent must not keep others waiting, nor take the files that the run itself needs. Who has asked
/// already has its answer before the next one comes.
void LocalServer::Impl::accept() {
  constexpr int most_a_turn = 64;
  for (int k = 0; k < most_a_turn; ++k) {
    Descriptor socket(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.number() < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (socket.number() < 0 || connections.size() >= most_connections) {
      if (!drop_silent()) return rest();
      if (socket.number() < 0) return;
    }
    connections.push_back({std::move(socket), seconds_now() + patience_s});
    attend(connections.back(), POLLIN);
  }
}

/// The one that came first of those that have not asked, or else of those that have their answer; false if
/// there is none.
bool LocalServer::Impl::drop_silent() {
  auto silent = std::ranges::find_if(connections, [](const Connection& c) { return !c.answered(); });
  if (silent == connections.end())
    silent = std::ranges::find_if(connections, [](const Connection& c) { return !c.sends(); });
  if (silent == connections.end()) return false;
  connections.erase(silent);
  return true;
}

void LocalServer::Impl::attend(Connection& c, short events) {
  if (events == 0) return;
  if (!c.sends()) receive(c);
  if (c.sends()) send(c);
}

/// Takes what has come. Behind an answer it is thrown away: were the connection closed on it, the browser
/// could lose the answer.
void LocalServer::Impl::receive(Connection& c) {
  std::array<char, 4096> bytes;
  const ssize_t count = ::recv(c.socket.number(), bytes.data(), bytes.size(), 0);
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) c.until = 0;
  if (count <= 0 || c.answered()) return;
  c.in.append(bytes.data(), static_cast<std::size_t>(count));
  const std::size_t end = c.in.find("\r\n\r\n");
  if (end != std::string::npos && end <= longest_request)
    c.out = text_of(reply_to(c.in.substr(0, end)));
  else if (c.in.size() > longest_request)
    c.out = text_of(refusal("431 Request Header Fields Too Large"));
}

void LocalServer::Impl::send(Connection& c) const {
  const ssize_t count = ::send(c.socket.number(), c.out.data() + c.sent, c.out.size() - c.sent, MSG_NOSIGNAL);
  if (count < 0 && errno != EAGAIN && errno != EINTR) c.until = 0;
  if (count > 0) c.sent += static_cast<std::size_t>(count);
  if (!c.sends()) ::shutdown(c.socket.number(), SHUT_WR);
}

Reply LocalServer::Impl::reply_to(const std::string& head) const {
  const std::string line = head.substr(0, head.find("\r\n"));
  const std::size_t first = line.find(' '), second = line.find(' ', first + 1);
  if (first == std::string::npos || second == std::string::npos || line.substr(second + 1) != "HTTP/1.1")
    return refusal("400 Bad Request");
  const std::vector<std::string> hosts = hosts_of(head);
  const std::string number = port == 80 ? "" : ":" + std::to_string(port);  // browsers leave out 80
  if (hosts.size() != 1) return refusal("400 Bad Request");
  if (hosts[0] != "127.0.0.1" + number && hosts[0] != "localhost" + number) return refusal("403 Forbidden");
  if (line.substr(0, first) != "GET") return refusal("405 Method Not Allowed");
  const std::string target = line.substr(first + 1, second - first - 1),
                    path = target.substr(0, target.find('?'));
  const std::size_t behind = std::min(path.find('/', 1), path.size());
  if (!path.starts_with('/') || !same_word(path.substr(1, behind - 1), secret))
    return refusal("403 Forbidden");
  try {
    if (std::optional<Content> content = answer(path.substr(behind))) return {"200 OK", std::move(*content)};
  } catch (const std::exception&) {
    return refusal("500 Internal Server Error");
  }
  return refusal("404 Not Found");
}

std::string LocalServer::Impl::text_of(const Reply& reply) const {
  std::ostringstream text;
  text << "HTTP/1.1 " << reply.status << "\r\nContent-Type: " << reply.content.type
       << "\r\nContent-Length: " << reply.content.body.size() << "\r\nConnection: close\r\nAllow: GET\r\n"
       << headers << "\r\n"
       << reply.content.body;
  return text.str();
}

}  // namespace tandem::apps
