#include "follow.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../plan/view_samples.hpp"
#include "../plan/warn.hpp"
#include "../stations/prepare.hpp"
#include "../watch/stopwatch.hpp"
#include "view_sum.hpp"

namespace tandem::pipeline {

namespace {

constexpr double poll_seconds = 0.02, gather_seconds = 0.25;  // so long a few views wait for others
constexpr double told_after = 5;                              // seconds without a view

/// Looks when views come. Views count from the first one of the plan.
class Arrivals {
 public:
  Arrivals(io::GrowingScan& scan, Range views, const Following& following)
      : scan_(scan), views_(views), following_(following) {}

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
    const double tell_at = std::min(told_after, 0.5 * following_.patience);
    if (silence > tell_at && !told_ && following_.say) {
      std::ostringstream text;
      text.precision(3);
      const std::string why = scan_.next();
      text << "no new view for " << silence << " s, " << seen << " of " << views_.size() << " are there"
           << (why.empty() ? "" : " (" + why + ")") << "; waits until it is " << following_.patience
           << " s (" + spelled("follow") + "=seconds=S), then goes on with these";
      following_.say(text.str());
      told_ = true;
    }
    return silence > following_.patience;
  }

  Index seen = 0;
  double last = seconds_now(), waits_since = 0;  ///< when the last view came; since when one waits

 private:
  io::GrowingScan& scan_;
  Range views_;
  const Following& following_;
  bool told_ = false;
};

/// Brings views into the sum as they come. Views count from the first one of the plan.
class Follower {
 public:
  Follower(Work& work, ReadStation& read, PrepareStation& prepare)
      : scan_(*work.beside.following.scan),
        plan_(work.plan),
        work_(work),
        read_(read),
        prepare_(prepare),
        asked_(request_for(plan_, {0, plan_.job.grid.size[2]})),
        sum_(plan_),
        live_(work.beside.show),
        samples_(plan_.job.views.size(), {0, detector_of(plan_.job.scan).rows}),
        arrivals_(scan_, plan_.job.views, work.beside.following) {
    followed_.of = plan_.job.views.size();
    tell("follow", 0);
    asked_.views = {};
    asked_.reference = read_.get(asked_).reference;
    asked_.memory = std::make_shared<io::Frames>();
    asked_.memory->bytes.reserve(block_views(plan_.flow) * asked_.rows.rows.size() * plan_.job.bins.size() *
                                 bytes_of(scan_.info().type));
  }

  /// Adds views until all are there, or until no view has come for too long.
  void follow_views() {
    while (added_ < followed_.of) {
      const bool over = arrivals_.are_over();
      const Index there = look(over);
      if (is_due(there) || (over && there > added_))
        add({added_, std::min(there, added_ + block_views(plan_.flow))});
      else if (over)
        break;
      else
        std::this_thread::sleep_for(std::chrono::duration<double>(poll_seconds));
      tell("follow", added_);
    }
    followed_.views = added_;
    followed_.last_view = arrivals_.last;
    require<FileError>(added_ > 0, spelled("follow") + ": none of the views ", plan_.job.views.first, ":",
                       plan_.job.views.last, " came within ", work_.beside.following.patience, " s");
  }

  /// Gives each view its weight among the views that came, by the angles that are known now.
  void settle() {
    sum_.use(crop(scan_now(), {0, added_}));
    for (const Range views : sum_.unsettled())
      for (Index first = views.first; first < views.last; first += block_views(plan_.flow)) {
        const Range some{first, std::min(views.last, first + block_views(plan_.flow))};
        sum_.add(some, line_integrals(some, true));
        tell("weigh again", followed_.again += some.size());
      }
  }

  /// The volume, with what there is to say about the views.
  Array finish() {
    if (const std::optional<Array> y = samples_.all())
      prepare_.look_at(*y, {0, detector_of(plan_.job.scan).rows});
    std::vector<std::string>& warnings = work_.outcome.warnings;
    work_.outcome.followed = followed_;
    if (const Index more = scan_.unplanned(); more > 0)
      warn(warnings, "the scan has ", more, " views more than were planned, which are left out");
    const std::string why = scan_.next();
    if (followed_.views < followed_.of)
      warn(warnings, "the scan stopped after ", followed_.views, " of ", followed_.of,
           " planned views; the volume is made of these", why.empty() ? "" : " (", why,
           why.empty() ? "" : ")");
    return sum_.take();
  }

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
    return waiting > 0 && (waiting >= block_views(plan_.flow) || there == followed_.of ||
                           seconds_now() - arrivals_.waits_since > gather_seconds);
  }

  void add(Range views) {
    Array y = line_integrals(views, false);
    samples_.add(views, y);
    const auto [nx, ny, nz] = plan_.job.grid.size;
    const double updates = 1.0 * nx * ny * nz * views.size();
    {
      const Stopwatch watch("back-project", work_.outcome.seconds.backproject, work_.watch.board(),
                            {.slices = asked_.of_slices, .updates = updates});
      sum_.add(views, std::move(y));
    }
    work_.outcome.updates += updates;
    added_ = views.last;
    arrivals_.waits_since = seconds_now();
    if (live_.due()) live_.show(sum_.planes());
  }

  Array line_integrals(Range views, bool again) {
    asked_.views = views, asked_.again = again;
    asked_.of_slices = again ? 0 : 1.0 * plan_.job.grid.size[2] * views.size() / followed_.of;
    const Range rows{0, detector_of(plan_.job.scan).rows};
    return prepare_.make(read_.get(asked_), crop(sum_.scan(), views), rows, Device::cpu(), work_).y;
  }

  void tell(const char* what, Index views) {
    const bool waits = added_ == arrivals_.seen && added_ < followed_.of;
    work_.watch.instead({what, 1.0 * views, 1.0 * followed_.of, waits ? "waiting" : ""});
  }

  io::GrowingScan& scan_;
  const Plan& plan_;
  Work& work_;
  ReadStation& read_;
  PrepareStation& prepare_;
  Request asked_;
  ViewSum sum_;
  LiveView live_;
  Followed followed_;
  ViewSamples samples_;
  Arrivals arrivals_;
  Index added_ = 0;
};

}  // namespace

Maker begin_following(Work& work, ReadStation& read, PrepareStation& prepare) {
  return [&](Chunk&, const Stream&) {
    Follower follower(work, read, prepare);
    follower.follow_views();
    follower.settle();
    return follower.finish();
  };
}

}  // namespace tandem::pipeline
