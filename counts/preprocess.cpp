#include "preprocess.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../core/similar.hpp"
#include "../core/spelled.hpp"
#include "pixels.hpp"
#include "rows.hpp"
#include "steps/chain.hpp"
#include "weights.hpp"

namespace tandem::pipeline {

namespace {

/// One step after the other.
template <class Work, class Data>
void work_on(Data& data, const StepsOn<Work>& group, Tallies& tallies) {
  for (const auto& [place, work] : group) tallies[place].replaced += work(data);
}

/// Adds the sum of the next `factor` values to each of the sums.
void add_together(const float* values, Index factor, std::span<float> sums) {
  if (factor == 2)  // in registers
    for (float& sum : sums) sum += values[0] + values[1], values += 2;
  else
    for (float& sum : sums) sum += std::accumulate(values, values + factor, 0.0f), values += factor;
}

/// Makes the row's means over 2^level x 2^level cells of a frame, or over 1 x 2^level cells if there is one
/// row, after the steps before binning. `from`: the first of the file's rows, which lie `step` pixels apart;
/// `scratch`: as long as one of them.
template <class Pixel>
void bin(const Pixel* from, Index step, std::span<float> scratch, Binning cell, ViewRow& row,
         const StepsOn<RowWork>& steps, Tallies& tallies) {
  const std::span<float> binned = row.y;
  const Index bins = binned.size(), factor = cell.bins;
  float *out = binned.data(), *line = factor == 1 ? out : scratch.data();
  row.y = {line, scratch.size()};
  if (factor > 1) std::fill_n(out, bins, 0.0f);
  for (Index r = 0; r < cell.rows; ++r) {
    std::copy_n(from + r * step, scratch.size(), line);
    work_on(row, steps, tallies);
    if (factor > 1) add_together(line, factor, binned);
  }
  const float share = 1.0f / (cell.rows * factor);
  if (factor > 1)
    for (Index b = 0; b < bins; ++b) out[b] *= share;
  row.y = binned;
}

void require_finite(const ViewRow& row, Index view) {
  require<FileError>(std::all_of(row.y.begin(), row.y.end(), [](float y) { return std::isfinite(y); }),
                     "projections: view ", view, ", row ", row.reference.file_row(row.row),
                     ": a line integral is not finite; its flat is almost equal to its dark, or its counts "
                     "are beyond 3e38");
}

/// The largest number of a type of counts; infinite for floats.
template <class Pixel>
constexpr float most_of = std::is_integral_v<Pixel> ? std::numeric_limits<Pixel>::max()
                                                    : std::numeric_limits<float>::infinity();

/// Takes the data of a chunk through all steps.
class Preprocessor {
 public:
  /// `y`, `variance`: (view, row, bin), all rows of the reference
  Preprocessor(const io::FramesView& counts, const Reference& reference, const Preprocessing& how,
               Image<float> y, std::optional<Image<float>> variance, std::span<const Range> counted)
      : counts_(counts),
        reference_(reference),
        chain_(chain_of(how)),
        y_(y),
        cell_(counts.shape[1], how.binning, how.rows_together),
        rows_({reference, chain_.steps, counts.first, y, variance, counted}) {
    counts_.shape[2] = cell_.used(counts.shape[2]);
  }

  void work_on_all() {
    with_pixels(counts_, [&](const auto* all) {
      parallel_for(y_.n0, [&](Index view) { begin(view, all + view * counts_.frame_step); });
    });
    for (std::size_t g = first_is_of_rows() ? 1 : 0; g < chain_.after_binning.size(); ++g)
      std::visit([&](const auto& group) { work_on_group(group, rows_needed_by(g)); },
                 chain_.after_binning[g]);
  }

  const Rows& rows() const { return rows_; }

 private:
  /// Margins are needed until the last step on projections has passed.
  Range rows_needed_by(std::size_t group) const {
    const bool passed =
        std::none_of(chain_.after_binning.begin() + group, chain_.after_binning.end(),
                     [](const Group& some) { return std::holds_alternative<StepsOn<ProjectionWork>>(some); });
    return passed ? reference_.kept_rows() : Range{0, y_.n1};
  }

