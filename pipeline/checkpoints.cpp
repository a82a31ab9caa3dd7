#include "checkpoints.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "../core/error.hpp"
#include "../core/spelled.hpp"
#include "methods/method.hpp"

namespace tandem::pipeline {

namespace fs = std::filesystem;

namespace {

constexpr double pause_s = 60;            // seconds between two check-points
constexpr double share = 0.05;            // the largest share of the time that goes into writing them
constexpr Index bytes_at_once = 1 << 25;  // bytes that come from a GPU at once
constexpr Index room = 1 << 20;           // more bytes than all that is not a vector needs

template <class T>
void pass(io::CheckpointFile& file, const std::string& part, std::span<T> numbers) {
  const Index bytes = numbers.size_bytes();
  file.begin(part, bytes);
  file.pass(numbers.data(), bytes);
}

template <class T>
void pass(io::CheckpointFile& file, const std::string& part, std::vector<T>& numbers) {
  auto count = std::ssize(numbers);
  pass(file, "size of " + part, std::span(&count, 1));
  file.require_room(part, count, sizeof(T));
  numbers.resize(count);
  pass(file, part, std::span(numbers));
}

void pass(io::CheckpointFile& file, const std::string& part, std::vector<std::vector<double>>& lists) {
  Index count = lists.size();
  pass(file, "size of " + part, std::span(&count, 1));
  file.require_room(part, count, sizeof count);
  lists.resize(count);
  for (std::vector<double>& list : lists) pass(file, part, list);
}

void pass(io::CheckpointFile& file, const std::string& part, Curve& curve) {
  pass(file, "iterations of " + part, curve.iterations);
  pass(file, part, curve.values);
}

void pass(io::CheckpointFile& file, const std::string& part, std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  io::pass(file, part, text);
  lines.clear();
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
}

/// Writes or reads a vector. From and to a GPU it goes in pieces through host memory. The shares of a team
/// pass one after the other.
void pass(io::CheckpointFile& file, const std::string& part, VectorView vector) {
  if (const int shares = vector.space.shares(); shares > 1) {
    default_stream(vector.space.device()).synchronize();
    for (int k = 0; k < shares; ++k) pass(file, part + ", share " + std::to_string(k), vector.share(k));
    return;
  }
  const Index bytes = 4 * vector.space.size();
  const Device device = vector.space.device();
  Stream& stream = default_stream(device);
  stream.synchronize();
  if (!device.is_cuda()) return pass(file, part, std::span(vector.data, bytes / 4));
  file.begin(part, bytes);
  std::vector<std::byte> host(std::min(bytes, bytes_at_once));
  auto* there = reinterpret_cast<std::byte*>(vector.data);
  for (Index at = 0; at < bytes; at += bytes_at_once) {
    const Index n = std::min(bytes_at_once, bytes - at);
    const Image<std::byte> here{host.data(), 1, 1, n, n, n}, gpu{there + at, 1, 1, n, n, n};
    const auto as_source = [](const Image<std::byte>& i) {
      return Image<const std::byte>{i.data, i.n0, i.n1, i.n2, i.s0, i.s1};
    };
    if (!file.reads()) copy(as_source(gpu), here, stream);
    stream.synchronize();
    file.pass(host.data(), n);
    if (file.reads()) copy(as_source(here), gpu, stream);
    stream.synchronize();
  }
}

/// The beginning of a file, which says to which run and chunk it belongs.
struct Head {
  io::Identity identity;
  Range slices;
  Index slices_at_once = 0;
  int iteration = 0, turn = 0;
};

void pass(io::CheckpointFile& file, Head& head) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : head.identity) lines.push_back(name + '\t' + value);
  pass(file, "identity", lines);
  head.identity.clear();
  for (const std::string& line : lines)
    head.identity.emplace_back(line.substr(0, line.find('\t')), line.substr(line.find('\t') + 1));
  pass(file, "slices", std::span(&head.slices.first, 1));
  pass(file, "end of slices", std::span(&head.slices.last, 1));
  pass(file, "slices at once", std::span(&head.slices_at_once, 1));
  pass(file, "iteration", std::span(&head.iteration, 1));
  pass(file, "turn of ranks", std::span(&head.turn, 1));
}

void pass(io::CheckpointFile& file, ChunkState& at, AnySolver& solver) {
  RunState& run = at.run;
  pass(file, "first residuals", run.first);
  pass(file, "seconds", std::span(&run.seconds, 1));
  pass(file, "iterations", std::span(&run.report.iterations, 1));
  pass(file, "iterations of blocks", run.report.block_iterations);
  pass(file, "stopped by", run.report.stopped_by);
  pass(file, "residuals", run.report.residuals);
  pass(file, "kept by rules", run.of_rules);
  for_each_curve(at.curves, [&](const char* name, Curve& curve) { pass(file, name, curve); });
  if (file.reads()) {
    file.require_room("iterations", run.report.iterations, 1);
    solver.make_room(run.report.iterations);
  }
  const SolverState state = solver.state().value();
  for (const StatePart& part : state)
    std::visit([&](auto value) { pass(file, "solver's " + part.name, value); }, part.value);
}

