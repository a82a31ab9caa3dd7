// Damages small valid files at random and reads them. A reader may only succeed or throw a FileError, or a
// GeometryError for numbers that make no scan.
//
// usage: fuzz_readers 600s|5000 SEED [FOLDER [WORD...]]
//
// It ends after so many seconds or cases, and prints how many there were of each valid file, and in how many
// something could be read. With WORDs it takes only valid files with one of them in their names. Cases run in
// child processes, so that a crash ends no more than the case; the file that caused it and what the child
// said are kept in FOLDER (default: fuzz-findings). Build with the sanitizers. A reader that crashes, takes
// more than 10 s, or more than 1 GiB, is a finding, in whatever library: exit code 1. That libhdf5 crashes or
// hangs in a rehearsal (io/hdf5/rehearsal.hpp) is counted as handled, unless the same work without one shows
// that the fault is ours.

#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <sstream>

#include "../../core/error.hpp"
#include "../../io/hdf5/rehearsal.hpp"
#include "../../io/scans/geometries/geometry_file.hpp"
#include "../../io/scans/scan_reader.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "../support/temporary_folder.hpp"
#include "damage.hpp"
#include "seeds.hpp"

// Visible to the library of the sanitizer.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:max_allocation_size_mb=1024:detect_leaks=0";
}