  bool first_is_of_rows() const {
    return !chain_.after_binning.empty() &&
           std::holds_alternative<StepsOn<RowWork>>(chain_.after_binning.front());
  }

  /// All rows of one view, from its frame: each goes through the steps on rows while it is in the cache.
  template <class Pixel>
  void begin(Index view, const Pixel* frame) {
    static const StepsOn<RowWork> none;
    const std::vector<Group>& before = chain_.before_binning;
    const auto* rows_alone = before.empty()       ? &none
                             : before.size() == 1 ? std::get_if<StepsOn<RowWork>>(&before.front())
                                                  : nullptr;
    if (rows_alone) return begin(view, frame, counts_.row_step, *rows_alone, most_of<Pixel>);
    const std::vector<float> stepped = stepped_frame(view, frame);
    begin(view, stepped.data(), counts_.shape[2], none, most_of<Pixel>);
  }

  template <class Pixel>
  void begin(Index view, const Pixel* frame, Index row_step, const StepsOn<RowWork>& before, float most) {
    std::vector<float> scratch(counts_.shape[2]);
    rows_.for_each(view, rows_needed_by(0), most, [&](ViewRow& row, Tallies& tallies) {
      bin(frame + row.row * cell_.rows * row_step, row_step, scratch, cell_, row, before, tallies);
      if (first_is_of_rows())
        work_on_row(view, row, std::get<StepsOn<RowWork>>(chain_.after_binning.front()), tallies);
    });
  }

  /// A frame after the steps before binning, as numbers.
  template <class Pixel>
  std::vector<float> stepped_frame(Index view, const Pixel* from) {
    const Index rows = y_.n1 * cell_.rows, bins = counts_.shape[2];
    std::vector<float> frame(rows * bins);
    for (Index r = 0; r < rows; ++r) std::copy_n(from + r * counts_.row_step, bins, &frame[r * bins]);
    const Image<float> y{frame.data(), 1, rows, bins, rows * bins, bins};
    const Range kept{rows_.kept().first * cell_.rows, rows_.kept().last * cell_.rows};
    for (const Group& group : chain_.before_binning) {
      if (const auto* whole = std::get_if<StepsOn<ProjectionWork>>(&group)) {
        work_on_projection(view, y, kept, *whole);
        continue;
      }
      rows_.for_each(view, {0, y_.n1}, most_of<Pixel>, [&](ViewRow& row, Tallies& tallies) {
        for (Index r = row.row * cell_.rows; r < (row.row + 1) * cell_.rows; ++r) {
          row.y = std::span(&y(0, r, 0), bins);
          work_on(row, std::get<StepsOn<RowWork>>(group), tallies);
        }
      });
    }
    return frame;
  }

  void work_on_row(Index view, ViewRow& row, const StepsOn<RowWork>& group, Tallies& tallies) const {
    if (row.met.lost) return;
    work_on(row, group, tallies);
    require_finite(row, view);
  }

  void work_on_projection(Index view, Image<float> y, Range kept, const StepsOn<ProjectionWork>& group) {
    const std::span met(&rows_.met[rows_.place_of(view, 0)], y_.n1);
    Projection projection{reference_, view, y, met, kept, counts_};
    Tallies tallies = rows_.none();
    work_on(projection, group, tallies);
    rows_.add(tallies);
  }

  void work_on_group(const StepsOn<RowWork>& group, Range needed) {
    parallel_for(y_.n0, [&](Index view) {
      rows_.for_each(view, needed, most_of<float>,
                     [&](ViewRow& row, Tallies& tallies) { work_on_row(view, row, group, tallies); });
    });
  }

  void work_on_group(const StepsOn<SinogramWork>& group, Range needed) {
    parallel_for(needed.size(), [&](Index k) {
      const Index row = needed.first + k;
      Tallies tallies = rows_.none();
      for (const auto& [place, work] : group) {
        Sinogram sinogram{reference_, row, y_, rows_.met, tallies[place].notes};
        tallies[place].replaced += work(sinogram);
      }
      if (rows_.is_kept(row)) rows_.add(tallies);
    });
  }

