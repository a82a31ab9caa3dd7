#include <vector>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../shadows.hpp"
#include "step.hpp"

namespace tandem::pipeline {

const Option<Columns> option::shadow_columns{
    "shadow:columns",
    "columns that a beam stop or a collimator covers in every view, without the blurred edge of their shadow",
    Columns{.most = 16}};
const Option<OneOf> scatter_option{
    "scatter",
    "scatter is taken from the counts. shadow: what each row of a view has behind a beam stop, "
    "shadow:columns=A:B; between several it is interpolated",
    OneOf{{"shadow"}},
    {option::shadow_columns}};

namespace {

/// Requires that less lies behind the stop than beside it, where there is a beam at all.
void require_shadow(const ViewRow& row, std::span<const float> net, std::span<const Shadow> shadows,
                    std::span<const Range> covered) {
  constexpr double no_beam = 0.01;  // a share of the flat
  const double beside = mean_beside(net, covered);
  for (const Shadow& shadow : shadows)
    require<FileError>(shadow.mean < beside || beside < no_beam * mean_beside(row.span(), covered),
                       spelled("scatter"), " shadow: in row ", row.reference.file_row(row.row),
                       ", around column ", shadow.middle,
                       " of those that are read, the mean of the counts is ", shadow.mean,
                       ", not below that of the other columns, ", beside,
                       "; give columns that a beam stop covers in every view");
}

/// @returns in how many cells the scatter would be more than nine tenths
Index subtract(ViewRow& row, std::span<const Range> bins, std::span<const Range> covered) {
  const std::span<const float> dark = row.dark(), span = row.span();
  std::vector<float> net(row.y.begin(), row.y.end());
  for (std::size_t b = 0; b < net.size(); ++b) net[b] -= dark[b];
  const std::vector<Shadow> shadows = shadows_in(net, bins);
  require<FileError>(!shadows.empty(), spelled("scatter"), " shadow: row ", row.reference.file_row(row.row),
                     " has no finite cell in these columns; give others, or leave the row out by ",
                     spelled("detector-rows"));
  require_shadow(row, net, shadows, covered);
  Index limited = 0;
  for (Index b = 0; b < std::ssize(net); ++b) {
    if (span[b] == 0) continue;
    const float scatter = scatter_at(shadows, b), taken = taken_of(scatter, net[b]);
    limited += taken < scatter;
    row.y[b] -= taken;
    // The noise of the line integral is that of all counts, whose logarithm is taken of a part: minus-log
    // takes this factor from here.
    if (!row.variance.empty()) row.variance[b] = net[b] > 0 ? net[b] / (net[b] - taken) : 1;
  }
  return limited;
}

std::string scatter_conflict(const StepValues& values) {
  return scatter_option.is_given(values) == option::shadow_columns.is_given(values)
             ? ""
             : spelled("scatter") +
                   ": a shadow and its columns go together; give shadow:columns=A:B, columns that a beam "
                   "stop "
                   "covers in every view";
}

}  // namespace

Step scatter_step() {
  return {.name = "scatter",
          .help = "the counts behind a beam stop are scatter, which is taken from the row",
          .options = {scatter_option},
          .of_cells = true,
          .scales_noise = true,
          .needs_transmission = true,
          .on_row = [](const Preprocessing& how) -> RowWork {
            if (how.shadow_bins.empty()) return {};
            return [bins = how.shadow_bins, covered = how.covered_bins](ViewRow& row) {
              return subtract(row, bins, covered);
            };
          },
          .conflict = scatter_conflict};
}

}  // namespace tandem::pipeline