Index bytes_of(AnySolver& solver) {
  Index bytes = room;
  const SolverState state = solver.state().value();
  for (const StatePart& part : state)
    if (const auto* vector = std::get_if<VectorView>(&part.value))
      bytes += 4 * vector->space.shares() * vector->space.size();  // at most
  return bytes;
}

/// Collective. @throws FileError on all ranks if one of them has a fault
void require_of_all(const Comm& ranks, const std::string& fault) {
  const std::vector<std::string> all = ranks.all_gather(fault);
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    require<FileError>(all[rank].empty(), "rank ", rank, ": ", all[rank]);
}

/// Does some work, and returns why it failed, or nothing.
std::string fault_of(const std::function<void()>& work) {
  try {
    work();
    return "";
  } catch (const FileError& fault) {
    return fault.what();
  }
}

}  // namespace

/// The file that gets a state.
struct Checkpoints::Place {
  std::size_t number;
  Range slices;
  int turn = 0;  ///< which of the two files ranks that share a solver write now
};

/// A file, and the chunk whose state it has.
struct Checkpoints::Slot {
  Range slices;
  bool taken = false;                             ///< whether a worker has it
  std::unique_ptr<io::CheckpointReader> found{};  ///< left by a killed run, until a worker goes on from it
  int iteration = 0;                              ///< iteration of the last check-point
  double next = 0;                                ///< when the next one is due, by `seconds_now`
  bool failed = false;                            ///< whether the last one could not be written
};

Checkpoints::Checkpoints(Request request)
    : request_(std::move(request)), output_(request_.file, io::Content::checkpoint, request_.replace) {
  std::error_code fault;
  const bool is_there = !request_.resume && request_.ranks.is_first() && fs::exists(request_.file, fault);
  require<FileError>(
      !is_there || request_.replace == io::Replace::any, request_.file.string(),
      ": is there already; give " + spelled("resume") + " to go on from it, or remove it to begin anew");
  // gets its name before any rank replaces a part of it
  if (is_there && !request_.ranks.is_alone()) output_.publish({{"", output_.name()}}, "");
  if (request_.resume) find();
}

Checkpoints::~Checkpoints() = default;

std::string Checkpoints::name_of(std::size_t number) const {
  std::string name = output_.name();
  if (number > 0) name += '.' + std::to_string(number);
  return name;
}

fs::path Checkpoints::path_of(std::size_t number) const {
  const fs::path folder = output_.folder();
  return folder == "." ? fs::path(name_of(number)) : folder / name_of(number);
}

void Checkpoints::find() {
  if (!request_.ranks.is_alone()) return find_part();
  while (fs::exists(path_of(slots_.size()))) slots_.push_back(read(path_of(slots_.size())));
}

Checkpoints::Slot Checkpoints::read(const fs::path& path) {
  auto reader = std::make_unique<io::CheckpointReader>(path);
  Head head;
  pass(*reader, head);
  io::require_same(head.identity, request_.identity, path.string());
  slices_at_once_ = head.slices_at_once;
  turn_ = head.turn;
  return {.slices = head.slices, .found = std::move(reader), .iteration = head.iteration};
}

void Checkpoints::find_part() {
  const Comm& ranks = request_.ranks;
  if (ranks.is_first() && fs::exists(path_of(0))) slots_.push_back(read(path_of(0)));
  const auto [is_there, turn, iteration] = of_first(
      ranks, std::array{static_cast<int>(slots_.size()), turn_, slots_.empty() ? 0 : slots_[0].iteration});
  if (!is_there || ranks.is_first()) return;
  const fs::path path = path_of(turn);
  require<FileError>(fs::exists(path), path.string(),
                     ": is not there, and is a part of the check-point; bring it back, or leave out " +
                         spelled("resume") + " to begin anew");
  slots_.push_back(read(path));
  require<FileError>(
      slots_[0].iteration == iteration && turn_ == turn, path.string(), ": is of iteration ",
      slots_[0].iteration, ", and the part of the first rank of iteration ", iteration,
      "; bring back the files of one check-point, or leave out " + spelled("resume") + " to begin anew");
}

void Checkpoints::suit(Flow& flow) {
  if (slots_.empty()) slices_at_once_ = flow.chunk_slices;
  require<DeviceError>(slices_at_once_ <= flow.chunk_slices, request_.file.string(), ": has ",
                       slices_at_once_, " slices at once, and the memory of this run holds ",
                       flow.chunk_slices,
                       "; give a larger " + spelled("memory") + " or " + spelled("device-memory") +
                           ", or remove it to begin anew");
  flow.chunk_slices = slices_at_once_;
}

std::vector<Range> Checkpoints::found() const {
  std::vector<Range> slices;
  for (const Slot& slot : slots_)
    if (slot.found) slices.push_back(slot.slices);
  std::ranges::sort(slices, {}, &Range::first);
  return slices;
}

