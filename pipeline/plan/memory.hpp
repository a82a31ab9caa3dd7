#pragma once

#include "plan.hpp"

namespace tandem::pipeline {

/// The most memory that chunks of this many slices take, bytes: on the host, beside what the program itself
/// holds, and on a GPU. Both grow with the slices.
double host_bytes(const Plan& plan, const io::ScanInfo& info, Index slices);
double device_bytes(const Plan& plan, Index slices);

/// See Plan::bytes_a_piece. Counts of large chunks go up to a GPU while they are read. They do not if they
/// are packed, since a piece of the file may then have to be unpacked several times, nor if the CPU may have
/// to prepare them.
Index bytes_a_piece(const Plan& plan, const io::ScanInfo& info, Index slices);

/// What the darks and flats of some rows take, bytes: while they are read, beside what they become, and then.
/// `cells`: of a frame of the file, as read.
struct ReferenceBytes {
  double reading, held;
};
ReferenceBytes reference_bytes(const Plan& plan, const io::ScanInfo& info, double cells);

/// Bytes that this process holds when nothing is read yet, and what libraries take later on.
double held_with_libraries(const Plan& plan);

/// Bytes that this process may hold in all, by the recipe or by what the machine has to spare.
double host_budget(const Recipe& recipe);
/// Bytes that every one of the GPUs can give; without a GPU, the host.
double device_budget(const Plan& plan, const Recipe& recipe);

}  // namespace tandem::pipeline
