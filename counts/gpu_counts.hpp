#pragma once

#include <functional>
#include <optional>

#include "../core/array.hpp"
#include "preprocess.hpp"

namespace tandem::pipeline {

/// Raw frames (frame, row, bin) in the memory of a GPU, in C order.
struct GpuFrames {
  PixelType type;
  Shape shape;
  Index first;  ///< the number of the first frame, within its kind
  Array memory;
};

/// Whether a GPU turns these counts into line integrals: it does all steps that are asked for, and the rows
/// of the frames follow each other.
bool gpu_prepares(const io::FramesView& counts, const Preprocessing& how);

/// work(k) for all members of a team at the same time, each with its stream as the default one of its thread.
void on_members(Device team, const std::function<void(int)>& work);

/// Room for `count` frames like these, which are the first of them.
GpuFrames room_on_gpu(const io::FramesView& first, Index count, Stream& stream);
/// Copies frames to their place there, and waits. @pre rows follow each other
void move_to(GpuFrames& there, const io::FramesView& frames, Stream& stream);
/// Both, for all frames.
GpuFrames on_gpu(const io::FramesView& frames, Device gpu);

/// The result of `preprocess`, on the GPU where the counts and `space` are. Empty if it takes the CPU: a row
/// of the file has no finite pixel, or something is an error. @pre the GPU does all steps
std::optional<LineIntegrals> preprocess_on_gpu(const GpuFrames& counts, const Reference& reference,
                                               const Preprocessing& how, const Space& space,
                                               Findings& findings, std::span<const Range> counted = {});

}  // namespace tandem::pipeline