  void work_on_group(const StepsOn<ProjectionWork>& group, Range) {
    parallel_for(y_.n0, [&](Index view) {
      Image<float> own = y_;
      own.data = &y_(view, 0, 0), own.n0 = 1;
      work_on_projection(view, own, rows_.kept(), group);
    });
  }

  io::FramesView counts_;  ///< the bins that are used
  const Reference& reference_;
  Chain chain_;
  Image<float> y_;
  Binning cell_;
  Rows rows_;
};

/// The rows between the margins of the reference.
Array within_margins(Array wide, const Reference& reference, const Space& space) {
  if (wide.space().shape() == space.shape()) return wide;
  Array within(space);
  const Image<const float> all = image(ConstVectorView(wide));
  copy({&all(0, reference.margin_above, 0), all.n0, space.shape()[1], all.n2, all.s0, all.s1},
       image(VectorView(within)), default_stream(Device::cpu()));
  return within;
}

}  // namespace

std::vector<Range> columns_within(const ColumnsOption& option, const std::vector<Range>& columns, Range bins,
                                  int binning) {
  const Index factor = Index{1} << binning;
  std::vector<Range> within;
  for (const Range& some : columns) {
    within.push_back({(some.first - bins.first + factor - 1) / factor, (some.last - bins.first) / factor});
    require<GeometryError>(bins.first <= some.first && some.last <= bins.last && within.back().size() > 0,
                           option.name, some.first, ":", some.last, ": empty, or outside the columns ",
                           bins.first, ":", bins.last, " that are read; give ", option.remedy);
  }
  for (std::size_t k = 1; k < within.size(); ++k)
    require<GeometryError>(within[k - 1].last <= within[k].first, option.name, columns[k - 1].first, ":",
                           columns[k - 1].last, ",", columns[k].first, ":", columns[k].last,
                           ": overlap, or the second range is not behind the first one");
  return within;
}

std::vector<double> row_shifts_of(const io::ScanInfo& info, Index rows, int binning) {
  std::vector<double> shifts = info.row_shifts;
  for (double& shift : shifts) shift /= rows_together(rows, binning);
  return shifts;
}

namespace {

/// All options of steps, with those behind their values.
std::vector<const StepOption*> options_of(std::span<const Step> steps) {
  std::vector<const StepOption*> all;
  for (const Step& step : steps)
    for (const StepOption& option : step.options) {
      all.push_back(&option);
      for (const StepOption& behind : option.behind) all.push_back(&behind);
    }
  return all;
}

/// Requires that a value has the kind that its option takes. A whole number is a number, if a double has it.
void require_kind(const StepOption& option, const StepValue& value) {
  constexpr std::array words{
      "true or false",    "ranges of columns", "a number", "a whole number", "a word or the name of a file",
      "a list of numbers"};
  const StepValue due =
      std::visit([](const auto& kind) -> StepValue { return typename std::decay_t<decltype(kind)>::Value{}; },
                 option.takes);
  const Index* whole = std::get_if<Index>(&value);
  const bool is_exact = whole && std::holds_alternative<double>(due) && std::abs(*whole) <= Index{1} << 53;
  const auto* numbers = std::get_if<NumbersOr>(&option.takes);
  const std::string* word = std::get_if<std::string>(&value);
  const bool is_word = numbers && word && std::ranges::find(numbers->words, *word) != numbers->words.end();
  require<GeometryError>(value.index() == due.index() || is_exact || is_word, option.name, ": takes ",
                         words[due.index()], ", and ", words[value.index()], " is given");
}

/// Requires that some step has each of these options.
void require_known(const StepValues& values, std::span<const Step> steps) {
  const std::vector<const StepOption*> options = options_of(steps);
  for (const auto& [name, value] : values) {
    const auto at = std::ranges::find(options, name, &StepOption::name);
    if (at != options.end()) {
      require_kind(**at, value);
      continue;
    }
    std::vector<std::string> names;
    for (const StepOption* option : options) names.emplace_back(option->name);
    throw GeometryError("steps: no step has an option '" + name + "'" + did_you_mean(name, names));
  }
}

/// Sets the bins behind beam stops. @throws GeometryError if others are not there
void take_shadows(Preprocessing& how, Range bins) {
  const std::vector<Range> columns = option::shadow_columns.of(how.values).value_or(std::vector<Range>{});
  const ColumnsOption option{spelled("scatter") + " shadow:columns=",
                             "columns that a beam stop covers in every view"};
  how.shadow_bins = columns_within(option, columns, bins, how.binning);
  if (columns.empty()) return;
  Index others = how.bins;
  for (const Range& some : columns) {
    const Range covered{(some.first - bins.first) >> how.binning,
                        std::min(ceil_div(some.last - bins.first, Index{1} << how.binning), how.bins)};
    how.covered_bins.push_back(covered), others -= covered.size();
  }
  require<GeometryError>(others > 0, option.name, columns.front().first, ":", columns.back().last,
                         ": no other column is read; give ", option.remedy);
}

}  // namespace

Preprocessing preprocessing_of(const StepValues& values, Range bins, int binning, double gain, bool noise) {
  Preprocessing how{.binning = binning,
                    .minus_log = option::minus_log.of(values).value_or(true),
                    .air_bins = columns_within({spelled("air-columns") + " ", "columns that see no sample"},
                                               option::air_columns.of(values).value_or(std::vector<Range>{}),
                                               bins, binning),
                    .gain = gain,
                    .noise = noise,
                    .values = values,
                    .bins = bins.size() >> binning};
  require_known(values, how.table());
  take_shadows(how, bins);
  for (const Step& step : how.table()) {
    const std::string fault = step.conflict ? step.conflict(values) : "";
    require<GeometryError>(fault.empty(), fault);
    if (step.complete) step.complete(how.values);
    require<GeometryError>(
        how.minus_log || !step.needs_transmission || !step.asked_for(how), step.name,
        ": needs transmissions, and " + spelled("minus-log") + " false says that there are none");
  }
  return how;
}

Index Findings::replaced_by(std::string_view step) const {
  for (const OfStep& done : steps)
    if (done.name == step) return done.replaced;
  return 0;
}

void Findings::add(const Findings& other) {
  if (steps.empty())
    steps = other.steps;
  else
    pipeline::add(steps, other.steps);
  reference_replaced += other.reference_replaced;
  reference_not_finite += other.reference_not_finite;
  dead += other.dead;
  floor.add(other.floor);
}

bool noise_is_scaled(const Preprocessing& how) {
  return how.noise && std::ranges::any_of(how.table(), [&](const Step& step) {
           return step.scales_noise && step.asked_for(how);
         });
}

LineIntegrals preprocess(const io::FramesView& counts, const Reference& reference, const Preprocessing& how,
                         const Space& space, Findings& findings, std::span<const Range> counted) {
  const Index views = counts.shape[0], margin = reference.margin_above + reference.margin_below;
  const Index rows = reference.rows - margin;
  require<SpaceError>(space.shape() == Shape{views, rows, reference.bins}, "preprocess: ", views, " x ", rows,
                      " x ", reference.bins, " data for a space of ", space.size(), " elements");
  const Space wide = margin == 0 ? space : Space({views, reference.rows, reference.bins}, Blocks::rows);
  Array y(wide);
  std::optional<Array> variances;
  std::optional<Image<float>> variance;
  if (how.weights || noise_is_scaled(how)) {
    variances.emplace(wide);
    std::fill_n(variances->data(), variances->size(), INFINITY);
    variance = image(VectorView(*variances));
  }
  Preprocessor preprocessor(counts, reference, how, image(VectorView(y)), variance, counted);
  preprocessor.work_on_all();
  findings.add(preprocessor.rows().findings());
  LineIntegrals lines{within_margins(std::move(y), reference, space), preprocessor.rows().noise_norms()};
  if (how.weights) lines.weights = within_margins(std::move(*variances), reference, space);
  if (how.weights && !how.keeps_variances) lines.weights = weights_of(std::move(*lines.weights));
  return lines;
}

bool steps_heed_axis(const Preprocessing& how) {
  return how.pose.has_value() || std::ranges::any_of(how.table(), [&](const Step& step) {
           return step.heeds_axis && step.heeds_axis(how);
         });
}

}  // namespace tandem::pipeline
