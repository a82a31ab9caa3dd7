#pragma once

#include <Eigen/Dense>

#include "../counts/hardening_polynomial.hpp"

namespace tandem::calibration {

/// The d1 >= 0 and d2 >= 0 with the least sum of the squares of a + d1 u + d2 v.
pipeline::DenserMaterial least_squares_from_zero(const Eigen::VectorXd& a, const Eigen::VectorXd& u,
                                                 const Eigen::VectorXd& v);

}  // namespace tandem::calibration
