#pragma once

#include <vector>

#include "../../core/device.hpp"
#include "../beams/beam.hpp"
#include "../methods/work.hpp"
#include "prepare.hpp"
#include "read.hpp"

namespace tandem::pipeline {

/// The views that are read for a block, with the views beside that the filter needs.
Index views_of_block(const Plan& plan);
/// The bytes that the blocks of a worker hold on the host. If `counts_stay`, counts are held as a whole
/// instead.
double blocks_on_host(const Plan& plan, const io::ScanInfo& info, const Worker& worker, Index slices,
                      bool counts_stay);
/// The bytes that the blocks of a worker, and its slab, hold on its device.
double blocks_on_device(const Plan& plan, const Worker& worker, Index slices);

/// Blocks of at most `most` views. The first one is smaller, so that the work on the slab begins soon.
std::vector<Range> blocks_of(Index views, Index most);

/// Makes slabs that need all rays of a view. It passes over the views in blocks of `Flow::views_at_once`.
/// While one block is added to the slab, the next one becomes line integrals and is filtered, and the one
/// after it is read. So neither counts nor line integrals have to fit into memory. Sums have the order of the
/// views.
class Sweep {
 public:
  Sweep(Work& work, ReadStation& read, PrepareStation& prepare);
  /// The slab of this problem, made on the stream `adding`. Reading and preparing have their own stream.
  Array operator()(const Problem& problem, Chunk& chunk, const Stream& adding);

 private:
  struct Pass;  ///< one pass over all views
  /// `fresh`: the views whose counts have come.
  Array filtered(Pass& pass, Range views, Range fresh, const io::FramesView& counts);
  Array line_integrals_behind(Pass& pass, Range block, Range fresh, const io::FramesView& counts);
  Array line_integrals(Pass& pass, Range views, const io::FramesView& counts);
  void add(Pass& pass, Range views, const LinearOperator& back_projection, Array filtered);
  void wait_for_last(Pass& pass, const Stream& adding);

  Work& work_;
  ReadStation& read_;
  PrepareStation& prepare_;
  Stream preparing_;  ///< stream of its own, since its kernels are small and those that add are large
  Event before_;      ///< recorded after the last block that was added
};

}  // namespace tandem::pipeline
