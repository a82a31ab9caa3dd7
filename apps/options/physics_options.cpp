// Options that make attenuations right which the physics of a beam makes wrong.

#include "method_options.hpp"

namespace tandem::apps {

namespace {

/// Gives the options that --physics stands for, unless they are typed, or have no meaning here.
void take_physics(Table& c, ReconOptions& o) {
  if (!c.given("--physics")) return;
  o.recipe.metal_if_it_fits = !c.given("--metal");
  o.recipe.circles_if_they_fit = !c.given("--padding");
  take_if_open(c, o, "--beam-hardening", "auto");
  take_if_open(c, o, "--metal", "auto");
  take_if_open(c, o, "--padding", "circle");
}

void parse_metal(pipeline::Recipe& r, const std::string& text) {
  r.mends_metal = text != "none";
  r.metal_threshold = number_in(text);
}

}  // namespace

void add_physics(Table& c, ReconOptions& o) {
  c.heading("Physics of the beam");
  c.at_end([&c, &o] { take_physics(c, o); });
  c.add_parsed(
       "--physics", On::run, [](const std::string&) {},
       "auto: what a beam of many energies, metal, and rows that end in the sample make wrong is looked for, "
       "and corrected where the projections tell that it helps; short for --beam-hardening auto, --metal "
       "auto "
       "and --padding circle, as far as they go with the algorithm")
      .check(one_of({"auto"}))
      .of_kind("auto");
  c.add_parsed(
       "--metal", On::result, [&r = o.recipe](const std::string& text) { parse_metal(r, text); },
       "auto: line integrals of rays through metal become what their neighbours and a first volume without "
       "metal tell, unless that makes projections agree less; X: the same, and what is above so many 1/mm is "
       "metal; needs one more pass over the scan (default none)")
      .check([number = positive(1e9)](std::string& text) {
        const std::string word = in_lower_case(text);
        if (word == "auto" || word == "none") return text = word, std::string();
        return number(text).empty() ? "" : "'" + text + "' is neither none nor auto nor a number above 0";
      })
      .of_kind("none|auto|X")
      .briefly("mends what metal makes of rays")
      .in("1/mm");
}

}  // namespace tandem::apps
