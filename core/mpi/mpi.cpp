// The only file that sees MPI.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "../error.hpp"
#include "../patience.hpp"
#include "messages.hpp"

namespace tandem::mpi {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_at_once = std::size_t{1} << 30;  // bytes; MPI counts them in an int

/// Bytes of a piece of an exchange. Some MPIs move only 64 KiB of a large message in each call, and `wait`
/// sleeps between calls. If pieces are small, it sees their end before it begins to sleep. So it sleeps while
/// the other rank computes, and not while bytes flow.
constexpr std::size_t piece = std::size_t{1} << 18, pieces_on_their_way = 8;

MPI_Comm work = MPI_COMM_NULL, control = MPI_COMM_NULL;

MPI_Comm of(Channel channel) { return channel == Channel::work ? work : control; }

void require_success(int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw DeviceError("MPI: " + std::string(text, length));
}

/// Waits with pauses, because MPI itself would keep a core busy. False if the time is over.
bool wait(MPI_Request& request, Clock::time_point until = Clock::time_point::max()) {
  for (Patience patience;; patience.pause()) {
    int done = 0;
    require_success(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done) return true;
    if (Clock::now() > until) return false;
  }
}

/// Bytes of the next piece if so many are left, as MPI counts them.
int count_of(std::size_t bytes) { return static_cast<int>(std::min(most_at_once, bytes)); }

/// Calls `begin` for pieces that MPI can count, and waits for each.
template <class Begin>
void in_pieces(std::size_t bytes, const Begin& begin) {
  std::size_t at = 0;
  do {
    const int some = count_of(bytes - at);
    MPI_Request request = MPI_REQUEST_NULL;
    require_success(begin(at, some, &request));
    wait(request);
    at += some;
  } while (at < bytes);
}

}  // namespace

bool is_built_in() { return true; }

World start() {
  int provided = MPI_THREAD_SINGLE;
  require_success(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided));
  require<DeviceError>(provided == MPI_THREAD_MULTIPLE,
                       "MPI: this library serves one thread at a time, and tandem has several; give one with "
                       "MPI_THREAD_MULTIPLE");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (MPI_Comm* channel : {&work, &control}) require_success(MPI_Comm_dup(MPI_COMM_WORLD, channel));
  World world;
  MPI_Comm_rank(work, &world.rank);
  MPI_Comm_size(work, &world.size);
  return world;
}

void finish() noexcept { MPI_Finalize(); }

void barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  require_success(MPI_Ibarrier(work, &request));
  wait(request);
}

bool barrier_within(double seconds) {
  MPI_Request request = MPI_REQUEST_NULL;
  require_success(MPI_Ibarrier(control, &request));
  return wait(request, Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(seconds)));
}

void all_gather(const void* own, std::size_t bytes, void* all) {
  require<DeviceError>(bytes <= most_at_once, "MPI: ", bytes, " bytes of each rank are too many to gather");
  const int count = static_cast<int>(bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  require_success(MPI_Iallgather(own, count, MPI_BYTE, all, count, MPI_BYTE, work, &request));
  wait(request);
}

void broadcast(void* data, std::size_t bytes, int from) {
  in_pieces(bytes, [&](std::size_t at, int some, MPI_Request* request) {
    return MPI_Ibcast(static_cast<std::byte*>(data) + at, some, MPI_BYTE, from, work, request);
  });
}

void send(Channel channel, const void* data, std::size_t bytes, int to, int tag) {
  in_pieces(bytes, [&](std::size_t at, int some, MPI_Request* request) {
    return MPI_Isend(static_cast<const std::byte*>(data) + at, some, MPI_BYTE, to, tag, of(channel), request);
  });
}

void receive(Channel channel, void* data, std::size_t bytes, int from, int tag) {
  in_pieces(bytes, [&](std::size_t at, int some, MPI_Request* request) {
    return MPI_Irecv(static_cast<std::byte*>(data) + at, some, MPI_BYTE, from, tag, of(channel), request);
  });
}

void exchange(const void* own, std::size_t own_bytes, int to, void* other, std::size_t other_bytes, int from,
              int tag) {
  std::array<MPI_Request, 2 * pieces_on_their_way> requests;
  requests.fill(MPI_REQUEST_NULL);  // a null request counts as done
  const auto count = [](std::size_t bytes, std::size_t at) {
    return static_cast<int>(std::min(piece, bytes - at));
  };
  std::size_t next = 0;
  for (std::size_t at = 0; at < std::max(own_bytes, other_bytes); at += piece) {
    MPI_Request *receiving = &requests[next], *sending = &requests[next + 1];
    next = (next + 2) % requests.size();
    wait(*receiving), wait(*sending);
    if (at < other_bytes)
      require_success(MPI_Irecv(static_cast<std::byte*>(other) + at, count(other_bytes, at), MPI_BYTE, from,
                                tag, work, receiving));
    if (at < own_bytes)
      require_success(MPI_Isend(static_cast<const std::byte*>(own) + at, count(own_bytes, at), MPI_BYTE, to,
                                tag, work, sending));
  }
  for (MPI_Request& request : requests) wait(request);
}

std::optional<Message> arrived(Channel channel, int last_tag) {
  for (int tag = 0; tag <= last_tag; ++tag) {
    int is_there = 0;
    MPI_Message which = MPI_MESSAGE_NULL;
    MPI_Status status;
    require_success(MPI_Improbe(MPI_ANY_SOURCE, tag, of(channel), &is_there, &which, &status));
    if (!is_there) continue;
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    Message message{status.MPI_SOURCE, tag, std::string(count, '\0')};
    require_success(MPI_Mrecv(message.bytes.data(), count, MPI_BYTE, &which, &status));
    return message;
  }
  return std::nullopt;
}

}  // namespace tandem::mpi
