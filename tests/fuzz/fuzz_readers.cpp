// Damages small valid files at random and reads them. A reader may only succeed or throw a FileError, or a
// GeometryError for numbers that make no scan.
//
// usage: fuzz_readers SECONDS SEED [FOLDER]
//
// Cases run in child processes, so that a crash ends no more than the case; the file that caused it and what
// the child said are kept in FOLDER (default: fuzz-findings). Build with the sanitizers. A reader that
// crashes, or takes more than 10 s, is a finding, in whatever library: exit code 1. That libhdf5 crashes or
// hangs in a rehearsal (io/rehearsal.hpp) is counted as handled, unless the same work without one shows that
// the fault is ours.

#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <random>
#include <sstream>

#include "../../core/error.hpp"
#include "../../io/rehearsal.hpp"
#include "../../io/scan_reader.hpp"
#include "../../io/volume_file.hpp"
#include "../support/temporary_folder.hpp"
#include "seeds.hpp"

extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:max_allocation_size_mb=4000:detect_leaks=0";
}

namespace tandem::test {

namespace {

constexpr int cases_a_child = 40;
constexpr unsigned seconds_a_case = 10;

void damage_once(std::string& bytes, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(n, 1));
  };
  constexpr std::array<std::uint64_t, 10> edges{0,      1,          0x7f,       0xff,       0x7fff,
                                                0xffff, 0x7fffffff, 0xffffffff, 1ull << 40, ~0ull};
  const std::size_t at = below(bytes.size());
  const auto put = [&](std::uint64_t value, std::size_t width) {
    std::memcpy(bytes.data() + at, &value, std::min(width, bytes.size() - at));
  };
  switch (below(8)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
      break;
    case 1:
      bytes[at] = static_cast<char>(random());
      break;
    case 2:
      put(edges[below(edges.size())], 1);
      break;
    case 3:
      put(edges[below(edges.size())], 2);
      break;
    case 4:
      put(edges[below(edges.size())], 4);
      break;
    case 5:
      put(edges[below(edges.size())], 8);
      break;
    case 6:
      put(below(bytes.size()), 4);
      break;    // an offset that lies in the file
    default: {  // a piece from elsewhere
      const std::size_t from = below(bytes.size());
      std::memmove(bytes.data() + at, bytes.data() + from,
                   std::min(below(32), bytes.size() - std::max(at, from)));
    }
  }
}

Seed damaged(const std::vector<Seed>& seeds, std::uint64_t seed, std::uint64_t number) {
  std::seed_seq sequence{seed, number};
  std::mt19937_64 random(sequence);
  Seed made = seeds[random() % seeds.size()];
  if (random() % 16 == 0) made.bytes.resize(random() % made.bytes.size());
  for (std::uint64_t k = 1 + random() % 6; k > 0 && !made.bytes.empty(); --k) damage_once(made.bytes, random);
  return made;
}

void read_scan(const fs::path& path) {
  io::OpenOptions options;
  if (path.extension() == ".tif" || path.extension() == ".edf") options.arc_deg = 180;
  if (path.extension() == ".mat") options.pixel_size_mm = 0.2;
  const auto reader = io::open_scan(path, options);
  const io::ScanInfo& info = reader->info();
  const Detector& detector = detector_of(info.scan);
  const Index few = 16, columns = std::min<Index>(detector.bins, 1 << 16),
              lines = std::min(detector.rows, few);
  const std::array<Index, 3> counts{static_cast<Index>(angles_of(info.scan).size()), info.flats, info.darks};
  for (int kind = 0; kind < 3; ++kind)
    reader->read(static_cast<io::FrameKind>(kind), {0, std::min(counts[static_cast<std::size_t>(kind)], few)},
                 {0, lines}, {0, columns});
}

void read_volume(const fs::path& path) {
  io::VolumeReader reader(path);
  const Shape n = reader.shape();
  if (n[1] > 4096 || n[2] > 4096) return;
  std::vector<float> slice(static_cast<std::size_t>(n[1] * n[2]));
  for (Index z = 0; z < std::min<Index>(n[0], 16); ++z) reader.read({z, z + 1}, slice.data());
}

/// Shared with the child.
struct Progress {
  std::uint64_t number = 0, handled = 0;
};

/// A reader that takes too long: says where it hangs.
void on_alarm(int) {
  std::array<void*, 32> frames_up{};
  ::backtrace_symbols_fd(frames_up.data(), ::backtrace(frames_up.data(), 32), STDERR_FILENO);
  ::_exit(4);
}

