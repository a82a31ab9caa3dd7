#include "follow.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>
#include <utility>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../core/host_memory.hpp"
#include "../../core/parallel.hpp"
#include "../../core/spelled.hpp"
#include "../plan/chunks_due.hpp"
#include "../plan/margin_rows.hpp"
#include "../plan/view_samples.hpp"
#include "../plan/warn.hpp"
#include "../stations/compute.hpp"
#include "../stations/prepare.hpp"
#include "../stations/write.hpp"
#include "../watch/stopwatch.hpp"
#include "view_sum.hpp"

namespace tandem::pipeline {

namespace {

constexpr double poll_seconds = 0.02, gather_seconds = 0.25;  // so long a few views wait for others
constexpr double told_after = 5;                              // seconds without a view

/// Looks when views come. Views count from the first one of the plan.
class Arrivals {
 public:
  Arrivals(io::GrowingScan& scan, Range views, const Patience& patience)
      : scan_(scan), views_(views), patience_(patience) {}

  /// The number of views that are there, when `added` of them have been added.
  Index look(Index added) {
    const Index there = std::clamp<Index>(scan_.look() - views_.first, 0, views_.size());
    if (there > seen) {
      if (seen == added) waits_since = seconds_now();
      seen = there;
      last = seconds_now();
      told_ = false;
    }
    return there;
  }

  /// Whether no view has come for too long.
  bool are_over() {
    const double silence = seconds_now() - last;
    const double tell_at = std::min(told_after, 0.5 * patience_.seconds);
    if (silence > tell_at && !told_ && patience_.say) {
      std::ostringstream text;
      text.precision(3);
      const std::string why = scan_.next();
      text << "no new view for " << silence << " s, " << seen << " of " << views_.size() << " are there"
           << (why.empty() ? "" : " (" + why + ")") << "; waits until it is " << patience_.seconds
           << " s (" + spelled("follow") + "=seconds=S), then goes on with these";
      patience_.say(text.str());
      told_ = true;
    }
    return silence > patience_.seconds;
  }

  Index seen = 0;
  double last = seconds_now(), waits_since = 0;  ///< when the last view came; since when one waits

 private:
  io::GrowingScan& scan_;
  Range views_;
  const Patience& patience_;
  bool told_ = false;
};

/// Brings views into the sum as they come. Views count from the first one of the plan.
class Follower {
 public:
  Follower(io::GrowingScan& scan, const Plan& plan, const Options& options, const Patience& patience,
           Outcome& outcome)
      : scan_(scan),
        plan_(plan),
        options_(options),
        patience_(patience),
        outcome_(outcome),
        prepare_(scan.info(), plan),
        rows_(rows_read(plan, {0, plan.job.grid.size[2]})),
        reference_(read_reference(scan, rows_.rows, plan.job.bins, plan.job.preprocessing)),
        sum_(plan),
        live_(options.show),
        samples_(plan.job.views.size(), {0, detector_of(plan.job.scan).rows}),
        arrivals_(scan, plan.job.views, patience) {
    reference_.margin_above = rows_.above;
    reference_.margin_below = rows_.below;
    followed_.of = plan.job.views.size();
  }

  /// Adds views until all are there, or until no view has come for too long.
  void follow_views() {
    while (added_ < followed_.of) {
      const bool over = arrivals_.are_over();
      const Index there = look(over);
      if (is_due(there) || (over && there > added_))
        add({added_, std::min(there, added_ + plan_.flow.views_at_once)});
      else if (over)
        break;
      else
        std::this_thread::sleep_for(std::chrono::duration<double>(poll_seconds));
      tell("follow", added_);
    }
    followed_.views = added_;
    followed_.last_view = arrivals_.last;
    require<FileError>(added_ > 0, spelled("follow") + ": none of the views ", plan_.job.views.first, ":",
                       plan_.job.views.last, " came within ", patience_.seconds, " s");
  }

  /// Gives each view its weight among the views that came, by the angles that are known now.
  void settle() {
    sum_.use(crop(scan_now(), {0, added_}));
    for (const Range views : sum_.unsettled())
      for (Index first = views.first; first < views.last; first += plan_.flow.views_at_once) {
        const Range some{first, std::min(views.last, first + plan_.flow.views_at_once)};
        sum_.add(some, line_integrals(some, nullptr));
        tell("weigh again", followed_.again += some.size());
      }
  }

  void finish() {
    if (const std::optional<Array> y = samples_.all())
      prepare_.look_at(*y, {0, detector_of(plan_.job.scan).rows});
    prepare_.finish(outcome_);
    outcome_.followed = followed_;
    if (const Index more = scan_.unplanned(); more > 0)
      warn(outcome_.warnings, "the scan has ", more, " views more than were planned, which are left out");
    if (followed_.views == followed_.of) return;
    const std::string why = scan_.next();
    warn(outcome_.warnings, "the scan stopped after ", followed_.views, " of ", followed_.of,
         " planned views; the volume is made of these", why.empty() ? "" : " (", why, why.empty() ? "" : ")");
  }

