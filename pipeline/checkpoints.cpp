#include "checkpoints.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "../core/error.hpp"
#include "methods/method.hpp"

namespace tandem::pipeline {

namespace fs = std::filesystem;

namespace {

constexpr double pause_s = 60;            // between two check-points
constexpr double share = 0.05;            // of the time, at most, goes into writing them
constexpr Index bytes_at_once = 1 << 25;  // that come from a GPU
constexpr Index room = 1 << 20;           // bytes of all that is not a vector, and more

template <class T>
void pass(io::CheckpointFile& file, const std::string& part, std::span<T> numbers) {
  const auto bytes = static_cast<Index>(numbers.size_bytes());
  file.begin(part, bytes);
  file.pass(numbers.data(), bytes);
}

template <class T>
void pass(io::CheckpointFile& file, const std::string& part, std::vector<T>& numbers) {
  auto count = static_cast<Index>(numbers.size());
  pass(file, "size of " + part, std::span(&count, 1));
  numbers.resize(static_cast<std::size_t>(count));
  pass(file, part, std::span(numbers));
}

void pass(io::CheckpointFile& file, const std::string& part, std::vector<std::vector<double>>& lists) {
  auto count = static_cast<Index>(lists.size());
  pass(file, "size of " + part, std::span(&count, 1));
  lists.resize(static_cast<std::size_t>(count));
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

/// From and to a GPU in pieces, through host memory. Of a team the shares pass one after the other.
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
  if (!device.is_cuda()) return pass(file, part, std::span(vector.data, static_cast<std::size_t>(bytes / 4)));
  file.begin(part, bytes);
  std::vector<std::byte> host(static_cast<std::size_t>(std::min(bytes, bytes_at_once)));
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

/// What a file says first: what it belongs to.
struct Head {
  io::Identity identity;
  Range slices;
  Index slices_at_once = 0;
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
  CurveSums& curves = at.curves;
  for (auto& [name, curve] : {std::pair("changes", &curves.changes), std::pair("sizes", &curves.sizes),
                              std::pair("objective", &curves.objective), std::pair("errors", &curves.errors),
                              std::pair("similarities", &curves.similarities)})
    pass(file, name, *curve);
  if (file.reads()) solver.make_room(run.report.iterations);
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

}  // namespace

/// A file, and the chunk whose state it has.
struct Checkpoints::Slot {
  Range slices;
  bool taken = false;                             ///< by a worker
  std::unique_ptr<io::CheckpointReader> found{};  ///< what a killed run left, until a worker goes on from it
  int iteration = 0;                              ///< of the last check-point
  double next = 0;                                ///< when one is due, by `seconds_now`
  bool failed = false;                            ///< the last one could not be written
};

Checkpoints::Checkpoints(Request request)
    : request_(std::move(request)), output_(request_.file, request_.replace) {
  std::error_code fault;
  const bool may_go = request_.resume || request_.replace == io::Replace::any;
  require<FileError>(may_go || !fs::exists(request_.file, fault), request_.file.string(),
                     ": is there already; give --resume to go on from it, or remove it to begin anew");
  if (request_.resume) find();
}

Checkpoints::~Checkpoints() = default;

std::string Checkpoints::name_of(std::size_t slot) const {
  std::string name = output_.name();
  if (slot > 0) name += '.' + std::to_string(slot);
  return name;
}

fs::path Checkpoints::path_of(std::size_t slot) const {
  const fs::path folder = output_.folder();
  return folder == "." ? fs::path(name_of(slot)) : folder / name_of(slot);
}

void Checkpoints::find() {
  for (;;) {
    const fs::path path = path_of(slots_.size());
    if (!fs::exists(path)) return;
    auto reader = std::make_unique<io::CheckpointReader>(path);
    Head head;
    pass(*reader, head);
    io::require_same(head.identity, request_.identity, path.string());
    slices_at_once_ = head.slices_at_once;
    slots_.push_back({.slices = head.slices, .found = std::move(reader)});
  }
}

void Checkpoints::suit(Plan& plan) {
  require<GeometryError>(!plan.helper(),
                         "--checkpoint does not go with a CPU that helps GPUs, because the bits of a slice "
                         "depend on who makes it; give --device cuda");
  if (slots_.empty()) slices_at_once_ = plan.rows_at_once;
  require<DeviceError>(slices_at_once_ <= plan.rows_at_once, request_.file.string(), ": has ",
                       slices_at_once_, " slices at once, and the memory of this run holds ",
                       plan.rows_at_once,
                       "; give a larger --memory or --device-memory, or leave out --resume to begin anew");
  plan.rows_at_once = slices_at_once_;
  plan.slices_a_read -= plan.slices_a_read % slices_at_once_;
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

/// The lowest one that is free, if the chunk has none.
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

void Checkpoints::save(Range slices, ChunkState& at, AnySolver& solver) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slot_of(slices);
  const int iteration = at.run.report.iterations;
  const double now = seconds_now();
  const bool last = request_.ends && request_.ends();
  const bool due = last || (request_.every ? iteration % *request_.every == 0 : now >= slot.next);
  if (!due || iteration <= slot.iteration) return;
  try {
    write(slot, at, solver);
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

void Checkpoints::write(Slot& slot, ChunkState& at, AnySolver& solver) {
  const auto number = static_cast<std::size_t>(&slot - slots_.data());
  io::require_replaceable(path_of(number), request_.replace);
  io::CheckpointWriter file(output_, name_of(number), bytes_of(solver));
  Head head{request_.identity, slot.slices, slices_at_once_};
  pass(file, head);
  pass(file, at, solver);
  file.finish();
}

void Checkpoints::end(Range slices) {
  const std::lock_guard lock(mutex_);
  slot_of(slices).taken = false;
}

/// The last one first: what is there begins with the first one, also after a kill.
void Checkpoints::finish() {
  const std::lock_guard lock(mutex_);
  for (std::size_t k = slots_.size(); k-- > 0;) {
    std::error_code fault;
    fs::remove(path_of(k), fault);
  }
}

std::vector<std::string> Checkpoints::take_warnings() {
  const std::lock_guard lock(mutex_);
  return std::exchange(warnings_, {});
}

}  // namespace tandem::pipeline
