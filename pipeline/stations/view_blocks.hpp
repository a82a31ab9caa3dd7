#pragma once

#include <vector>

#include "../../core/device.hpp"
#include "../beams/beam.hpp"
#include "../methods/work.hpp"
#include "chunk.hpp"
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

/// Makes slabs that need all rays of a view. It passes over the views in blocks of `block_views` views.
/// While one block is added to the slab, the next one becomes line integrals and is filtered, and the one
/// after it is read. So neither counts nor line integrals have to fit into memory. Sums have the order of the
/// views.
class ViewBlocks {
 public:
  ViewBlocks(Work& work, ReadStation& read, PrepareStation& prepare);
  /// The slab of this problem, made on the stream `adding`. Reading and preparing have their own stream.
  Array operator()(const Problem& problem, Chunk& chunk, const Stream& adding);

 private:
  struct Slab;  ///< in the making
  /// `fresh`: the views whose counts have come.
  Array filtered(Slab& slab, Range views, Range fresh, std::optional<Counts> counts);
  Array line_integrals_behind(Slab& slab, Range block, Range fresh, std::optional<Counts> counts);
  Array line_integrals(Slab& slab, Range views, Counts counts);
  Array line_integrals_of_all(const Counts& of_slab);
  Array some_of_all(const Array& all, Range views, const Space& space);
  void add(Slab& slab, Range views, const LinearOperator& back_projection, Array filtered);
  void wait_for_last(Slab& slab, const Stream& adding);

  Work& work_;
  ReadStation& read_;
  PrepareStation& prepare_;
  Stream preparing_;  ///< stream of its own, since its kernels are small and those that add are large
  Event before_;      ///< recorded after the last block that was added
};

}  // namespace tandem::pipeline
