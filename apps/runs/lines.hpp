#pragma once

#include <streambuf>
#include <string>
#include <string_view>

#include "../../core/space.hpp"
#include "../../io/files/text.hpp"

namespace tandem::apps {

/// The text with control characters and bytes that are not UTF-8 written as \u001b or \x9b. Newlines and all
/// else stay as they are.
std::string printable(std::string_view text);

/// Whether a text is shown as it is, in one line: it is UTF-8 without control characters.
bool is_plain(std::string_view text);

/// A message as one printable line of at most 500 characters with `before`. If it is longer, the middle is
/// left out, because the end says what to do.
std::string one_line(const std::string& before, const std::string& text);

/// A number for people, with at most 7 digits, so that neither rounding errors nor digits that a float does
/// not have are shown.
std::string rounded(double value);

/// A number of things in words: "1 row", "2 rows".
std::string counted(Index count, const std::string& what);

/// A rate of updates or bytes a second, or 0 for bytes faster than storage and memory are: these were not
/// moved, as those of a file that lies in memory.
double told_rate(double rate, bool updates);

using io::with_uncertainty;

/// Lets only printable text through to a stream, and its lines to the log, as long as the object lives. Names
/// and texts from files reach a terminal only by std::cout and std::cerr.
class PrintableStream : private std::streambuf {
 public:
  explicit PrintableStream(std::ostream& stream);
  ~PrintableStream() override;

 private:
  int overflow(int c) override;
  std::streamsize xsputn(const char* text, std::streamsize count) override;
  int sync() override { return behind_->pubsync(); }

  std::ostream& stream_;
  std::streambuf* behind_;
  std::string line_;  ///< the line that has not ended yet
};

}  // namespace tandem::apps