namespace tandem::test {

namespace {

constexpr int cases_a_child = 40;
constexpr unsigned seconds_a_case = 10;
constexpr Index most_memory = Index{1} << 30;

struct Case {
  std::size_t seed;  ///< the number of the valid file
  Seed made;
};

Case made_case(const std::vector<Seed>& seeds, std::uint64_t seed, std::uint64_t number) {
  std::seed_seq sequence{seed, number};
  std::mt19937_64 random(sequence);
  const std::size_t k = random() % seeds.size();
  return {k, {seeds[k].name, damaged(seeds[k].bytes, random)}};
}

/// Views of a scan with the detector of all first files.
void read_views(const fs::path& path) {
  constexpr double pitch = 0.2;
  io::scan_of_views(io::read_geometry_file({path}),
                    {.bins = 5, .rows = 3, .bin_pitch = pitch, .row_pitch = pitch}, pitch, false);
}

void read_scan(const fs::path& path) {
  if (path.filename().string().starts_with("views")) return read_views(path);
  io::OpenOptions options;
  if (path.extension() == ".csv" || path.extension() == ".tlt")
    return static_cast<void>(io::read_angles({.angles = path}));
  if (path.extension() == ".raw")
    io::read_raw_frames("uint16,5x3", options.raw.emplace()), options.arc_deg = 180;
  for (const char* ending : {".tif", ".edf", ".npy", ".mrc"})
    if (path.extension() == ending) options.arc_deg = 180;
  if (path.extension() == ".mat") options.pixel_size_mm = 0.2;
  if (path.filename().string().starts_with("times")) options.time = 1;
  const auto reader = io::open_scan(path, options);
  const io::ScanInfo& info = reader->info();
  const Detector& detector = detector_of(info.scan);
  const Index few = 16, columns = std::min<Index>(detector.bins, 1 << 16),
              lines = std::min(detector.rows, few);
  const std::array<Index, 3> counts{views_of(info.scan), info.flats, info.darks};
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
  struct Tally {
    std::uint64_t cases = 0, read = 0;
  };
  std::uint64_t number = 0, handled = 0;
  std::array<Tally, 400> of_seed = {};
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

/// The most memory that this process or a child of it has had, bytes.
Index peak_memory() {
  rusage own{}, of_children{};
  ::getrusage(RUSAGE_SELF, &own), ::getrusage(RUSAGE_CHILDREN, &of_children);
  return std::max<Index>(own.ru_maxrss, of_children.ru_maxrss) * 1024;
}

/// The most that attempts without a rehearsal have taken: what they do is only asked for its place.
Index excused_memory = 0;

void require_little_memory() {
  if (peak_memory() > std::max(most_memory, excused_memory))
    throw std::runtime_error("more than 1 GiB for a small file");
}

/// Attempts to read. A reader may do nothing worth a word, or throw a FileError on one line. Returns whether
/// it read the file. @throws any other error that came
bool attempt(const std::function<void()>& work, const fs::path& folder, Progress& progress) {
  ::alarm(seconds_a_case);
  try {
    work();
    return true;
  } catch (const GeometryError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos)
      throw std::runtime_error("a message of several lines");
  } catch (const FileError& error) {
    const std::string text = error.what();
    if (text.find('\n') != std::string::npos) throw std::runtime_error("a message of several lines");
    if (text.find("crashes HDF5") == std::string::npos && text.find("comes to no end") == std::string::npos)
      return false;
    ++progress.handled;
    require_little_memory();
    ::alarm(2 * seconds_a_case);
    blame(work, folder / "blame.txt");
    excused_memory = peak_memory();
  }
  return false;
}

void try_readers(const Case& one, const fs::path& folder, Progress& progress) {
  const fs::path path = folder / one.made.name;
  const bool in_folder = path.parent_path() != folder;
  if (in_folder) write_beside(folder, one.made.name);
  save(path, one.made.bytes);
  bool read = attempt([&] { read_scan(path); }, folder, progress);
  if (in_folder) read |= attempt([&] { read_scan(path.parent_path()); }, folder, progress);
  const fs::path volume = volume_of(one.made.name).empty() ? path : folder / volume_of(one.made.name);
  read |= attempt([&] { read_volume(volume); }, folder, progress);
  require_little_memory();
  ++progress.of_seed[one.seed].cases;
  progress.of_seed[one.seed].read += read ? 1 : 0;
}

[[noreturn]] void run_child(const std::vector<Seed>& seeds, std::uint64_t seed, std::uint64_t last,
                            const fs::path& folder, Progress& progress) {
  const int log = ::open((folder / "log.txt").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
  ::dup2(log, STDERR_FILENO);
  std::signal(SIGALRM, on_alarm);
  try {
    for (; progress.number < last; ++progress.number)
      try_readers(made_case(seeds, seed, progress.number), folder, progress);
    ::_exit(0);
  } catch (const std::exception& error) {
    std::cerr << "neither success nor an error of the file: " << error.what() << std::endl;
  } catch (...) {
    std::cerr << "neither success nor an error of the file" << std::endl;
  }
  ::_exit(3);
}

/// Keeps what caused a finding, and says it. Returns whether the fault lies in a library.
bool report(const Case& one, const std::string& stem, const std::string& log, bool hangs,
            const fs::path& findings) {
  const bool elsewhere = is_foreign(log);
  fs::create_directories(findings);
  save(findings / (stem + "-" + fs::path(one.made.name).filename().string()), one.made.bytes);
  save(findings / (stem + ".txt"), log);
  std::cout << (elsewhere ? "in a library: " : "OURS: ") << stem << "-" << one.made.name
            << (hangs ? " hangs" : "") << "\n  " << log.substr(0, log.find('\n')) << std::endl;
  return elsewhere;
}

struct Limits {
  double seconds = 1e9;
  std::uint64_t cases = ~0ull;
};

int run(const Limits& limits, std::uint64_t seed, const fs::path& findings,
        const std::vector<std::string>& words) {
  const TemporaryFolder seed_folder, folder;
  const std::vector<Seed> seeds = make_seeds(seed_folder.path(), words);
  write_companion(folder.path());
  auto* shared = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Progress& progress = *new (shared) Progress;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limits.seconds);
  int ours = 0, foreign = 0;  // faults in our code, and in libraries; none may be
  while (std::chrono::steady_clock::now() < end && progress.number < limits.cases) {
    const std::uint64_t last = std::min(progress.number + cases_a_child, limits.cases);
    const pid_t child = ::fork();
    if (child == 0) run_child(seeds, seed, last, folder.path(), progress);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    const bool hangs = WIFEXITED(status) && WEXITSTATUS(status) == 4;
    const std::string stem = std::to_string(seed) + "-" + std::to_string(progress.number);
    ++(report(made_case(seeds, seed, progress.number), stem, content(folder / "log.txt"), hangs, findings)
           ? foreign
           : ours);
    ++progress.number;
  }
  for (std::size_t k = 0; k < seeds.size(); ++k)
    std::cout << progress.of_seed[k].cases << " cases of " << seeds[k].name << ", "
              << progress.of_seed[k].read << " read\n";
  std::cout << progress.number << " cases, " << ours << " findings of ours, " << foreign
            << " in libhdf5 or libtiff, " << progress.handled << " crashes and hangs handled" << std::endl;
  return ours + foreign > 0 ? 1 : 0;
}

}  // namespace

}  // namespace tandem::test

int main(int count, char** values) {
  if (count < 3) {
    std::cerr << "usage: fuzz_readers 600s|5000 SEED [FOLDER [WORD...]]\n";
    return 2;
  }
  const std::string length = values[1];
  tandem::test::Limits limits;
  if (length.ends_with('s'))
    limits.seconds = std::stod(length);
  else
    limits.cases = std::stoull(length);
  return tandem::test::run(limits, std::stoull(values[2]), count > 3 ? values[3] : "fuzz-findings",
                           {values + std::min(count, 4), values + count});
}
