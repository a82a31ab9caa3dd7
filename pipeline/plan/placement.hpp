#pragma once

#include "plan.hpp"

namespace tandem::pipeline {

/// The fewest slices of a chunk. Where rays cross slices, FDK makes them one by one, but most methods need
/// all at once; and one slice alone of several for one row would be a fan's.
Index fewest_slices(const Plan& plan);

/// Where all slices are one problem, its vectors lie on one device or on several; where these do not hold
/// them, on the host, and devices get tiles. @throws DeviceError if not even tiles fit
void choose_placement(Plan& plan, const Recipe& recipe);
/// What vectors on several ranks move at a time. @throws GeometryError for what ranks do not do together
void choose_portions(Plan& plan);

}  // namespace tandem::pipeline
