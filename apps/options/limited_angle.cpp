// What helps where views look from a part of all directions.

#include "method_options.hpp"

namespace tandem::apps {

namespace {

/// Gives the options that --limited-angle stands for, unless they are typed, or have no meaning here.
void take_limited_angle(Table& c, ReconOptions& o) {
  if (!c.given("--limited-angle")) return;
  o.limited_angle_follows = false;
  pipeline::Recipe& r = o.recipe;
  r.support_if_it_fits = !c.given("--support") && !r.support.shell;
  r.direction_if_it_fits = !c.given("--tv-direction");
  if (o.compared.empty()) take_if_open(c, o, "--reconstruction-algorithm", "tv");
  take_if_open(c, o, "--tv-direction", "auto");
  take_if_open(c, o, "--support", "disc");
  if (r.support.is_disc && r.support.shell && !c.given("--bounds")) take_if_open(c, o, "--levels", "0:auto");
  if (!r.levels) take_if_open(c, o, "--nonnegative", "true");
}

}  // namespace

void add_limited_angle(Table& c, ReconOptions& o) {
  c.at_end([&c, &o] { take_limited_angle(c, o); });
  c.add_parsed(
       "--limited-angle", On::run,
       [&c, &o](const std::string&) {
         o.limited_angle_follows = true;
         if (!c.given("--reconstruction-algorithm")) o.recipe.method = "tv";  // others are read for it
       },
       "auto: for views from a part of all directions; short for --reconstruction-algorithm tv "
       "--tv-direction auto --support disc --nonnegative, or with --shell MM, for an object of one material "
       "with a full rim, --levels 0:auto in the place of --nonnegative. What does not fit the scan "
       "stays out, with a note")
      .check(one_of({"auto"}))
      .of_kind("auto");
}

}  // namespace tandem::apps
