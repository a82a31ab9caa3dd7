#pragma once

// Used only within io/.

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "journal.hpp"
#include "volume_format.hpp"

namespace tandem::io {

/// Writes slabs, each slice on a thread of the pool, and keeps a journal of the slices that are on the disk.
/// A format says where a slice goes.
class SlabWriter : public VolumeWriter {
 public:
  SlabWriter(std::string name, Shape shape, const VolumeFormat& format, const Comm& ranks);

  void set_range(float min, float max) final;
  Clipped clipped() const final { return {below_, above_}; }
  void write(Range slices, const float* data) final;
  const VolumeFormat* takes_stored() const final { return &format_; }
  void write_stored(Range slices, const std::byte* numbers, Clipped clipped) final;
  std::vector<Range> done() const final;
  void read_done(Index slice, float* data) final;
  void collect() final;
  void finish(const std::string& report_json) final;

 protected:
  /// Puts the bytes of a slice in their place, which it notes in `slice`. Several threads may call it at
  /// once, for different slices.
  virtual void write_slice(DoneSlice& slice, const void* stored) = 0;
  /// The bytes of a slice that was written; empty if they are not there.
  virtual std::vector<std::byte> stored(const DoneSlice& slice) = 0;
  virtual void complete(const std::string& report_json) = 0;

  /// The slices of a list that are there as they were written.
  std::vector<DoneSlice> verified(const std::vector<DoneSlice>& slices);
  /// Takes the slices that a killed run left, as the first rank found them. Other ranks wait here until the
  /// first one has made the files. Only its journal lists these slices, and `text.done` of the others becomes
  /// empty.
  void adopt(JournalText& text);
  /// Makes this the journal to which slices are added. A writer whose journal calls it back must have the
  /// journal as its last member.
  void use(Journal& journal) { journal_ = &journal; }

  const Comm& ranks() const { return ranks_; }
  const Shape& shape() const { return shape_; }
  const VolumeFormat& format() const { return format_; }
  double bytes() const;       ///< bytes of all voxels
  Index slice_bytes() const;  ///< bytes of one slice, as it is stored
  const DoneSlice& slice(Index k) const { return slices_[k]; }

 private:
  void take(Range slices);
  template <class Use>
  void for_each_new(Range slices, const Use& use);
  std::vector<std::byte> encoded(Index slice, const float* data);
  void put(Index slice, const void* stored);

  std::string name_;
  Shape shape_;
  VolumeFormat format_;
  Comm ranks_;
  std::mutex mutex_;
  std::vector<bool> adopted_, taken_;  // slices that were there, and slices that came
  std::vector<DoneSlice> slices_;
  std::atomic<Index> written_ = 0;            // slices that are in their files
  std::atomic<Index> below_ = 0, above_ = 0;  // clipped voxels
  Journal* journal_ = nullptr;
};

}  // namespace tandem::io
