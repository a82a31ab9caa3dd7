#pragma once

#include <streambuf>
#include <string>
#include <string_view>

namespace tandem::apps {

/// What a terminal would obey, and bytes that are no UTF-8, as \u001b or \x9b; newlines and everything else
/// as they are.
std::string printable(std::string_view text);

/// A message as one printable line of at most 500 characters, `before` included. Of a longer one the middle
/// is left out: its end says what to do.
std::string one_line(const std::string& before, const std::string& text);

/// Lets only printable text through to a stream while it lives: names and texts out of files reach a terminal
/// by way of std::cout and std::cerr alone.
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
};

}  // namespace tandem::apps
