#pragma once

#include <string>
#include <vector>

#include "../../options/option.hpp"

namespace tandem::options {

/// Text that shells and roff would read as something else.
inline const std::string hostile =
    ".it's: [a] \"quote\" $(touch pwned) `touch pwned` \\ and \\fB, 100 % {b} .PP 'br (x: y; z)";

/// Members that the rows of a table set.
struct Members {
  std::string text;
  std::vector<std::string> texts;
  bool flag = false;
  Index size = 256;
};

/// A command with every kind of row.
struct Sample {
  Members members;
  Table table{"recon", "Scan to volume"};

  Sample() {
    table.heading("Scan");
    table.add("scan", On::files, members.texts, "file; several are done one by one")
        .of_kind("NAME")
        .required();
    table.add("--flats", On::files, members.texts, "flat images (repeatable)").of_kind("FILE");
    table.heading("Method");
    table.add("--filter", On::result, members.text, "window of the filter").of_kind("ramp|hann|hamming");
    table.add("--initial", On::result, members.text, "first volume").of_kind("zero|fbp|FILE");
    table.add("--stop", On::result, members.text, "a rule").of_kind("gap=EPS|gcv[:gain=G]|X|Upper");
    table.add("--size", On::result, members.size, "voxels along x");
    table.add("--width", On::result, members.size, "of a voxel (default: the pitch)").in("mm");
    table.add("--secret", On::run, members.flag, "nobody sees it").is_hidden = true;
    table.heading("Output");
    table.add("-o,--output", On::files, members.text, hostile).required();
    table.add("-f,--flag", On::run, members.flag, hostile);
    table.add_flag_with_details(
        "--follow", On::run, [](const std::string&) {}, "views=N,seconds=S", "add views as they come");
    table.common({"size", "flag"});
    table.footer =
        "Methods:\n  fbp: a method\n      that goes on\n  'sirt: another\n\n"
        "Examples:\n  tandem recon a.h5 -o b.h5\n  tandem recon 'c d.h5' -o e.h5\n\nBehind the value:\n  x: "
        "y";
  }
};

}  // namespace tandem::options
