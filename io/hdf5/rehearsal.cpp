#include "rehearsal.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is not in <csignal>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/rounding.hpp"
#include "../files/input_file.hpp"
#include "hdf5_detail.hpp"

namespace tandem::io {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
using Work = std::function<std::string()>;
constexpr std::chrono::seconds limit{
    7};  // the metadata of a sound file take milliseconds, or two seconds on slow disks

// The words of a child in its pipe: "begun", any number of "longer", then one of the others. The answer
// follows "well", and the reason follows "refused".
constexpr char begun = '>', longer = '+', well = '.', refused = '!', failed = '?';

int to_parent = -1;  // in a child, its end of the pipe, so that no child rehearses again

void tell(const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(to_parent, next, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(1);
    next += written, bytes -= written;
  }
}

/// Fills the memory that malloc gives and takes back from now on, and the free memory behind it. Then a read
/// beyond a block, or after it was freed, gives a wild pointer and not zeros that happen to do no harm.
void fill_free_memory() {
  ::mallopt(M_PERTURB, 0x5a);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  std::array<void*, 32> blocks{};
  // NOLINTBEGIN(cppcoreguidelines-no-malloc): the heap itself is prepared
  for (void*& block : blocks) block = std::malloc(64 << 10);
  for (void* block : blocks) std::free(block);
  // NOLINTEND(cppcoreguidelines-no-malloc)
}

/// Makes the child die quietly: without a core file, without words of the C library, and with its parent.
void be_quiet() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  for (int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) ::signal(number, SIG_DFL);
  const int nowhere = ::open("/dev/null", O_RDWR);
  if (nowhere < 0) return;
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
}

/// Ends this process if the work has damaged its heap, because in the parent the same work would lead to a
/// crash sooner or later. To make malloc check every free block, it allocates and frees them all.
void shake_heap() {
  hdf5::free_unused_memory();
  constexpr std::size_t most = 256 << 10;  // bytes a size, more than metadata leave; new pages cost time
  for (std::size_t bytes : {16, 32, 48, 64, 96, 128, 256, 512, 1024, 4096, 16384}) {
    std::vector<void*> blocks(std::min<std::size_t>(2048, most / bytes));
    // NOLINTBEGIN(cppcoreguidelines-no-malloc): as above
    for (void*& block : blocks) block = std::malloc(bytes);
    for (void* block : blocks) std::free(block);
    // NOLINTEND(cppcoreguidelines-no-malloc)
  }
  ::malloc_trim(0);
}

/// Closes the files that are being written, since a lock on a file lasts as long as any process has it open.
void close_what_is_written() {
  std::vector<int> written;
  std::error_code fault;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd", fault)) {
    const int descriptor = std::atoi(entry.path().filename().c_str());
    const int mode = ::fcntl(descriptor, F_GETFL);
    if (descriptor > STDERR_FILENO && descriptor != to_parent && mode >= 0 && (mode & O_ACCMODE) != O_RDONLY)
      written.push_back(descriptor);
  }
  for (int descriptor : written) ::close(descriptor);
}

[[noreturn]] void run_child(const Work& work) {
  close_what_is_written();
  tell(&begun, 1);
  be_quiet();
  fill_free_memory();
  std::string said(1, failed);
  try {
    said = well + work();
  } catch (const FileError& error) {
    said = refused + std::string(error.what());
  } catch (...) {  // not the fault of the file: the parent does the work, and meets the same
  }
  shake_heap();
  tell(said.data(), said.size());
  ::_exit(0);
}