/// Whether the innermost frame outside the sanitizer and the C library lies in one of the two libraries. A
/// frame is a line "    #3 0x... in NAME FILE" of the sanitizer, or "FILE(NAME+0x...)[0x...]" of backtrace.
bool is_foreign(const std::string& log) {
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const auto has = [&line](const char* text) { return line.find(text) != std::string::npos; };
    if (line.find("    #") != 0 && !has(")[0x")) continue;
    if (has("sanitizer") || has("sysdeps") || has("libc.so") || has("libasan") || has("fuzz_readers("))
      continue;
    return has("libhdf5") || has("libtiff");
  }
  return false;
}

/// The same in a process that may die, without a rehearsal. @throws if it dies in code of ours
void blame(const std::function<void()>& work, const fs::path& log) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open(log.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644), STDERR_FILENO);
    ::alarm(seconds_a_case);
    io::stop_rehearsing();
    try {
      work();
    } catch (...) {
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  const std::string said = content(log);
  if (said.find("    #") != std::string::npos && !is_foreign(said)) throw std::runtime_error(said);
}

/// What a reader may do: nothing worth a word, or a FileError on one line. @throws what else came
void attempt(const std::function<void()>& work, const fs::path& folder, Progress& progress) {
  ::alarm(seconds_a_case);
  try {
    work();
  } catch (const GeometryError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos)
      throw std::runtime_error("a message of several lines");
  } catch (const FileError& error) {
    const std::string text = error.what();
    if (text.find('\n') != std::string::npos) throw std::runtime_error("a message of several lines");
    if (text.find("crashes HDF5") == std::string::npos && text.find("comes to no end") == std::string::npos)
      return;
    ++progress.handled;
    ::alarm(2 * seconds_a_case);
    blame(work, folder / "blame.txt");
  }
}

[[noreturn]] void run_child(const std::vector<Seed>& seeds, std::uint64_t seed, std::uint64_t first,
                            const fs::path& folder, Progress& progress) {
  const int log = ::open((folder / "log.txt").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
  ::dup2(log, STDERR_FILENO);
  std::signal(SIGALRM, on_alarm);
  try {
    for (progress.number = first; progress.number < first + cases_a_child; ++progress.number) {
      const Seed made = damaged(seeds, seed, progress.number);
      const fs::path path = folder / made.name;
      if (path.parent_path() != folder) write_scanned(folder);  // what lies beside it
      save(path, made.bytes);
      attempt([&] { read_scan(path); }, folder, progress);
      if (path.parent_path() != folder) attempt([&] { read_scan(path.parent_path()); }, folder, progress);
      attempt([&] { read_volume(path); }, folder, progress);
    }
    ::_exit(0);
  } catch (const std::exception& error) {
    std::cerr << "neither success nor an error of the file: " << error.what() << std::endl;
  } catch (...) {
    std::cerr << "neither success nor an error of the file" << std::endl;
  }
  ::_exit(3);
}

int run(double seconds, std::uint64_t seed, const fs::path& findings) {
  const TemporaryFolder seed_folder, folder;
  const std::vector<Seed> seeds = make_seeds(seed_folder.path());
  write_companion(folder.path());
  auto* progress = static_cast<Progress*>(
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t number = 0;
  int ours = 0, foreign = 0;  // where the fault lies; neither may be
  while (std::chrono::steady_clock::now() < end) {
    const pid_t child = ::fork();
    if (child == 0) run_child(seeds, seed, number, folder.path(), *progress);
    int status = 0;
    ::waitpid(child, &status, 0);
    number = progress->number;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;

    const Seed made = damaged(seeds, seed, number);
    const std::string log = content(folder / "log.txt"),
                      stem = std::to_string(seed) + "-" + std::to_string(number);
    const bool elsewhere = is_foreign(log);
    ++(elsewhere ? foreign : ours);
    fs::create_directories(findings);
    save(findings / (stem + "-" + fs::path(made.name).filename().string()), made.bytes);
    save(findings / (stem + ".txt"), log);
    std::cout << (elsewhere ? "in a library: " : "OURS: ") << stem << "-" << made.name
              << (WIFEXITED(status) && WEXITSTATUS(status) == 4 ? " hangs" : "") << "\n  "
              << log.substr(0, log.find('\n')) << std::endl;
    ++number;
  }
  std::cout << number << " cases, " << ours << " findings of ours, " << foreign << " in libhdf5 or libtiff, "
            << progress->handled << " crashes and hangs handled" << std::endl;
  return ours + foreign > 0 ? 1 : 0;
}

}  // namespace

}  // namespace tandem::test

int main(int count, char** values) {
  if (count < 3) {
    std::cerr << "usage: fuzz_readers SECONDS SEED [FOLDER]\n";
    return 2;
  }
  return tandem::test::run(std::stod(values[1]), std::stoull(values[2]),
                           count > 3 ? values[3] : "fuzz-findings");
}
