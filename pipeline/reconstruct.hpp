#pragma once

#include "../core/comm.hpp"
#include "../io/volumes/volume_file.hpp"
#include "plan/plan.hpp"
#include "watch/options.hpp"
#include "watch/outcome.hpp"

namespace tandem::pipeline {

/// Completes the options of the plan, if its method has to look at some slices for that: up to five, spread
/// over the volume; of a cone beam all. Of several ranks, the first one does. `reconstruct` does so by
/// itself. Returns what it took, of the ranks that did it. @throws as `reconstruct`
Searched look_ahead(io::ScanReader& reader, Plan& plan, const Options& options = {});

/// Makes a volume from a file, in chunks of slices. Reading, computing by the workers of the plan (which
/// begins with preprocessing), and writing go on at the same time. A cone beam is held whole; a method goes
/// through its slices slab by slab if it can, and else takes all of them. Chunks that the writer has already
/// (`done`) are left out, see `chunks_due`. Several ranks take chunks from one queue; their plans have been
/// made alike (`share_chunks`). The caller finishes the writer. @throws Error, and what
/// `progress` throws
Outcome reconstruct(io::ScanReader& reader, const Plan& asked, io::VolumeWriter& writer,
                    const Options& options = {});

}  // namespace tandem::pipeline
