#include "axis_advice.hpp"

#include <cmath>
#include <sstream>

#include "../core/units.hpp"
#include "../geometry/view_angles.hpp"

namespace tandem::pipeline {

std::string axis_advice(std::span<const double> angles, double turn, bool others) {
  constexpr double few = in_radians(170);
  const double filled = turn - widest_gap(angles, turn);
  std::ostringstream text;
  text.precision(3);
  if (filled < few)
    text << "the views fill " << in_degrees(filled)
         << " degrees, in which hardly a ray is seen from both sides; ";
  if (others && filled >= few) text << "choose other rows, or more of them, or ";
  text << "give the axis by --rotation-axis, or look at slices about some (tandem center --try)";
  return text.str();
}

}  // namespace tandem::pipeline