std::vector<Range> Checkpoints::in_order(std::vector<Range> due) {
  for (std::size_t k = slots_.size(); k-- > 0;) {
    const auto same = [&](Range chunk) { return chunk.first == slots_[k].slices.first; };
    const auto at = std::find_if(due.begin(), due.end(), same);
    if (at == due.end())
      slots_[k].found.reset();  // the volume has it already
    else
      std::rotate(due.begin(), at, at + 1);
  }
  return due;
}

/// The slot of a chunk, or the first free slot if it has none.
Checkpoints::Slot& Checkpoints::slot_of(Range slices) {
  for (Slot& slot : slots_)
    if ((slot.taken || slot.found) && slot.slices.first == slices.first) return slot;
  for (Slot& slot : slots_)
    if (!slot.taken && !slot.found) return slot;
  return slots_.emplace_back();
}

void Checkpoints::begin(Range slices, ChunkState& at, AnySolver& solver) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slot_of(slices);
  if (slot.found) pass(*slot.found, at, solver);
  slot = {.slices = slices,
          .taken = true,
          .iteration = at.run.report.iterations,
          .next = seconds_now() + pause_s};
}

/// Whether a check-point is due. Since clocks differ, the clock of the first rank decides for ranks that
/// share a solver.
bool Checkpoints::is_due(const Slot& slot, int iteration, double now) const {
  if (request_.ends && request_.ends()) return true;
  if (request_.every) return iteration % *request_.every == 0;
  return of_first(request_.ranks, now >= slot.next);
}

void Checkpoints::save(Range slices, ChunkState& at, AnySolver& solver) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slot_of(slices);
  const int iteration = at.run.report.iterations;
  const double now = seconds_now();
  if (!is_due(slot, iteration, now) || iteration <= slot.iteration) return;
  try {
    request_.ranks.is_alone() ? write(slot, at, solver) : write_part(slot, at, solver);
    slot.iteration = iteration;
    slot.failed = false;
  } catch (const FileError& fault) {
    if (!std::exchange(slot.failed, true))
      warnings_.push_back("the check-point of iteration " + std::to_string(iteration) +
                          " could not be written: " + fault.what() + "; the run goes on" +
                          (slot.iteration > 0 ? ", and the check-point before stays" : ""));
  }
  slot.next = now + std::max(pause_s, (seconds_now() - now) / share);
}

std::unique_ptr<io::CheckpointWriter> Checkpoints::begun(const Place& place, ChunkState& at,
                                                         AnySolver& solver) {
  io::require_replaceable(path_of(place.number), io::Content::checkpoint, request_.replace);
  auto file = std::make_unique<io::CheckpointWriter>(output_, name_of(place.number), bytes_of(solver));
  Head head{request_.identity, place.slices, slices_at_once_, at.run.report.iterations, place.turn};
  pass(*file, head);
  pass(*file, at, solver);
  return file;
}

void Checkpoints::write(const Slot& slot, ChunkState& at, AnySolver& solver) {
  begun({static_cast<std::size_t>(&slot - slots_.data()), slot.slices}, at, solver)->finish();
}

/// Writes the part of this rank. At any moment FILE of the first rank and the parts that belong to it are of
/// one iteration.
void Checkpoints::write_part(const Slot& slot, ChunkState& at, AnySolver& solver) {
  const Comm& ranks = request_.ranks;
  const bool is_first = ranks.is_first();
  const int turn = 1 - turn_;
  const Place place{is_first ? 0 : static_cast<std::size_t>(turn), slot.slices, turn};
  std::unique_ptr<io::CheckpointWriter> file;
  try {
    require_of_all(ranks, fault_of([&] {
                     file = begun(place, at, solver);
                     if (!is_first) file->finish();
                   }));
  } catch (const FileError&) {
    if (!is_first) remove(place.number);  // it would only take space
    throw;
  }
  require_of_all(ranks, fault_of([&] {
                   if (is_first) file->finish();
                 }));
  if (!is_first) remove(turn_);  // the part of the set before
  turn_ = turn;
}

void Checkpoints::end(Range slices) {
  const std::lock_guard lock(mutex_);
  slot_of(slices).taken = false;
}

void Checkpoints::remove(std::size_t number) const {
  std::error_code fault;
  fs::remove(path_of(number), fault);
}

/// Removes the last file first, so that after a kill the files that are left still begin with the first one.
/// The file of the first rank goes before the parts of others, which mean nothing without it.
void Checkpoints::finish() {
  const std::lock_guard lock(mutex_);
  const Comm& ranks = request_.ranks;
  if (!ranks.is_first()) ranks.barrier();
  const std::size_t files = ranks.is_first() ? slots_.size() : 2;
  for (std::size_t k = files; k-- > 0;) remove(k);
  if (ranks.is_first()) ranks.barrier();
}

bool Checkpoints::any() {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(slots_, [](const Slot& slot) { return slot.iteration > 0; });
}

std::vector<std::string> Checkpoints::take_warnings() {
  const std::lock_guard lock(mutex_);
  return std::exchange(warnings_, {});
}

}  // namespace tandem::pipeline
