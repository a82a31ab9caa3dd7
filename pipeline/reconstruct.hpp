#pragma once

#include "../io/volumes/volume_file.hpp"
#include "plan/plan.hpp"
#include "watch/options.hpp"
#include "watch/outcome.hpp"

namespace tandem::pipeline {

/// Completes the options of the plan, if its method has to look at some slices for that. It looks at up to
/// five slices, spread over the volume, or at all slices of a cone beam. If there are several ranks, the
/// first one does this. `reconstruct` calls it by itself. Returns what the search cost on the ranks that did
/// it. @throws as `reconstruct`
Searched look_ahead(io::ScanReader& reader, Plan& plan, const Options& options = {});

/// Makes a volume from a file, in chunks of slices. Reading, computing and writing go on at the same time;
/// the workers of the plan compute, and begin with preprocessing. A method goes through the slices of a cone
/// beam slab by slab if it can, and else takes all of them. Chunks that the writer has already (`done`) are
/// left out, see `chunks_due`. Several ranks take chunks from one queue; their plans have been made alike
/// (`share_chunks`). The caller finishes the writer. @throws Error, and what `progress` throws
Outcome reconstruct(io::ScanReader& reader, const Plan& asked, io::VolumeWriter& writer,
                    const Options& options = {});

}  // namespace tandem::pipeline