  ViewSum& sum() { return sum_; }

 private:
  /// The scan of the plan, with the angles that are known now.
  Scan scan_now() const {
    Scan scan = plan_.job.scan;
    angles_of(scan) = crop(angles_of(scan_.info().scan), plan_.job.views);
    return scan;
  }

  /// The number of views that are there and can be added. If angles come with the views, the weight of the
  /// last view is not known before the scan is `over`.
  Index look(bool over) {
    const Index before = scan_.angles_known(), there = arrivals_.look(added_);
    if (scan_.angles_known() != before) sum_.use(scan_now());
    const bool open = scan_.angles_known() < scan_.planned() && there < followed_.of && !over;
    return std::max(added_, open ? there - 1 : there);
  }

  bool is_due(Index there) const {
    const Index waiting = there - added_;
    return waiting > 0 && (waiting >= plan_.flow.views_at_once || there == followed_.of ||
                           seconds_now() - arrivals_.waits_since > gather_seconds);
  }

  void add(Range views) {
    Findings found;
    Array y = line_integrals(views, &found);
    if (added_ > 0)
      found.dead = found.reference_not_finite = found.reference_replaced = 0;  // the same in each batch
    prepare_.add(found);
    samples_.add(views, y);
    {
      const Stopwatch watch("back-project", outcome_.seconds.backproject, options_.board);
      sum_.add(views, std::move(y));
    }
    outcome_.updates +=
        1.0 * plan_.job.grid.size[0] * plan_.job.grid.size[1] * plan_.job.grid.size[2] * views.size();
    added_ = views.last;
    arrivals_.waits_since = seconds_now();
    if (live_.due()) live_.show(sum_.planes());
  }

  Array line_integrals(Range views, Findings* found) {
    {
      const Stopwatch watch("read", outcome_.seconds.read, options_.board);
      scan_.read(io::FrameKind::projection,
                 {plan_.job.views.first + views.first, plan_.job.views.first + views.last}, rows_.rows,
                 plan_.job.bins, frames_);
    }
    const Stopwatch watch("preprocess", outcome_.seconds.preprocess, options_.board);
    const Scan some = crop(sum_.scan(), views);
    Findings unheeded;
    return preprocess(frames_, reference_, plan_.job.preprocessing, projection_space(some),
                      found ? *found : unheeded)
        .y;
  }

  void tell(const char* what, Index views) {
    if (!options_.progress) return;
    options_.progress({what, 1.0 * views, 1.0 * followed_.of,
                       added_ == arrivals_.seen && added_ < followed_.of ? "waiting" : ""});
  }

  io::GrowingScan& scan_;
  const Plan& plan_;
  const Options& options_;
  const Patience& patience_;
  Outcome& outcome_;
  PrepareStation prepare_;
  RowsRead rows_;
  Reference reference_;
  ViewSum sum_;
  LiveView live_;
  Followed followed_;
  io::Frames frames_;
  ViewSamples samples_;
  Arrivals arrivals_;
  Index added_ = 0;
};

/// Writes the volume. From a GPU it comes in slabs: one is written while the next one comes.
void write_all(const Plan& plan, ViewSum& sum, WriteStation& write, Outcome& outcome) {
  const Index all = plan.job.grid.size[2], step = plan.flow.home().is_cuda() ? slices_written_at_once : all;
  std::vector<Chunk> chunks(conveyor_places(1));
  const auto chunk = [&](const Item& item) -> Chunk& { return chunks[item.place]; };
  const KeepHostMemory kept;
  conveyor(
      ceil_div(all, step), 1,
      [&](const Item& item) {
        chunk(item).slices = {item.number * step, std::min(all, (item.number + 1) * step)};
      },
      [&](const Item& item) {
        const Stopwatch watch("transfer", outcome.seconds.transfer);
        const PinHostMemory pinned(plan.flow.home());
        chunk(item).own = sum.slices(chunk(item).slices);
        require_finite(plan.job, chunk(item).slices, *chunk(item).own);
        chunk(item).volume = chunk(item).own->data();
      },
      [&](const Item& item) { write(chunk(item)); });
}

}  // namespace

Outcome follow(io::GrowingScan& scan, const Plan& asked, io::VolumeWriter& writer, const Options& options,
               const Patience& patience) {
  Plan plan = asked;
  end_margins_at_bad_rows(scan, plan.job, {});  // views are still to come
  Outcome outcome;
  Watch watch(options.progress, plan.job.grid.size[2], 1, options.board);
  WriteStation write(
      writer, plan, watch, outcome,
      QualityWatch(plan.job.grid, truth_of(plan.job.place(), options.truth, options.any_external)),
      MiddleSlices(plan.job.grid, options.pictures, options.show));
  {
    const Stopwatch whole("follow", outcome.seconds.total);
    Follower follower(scan, plan, options, patience, outcome);
    follower.follow_views();
    follower.settle();
    write_all(plan, follower.sum(), write, outcome);
    follower.finish();
  }
  write.finish();
  return outcome;
}

}  // namespace tandem::pipeline
