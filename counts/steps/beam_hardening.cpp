#include <cmath>
#include <vector>

#include "../../core/error.hpp"
#include "hardening_fit.hpp"
#include "step.hpp"

namespace tandem::pipeline::step {

namespace {

/// p = c_1 q + c_2 q^2 + ..., where q is what was measured. There is no c_0: air stays air.
class Polynomial {
 public:
  explicit Polynomial(std::vector<double> coefficients) : coefficients_(std::move(coefficients)) {
    constexpr int steps_of_one = 100;
    int step = 0;
    while (step < highest * steps_of_one && slope(static_cast<double>(step) / steps_of_one) > 0) ++step;
    rises_to_ = static_cast<double>(step) / steps_of_one;
  }
  static constexpr double highest = 100;  ///< no measured line integral comes near it
  double rises_to() const { return rises_to_; }
  const std::vector<double>& coefficients() const { return coefficients_; }

  double operator()(double q) const {
    double sum = 0;
    for (auto c = coefficients_.rbegin(); c != coefficients_.rend(); ++c) sum = (sum + *c) * q;
    return sum;
  }

 private:
  double slope(double q) const {
    double sum = 0;
    for (std::size_t k = coefficients_.size(); k > 0; --k)
      sum = sum * q + static_cast<double>(k) * coefficients_[k - 1];
    return sum;
  }
  std::vector<double> coefficients_;
  double rises_to_ = 0;
};

/// The coefficients that follow from a file.
void fit(StepValues& values) {
  const auto file = [&](const char* option) { return value_of<std::string>(values, option); };
  const auto keep = [&](std::vector<double> fitted) {
    values.insert_or_assign("--beam-hardening", std::move(fitted));
  };
  if (const auto wedge = file("--beam-hardening-wedge"))
    keep(fitted_to_wedge(io::read_pairs(*wedge, "a length and a line integral"), *wedge));
  if (const auto spectrum = file("--beam-hardening-spectrum"))
    keep(fitted_to_water(io::read_pairs(*spectrum, "an energy in keV and its share of the beam"), *spectrum));
}

std::string hardening_conflict(const StepValues& values) {
  int given = 0;
  for (const char* option : {"--beam-hardening", "--beam-hardening-wedge", "--beam-hardening-spectrum"})
    given += static_cast<int>(values.contains(option));
  return given < 2
             ? ""
             : "--beam-hardening, --beam-hardening-wedge and --beam-hardening-spectrum do not go together; "
               "give one of them";
}

std::string hardening_hindrance(const Preprocessing& how) {
  return how.keeps_transmissions
             ? "--beam-hardening changes line integrals, and this method takes transmissions; leave one out"
             : "";
}

/// Dead cells have no line integral yet.
Index straighten(ViewRow& row, const Polynomial& polynomial) {
  for (std::size_t b = 0; b < row.y.size(); ++b) {
    float& y = row.y[b];
    require<GeometryError>(row.span()[b] == 0 || static_cast<double>(y) <= polynomial.rises_to(),
                           "--beam-hardening: a line integral is ", y, ", and the polynomial falls from ",
                           polynomial.rises_to(),
                           " on; give coefficients with which it rises over all of them");
    y = static_cast<float>(polynomial(static_cast<double>(y)));
  }
  return 0;
}

/// Where it falls there is an error, which the CPU describes.
std::optional<Index> straighten_on_gpu(GpuData& data, const Polynomial& polynomial) {
  const Index above =
      kernels::counts(data.stream.device())
          ->polynomial(data.how, polynomial.coefficients(), polynomial.rises_to(), data.y, data.stream);
  if (above > 0) return {};
  return 0;
}

std::optional<Polynomial> asked(const Preprocessing& how) {
  const auto coefficients = value_of<std::vector<double>>(how.values, "--beam-hardening");
  return coefficients ? std::optional<Polynomial>(*coefficients) : std::nullopt;
}

}  // namespace

Step beam_hardening() {
  return {.name = "beam-hardening",
          .help = "line integrals of a polychromatic beam become those of one energy, by a polynomial",
          .options =
              {{"--beam-hardening",
                "coefficients C1,C2,... of the polynomial C1 q + C2 q^2 + ... of a measured line "
                "integral q",
                Numbers{}},
               {"--beam-hardening-wedge",
                "fit it to a wedge of the sample's material: a length and the line integral that was "
                "measured over it, per line",
                FileName{}},
               {"--beam-hardening-spectrum",
                "fit it to water in this beam: an energy in keV and its share of what the detector sees, per "
                "line",
                FileName{}}},
          .makes_new_noise = true,
          .on_gpu = [](const Preprocessing& how) -> GpuWork {
            const auto polynomial = asked(how);
            if (!polynomial) return {};
            return [polynomial = *polynomial](GpuData& data) { return straighten_on_gpu(data, polynomial); };
          },
          .on_row = [](const Preprocessing& how) -> RowWork {
            const auto polynomial = asked(how);
            if (!polynomial) return {};
            require<GeometryError>(
                !how.noise,
                "--beam-hardening does not go with --stop discrepancy, whose noise is that "
                "of line integrals as they were measured; give --iterations K");
            return [polynomial = *polynomial](ViewRow& row) { return straighten(row, polynomial); };
          },
          .complete = fit,
          .conflict = hardening_conflict,
          .hindrance = hardening_hindrance};
}

}  // namespace tandem::pipeline::step
