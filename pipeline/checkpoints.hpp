#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../core/comm.hpp"
#include "../core/range.hpp"
#include "../io/checkpoint_file.hpp"
#include "../io/files/identity.hpp"
#include "methods/state_keeper.hpp"
#include "plan/flow.hpp"

namespace tandem::pipeline {

/// Check-points of the chunks that are in the making: a file for each, FILE, FILE.1, FILE.2, ..., as many as
/// workers are at work at once. A chunk that is done leaves its file to the next one; what is done is in the
/// volume, and resumed from there. Several workers may use this at once.
///
/// Where ranks have one solver together, each keeps its part of the state, all of the same iteration. FILE of
/// the first rank gets its name when the other parts lie on the disk, and says which they are: other ranks
/// take FILE and FILE.1 by turns. So there is always a whole set.
class Checkpoints final : public StateKeeper {
 public:
  struct Request {
    std::filesystem::path file;
    io::Replace replace = io::Replace::own;
    io::Identity identity;     ///< what must be the same if a run goes on from here
    std::optional<int> every;  ///< iterations; default: a minute, and at most 5 % of the time for writing
    bool resume = false;       ///< whether to go on from what is there
    /// Whether the run is about to be ended, so that one is due now. Of ranks that share a solver all ask,
    /// once an iteration, and get one answer.
    std::function<bool()> ends = {};
    Comm ranks = {};  ///< that share a solver; each has a file of its own name
  };
  /// @throws FileError if the file is there and is not to be gone on from nor to be replaced, and, to resume,
  /// if a check-point is damaged, has another identity, or lacks a part
  explicit Checkpoints(Request request);
  ~Checkpoints() override;

  /// Gives the flow chunks like those of the check-points that were found. @throws DeviceError if its memory
  /// does not hold them; GeometryError if the CPU would help GPUs
  void suit(Flow& flow);
  std::vector<Range> found() const;  ///< the slices that a killed run was at
  /// The same chunks, those first that a killed run was at.
  std::vector<Range> in_order(std::vector<Range> due);

  /// A worker begins a chunk: it goes on if a killed run was at it. @throws FileError
  void begin(Range slices, ChunkState& at, AnySolver& solver) override;
  /// Writes a check-point, if one is due. If that fails, the one before stays, and there is a warning.
  void save(Range slices, ChunkState& at, AnySolver& solver) override;
  void end(Range slices) override;  ///< the solver is done with the chunk
  void finish();                    ///< removes the files: the volume is whole. All ranks that share a solver

  std::vector<std::string> take_warnings();  ///< those that are new

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
  int turn_ = 1;  ///< the file that other ranks than the first have their part in
  std::vector<std::string> warnings_;
};

}  // namespace tandem::pipeline
