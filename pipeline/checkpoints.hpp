#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../core/comm.hpp"
#include "../io/checkpoint_file.hpp"
#include "../io/files/identity.hpp"
#include "methods/state_keeper.hpp"
#include "plan/flow.hpp"

namespace tandem::pipeline {

/// Check-points of the chunks in the making. There is one file for each worker: FILE, FILE.1, FILE.2, ... A
/// chunk that is done leaves its file to the next chunk, since its slices are in the volume. Several workers
/// may use this at once.
///
/// If ranks share one solver, each keeps its part of the state, and all parts are of the same iteration. The
/// other ranks write to FILE and FILE.1 in turn. When their parts lie on the disk, FILE of the first rank
/// gets its name, and says which parts belong to it. So there is always a whole set.
class Checkpoints final : public StateKeeper {
 public:
  struct Request {
    std::filesystem::path file;
    io::Replace replace = io::Replace::own;
    io::Identity identity;     ///< what must be the same in a run that goes on from here
    std::optional<int> every;  ///< iterations; default: a minute, with at most 5 % of the time for writing
    bool resume = false;       ///< whether to go on from check-points that are there
    /// Whether the run is about to be ended, so that a check-point is due now. Ranks that share a solver all
    /// ask once in each iteration, and get the same answer.
    std::function<bool()> ends = {};
    Comm ranks = {};  ///< ranks that share a solver; each has a file with its own name
  };
  /// @throws FileError if the file is there and may be neither resumed nor replaced. If it is to be resumed,
  /// the error comes if a check-point is damaged, has another identity, or lacks a part
  explicit Checkpoints(Request request);
  ~Checkpoints() override;

  /// Gives the flow chunks of the same size as the check-points that were found. @throws DeviceError if its
  /// memory does not hold them
  void suit(Flow& flow);
  std::vector<Range> found() const;  ///< the slices on which a killed run was at work
  /// The same chunks, first those on which a killed run was at work.
  std::vector<Range> in_order(std::vector<Range> due);

  /// Notes that a worker begins a chunk. If there is a check-point of the chunk, restores `at` and `solver`
  /// from it. @throws FileError
  void begin(Range slices, ChunkState& at, AnySolver& solver) override;
  /// Writes a check-point if one is due. If that fails, the one before stays, and a warning is added.
  void save(Range slices, ChunkState& at, AnySolver& solver) override;
  void end(Range slices) override;  ///< notes that the solver is done with the chunk
  void finish();  ///< removes the files, since the volume is whole. Collective for ranks that share a solver

  std::vector<std::string> take_warnings();  ///< the new warnings
  bool any();                                ///< whether there is a check-point to go on from

 private:
  struct Slot;
  struct Place;
  Slot& slot_of(Range slices);
  std::string name_of(std::size_t number) const;
  std::filesystem::path path_of(std::size_t number) const;
  bool is_due(const Slot& slot, int iteration, double now) const;
  void find();
  void find_part();
  Slot read(const std::filesystem::path& path);
  std::unique_ptr<io::CheckpointWriter> begun(const Place& place, ChunkState& at, AnySolver& solver);
  void write(const Slot& slot, ChunkState& at, AnySolver& solver);
  void write_part(const Slot& slot, ChunkState& at, AnySolver& solver);
  void remove(std::size_t number) const;

  Request request_;
  io::Output output_;
  std::mutex mutex_;
  std::vector<Slot> slots_;
  Index slices_at_once_ = 0;
  int turn_ = 1;  ///< number of the file for the part of any rank but the first
  std::vector<std::string> warnings_;
};

}  // namespace tandem::pipeline