/// Whether something comes through the pipe, or the child closes it, before the time is over.
bool comes_before(Clock::time_point end, int pipe) {
  for (auto left = end - Clock::now(); left.count() > 0; left = end - Clock::now()) {
    pollfd waited{pipe, POLLIN, 0};
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    if (::poll(&waited, 1, static_cast<int>(std::min<long long>(ms, 60'000))) > 0) return true;
  }
  return false;
}

/// What a process has for data and stacks, bytes; 0 if it is gone.
Index memory_of(pid_t process) {
  Index pages = 0;
  std::ifstream all("/proc/" + std::to_string(process) + "/statm");
  for (int field = 0; field < 6; ++field) all >> pages;  // the last one
  return all ? pages * ::sysconf(_SC_PAGESIZE) : 0;
}

/// The most that a child may have: a damaged file may say that its metadata are gigabytes. A limit of the
/// system would not do: where libhdf5 gets no memory in the child it goes other ways than in the parent.
Index most_memory(const fs::path& path) {
  constexpr Index room = Index{1} << 29;
  std::error_code fault;
  const std::uintmax_t bytes = fs::file_size(path, fault);
  return memory_of(::getpid()) + room + (fault ? 0 : 2 * bytes);
}

/// What comes through the pipe until it closes; what has come so far if the time is over, or if the child
/// takes too much memory.
class Listener {
 public:
  Listener(pid_t child, int pipe, Index most_bytes) : child_(child), pipe_(pipe), most_bytes_(most_bytes) {}

  /// Whether the child came to an end by itself, well or not.
  bool until_end() {
    constexpr std::chrono::milliseconds glance{20};
    while (Clock::now() < end_) {
      if (!comes_before(std::min(end_, Clock::now() + glance), pipe_)) {
        if (memory_of(child_) > most_bytes_) return false;
        continue;
      }
      std::array<char, 4096> piece{};
      const ssize_t bytes = ::read(pipe_, piece.data(), piece.size());
      if (bytes == 0) return true;
      if (bytes > 0) said_.append(piece.data(), bytes);
      grant();
    }
    return false;
  }
  const std::string& said() const { return said_; }

 private:
  void grant() {
    double seconds = 0;
    while (said_.size() > sizeof seconds && said_.front() == longer) {
      std::memcpy(&seconds, said_.data() + 1, sizeof seconds);
      said_.erase(0, 1 + sizeof seconds);
      end_ += std::chrono::milliseconds(floor_index(1000 * seconds));
    }
  }

  pid_t child_;
  int pipe_;
  Index most_bytes_;
  std::string said_;
  Clock::time_point end_ = Clock::now() + limit;
};

struct Child {
  pid_t id;
  int pipe;
  bool has_begun;  ///< or died, in time
};

Child start(const fs::path& path, const Work& work) {
  const hdf5::Lock lock;  // no other thread is inside libhdf5, or between pipe and fork
  std::array<int, 2> ends{-1, -1};
  const bool piped = ::pipe2(ends.data(), O_CLOEXEC) == 0;
  require<FileError>(piped, path.string(), ": cannot be opened: ", std::strerror(errno),
                     "; raise the limit (ulimit -n)");
  const pid_t id = ::fork();
  if (id == 0) {
    hdf5::forget_lock();
    to_parent = ends[1];
    run_child(work);
  }
  const int reason = errno;
  ::close(ends[1]);
  if (id < 0) ::close(ends[0]);
  require<DeviceError>(id >= 0, path.string(),
                       ": no process can be started to look at it: ", std::strerror(reason),
                       "; more memory or processes (ulimit -u) are needed");
  // no thread writes on before the child has closed the files that are being written
  const bool has_begun = comes_before(Clock::now() + limit, ends[0]);
  if (!has_begun) ::kill(id, SIGKILL);
  char word = 0;
  while (::read(ends[0], &word, 1) < 0 && errno == EINTR) {
  }
  return {id, ends[0], has_begun};
}

struct Finding {
  bool ended;        ///< whether it ended by itself, in time
  std::string said;  ///< its words; empty if the child died
};

Finding look(const fs::path& path, const Work& work) {
  const Index most_bytes = most_memory(path);
  const Child child = start(path, work);
  Listener listener(child.id, child.pipe, most_bytes);
  const bool ended = child.has_begun && listener.until_end();
  if (!ended) ::kill(child.id, SIGKILL);
  ::close(child.pipe);
  while (::waitpid(child.id, nullptr, 0) < 0 && errno == EINTR) {
  }
  return {ended, listener.said()};
}

/// Files that hung a moment ago, so that reading one of them as something else does not wait again.
class Hung {
 public:
  bool has(const FileStamp& file) {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(file.path);
    return found != files_.end() && found->second.first == file && Clock::now() < found->second.second;
  }
  void add(const FileStamp& file) {
    const std::lock_guard lock(mutex_);
    files_.insert_or_assign(file.path, std::pair{file, Clock::now() + std::chrono::minutes(1)});
  }

 private:
  std::mutex mutex_;
  std::map<fs::path, std::pair<FileStamp, Clock::time_point>> files_;
};

/// What the child said at its end. @throws as `rehearse` does
std::string found_in_child(const fs::path& path, const Work& work) {
  static Hung hung;
  const std::string name = path.string();
  const FileStamp file = stamp_of(path, name);
  const Finding found = hung.has(file) ? Finding{false, ""} : look(path, work);
  if (!found.ended) hung.add(file);
  require<FileError>(
      found.ended, name, ": HDF5 comes to no end with it within ", limit.count(),
      " s, or takes more memory than it needs; it, or a file that it links to, is damaged or does not "
      "answer");
  require<FileError>(!found.said.empty(), name, ": reading it crashes HDF5; it is damaged");
  if (found.said.front() == refused) throw FileError(found.said.substr(1));
  return found.said;
}

}  // namespace

void take_longer(double seconds) {
  if (to_parent < 0) return;
  tell(&longer, 1);
  tell(&seconds, sizeof seconds);
}

void stop_rehearsing() { to_parent = ::open("/dev/null", O_WRONLY | O_CLOEXEC); }

void rehearse(const fs::path& path, const std::function<void()>& work) {
  if (to_parent >= 0) return;  // this is a rehearsal already
  static_cast<void>(found_in_child(path, [&work] { return work(), std::string(); }));
}

std::string answer_of(const fs::path& path, const std::function<std::string()>& work) {
  if (to_parent >= 0) return work();
  const std::string said = found_in_child(path, work);
  return said.front() == well ? said.substr(1) : work();
}

}  // namespace tandem::io
