#include "journal.hpp"

#include <chrono>
#include <sstream>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../files/checksum.hpp"

namespace tandem::io {

namespace {

constexpr std::chrono::milliseconds pause{500};  // between two times that slices go to the disk
constexpr Index most_bytes = Index{1} << 28;     // longest journal: 4 million slices
constexpr const char* first_line = "tandem journal";

std::string name_of_journal(const Output& output, int rank) {
  return output.name() + (rank > 0 ? ".rank" + std::to_string(rank) : "") + journal_ending;
}

/// A line with a checksum, which tells whether it is whole.
std::string line_of(const std::string& text) {
  std::ostringstream line;
  line << text << ' ' << std::hex << checksum(text.data(), text.size()) << '\n';
  return line.str();
}

/// The text of such a line; empty if it is damaged.
std::string text_in(const std::string& line) {
  const std::size_t space = line.rfind(' ');
  if (space == std::string::npos) return {};
  const std::string text = line.substr(0, space);
  return line_of(text) == line + '\n' ? text : std::string();
}

std::string line_of(const DoneSlice& d) {
  std::ostringstream text;
  text << "done: " << d.slice << ' ' << d.checksum << ' ' << d.offset << ' ' << d.bytes;
  return line_of(text.str());
}

/// The first lines of a journal. They name the file by a number only, since a journal may have been forged.
std::string head_of(const JournalText& text) {
  std::string head = line_of(first_line) + line_of(std::string("file: ") + (text.is_second ? "2" : "1"));
  for (const auto& [name, value] : text.identity) head += line_of("same: " + name + "\t" + value);
  return head + line_of("recipe: " + text.recipe);
}

/// Takes a line into the text; false if the line makes no sense.
bool take(const std::string& line, JournalText& text) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string::npos) return false;
  const std::string key = line.substr(0, colon), rest = line.substr(colon + 2);
  if (key == "done") {
    std::istringstream words(rest);
    DoneSlice d;
    if (!(words >> d.slice >> d.checksum >> d.offset >> d.bytes) || d.offset < 0 || d.bytes < 0) return false;
    text.done.push_back(d);
    return true;
  }
  if (key == "file") text.is_second = rest == "2";
  if (key == "recipe") text.recipe = rest;
  if (const std::size_t tab = rest.find('\t'); key == "same" && tab != std::string::npos)
    text.identity.emplace_back(rest.substr(0, tab), rest.substr(tab + 1));
  return true;
}

std::optional<JournalText> read_journal(const PlainFile& file) {
  if (file.size() > most_bytes) return std::nullopt;
  std::string all(file.size(), '\0');
  JournalText text;
  if (!file.read(0, all.data(), all.size())) return std::nullopt;
  std::istringstream lines(all);
  std::string line;
  if (!std::getline(lines, line) || text_in(line) != first_line) return std::nullopt;
  while (std::getline(lines, line) && !lines.eof() && take(text_in(line), text))
    ;
  return text;
}

/// The journals of all ranks of a dead run, put together; empty if there are none. @throws FileError if one
/// has another identity
std::optional<JournalText> read_journals(Output& output, const Identity& identity) {
  std::optional<JournalText> all;
  for (const std::string& name : output.names()) {
    if (!name.ends_with(journal_ending)) continue;
    std::optional<JournalText> one = read_journal(output.open(name));
    if (!one) continue;
    require_same(one->identity, identity, output.target().string());
    if (all)
      all->done.insert(all->done.end(), one->done.begin(), one->done.end());
    else
      all = std::move(one);
  }
  return all;
}

Beginning joined(const std::filesystem::path& target, const std::string& recipe,
                 const Continuation& continuation) {
  const Comm& ranks = continuation.ranks;
  const std::string mark = ranks.broadcast("");
  Beginning now{Output::join(target, mark), {continuation.identity, recipe, false, {}, ranks.rank()}, ranks};
  return now;
}

}  // namespace

Beginning begin(const std::filesystem::path& target, Content content, Replace replace,
                const std::string& recipe, const Continuation& continuation) {
  const Comm& ranks = continuation.ranks;
  if (!ranks.is_first()) return joined(target, recipe, continuation);
  Beginning now{Output(target, content, replace, continuation.wanted),
                {continuation.identity, recipe, false, {}},
                ranks};
  if (continuation.wanted || continuation.later) now.output.keep_journal();
  if (continuation.wanted) {
    if (std::optional<JournalText> left = read_journals(now.output, continuation.identity))
      now.text = std::move(*left);
    require<FileError>(!now.text.done.empty() || !now.output.is_of_other_machine(), target.string(),
                       ": " + spelled("resume") +
                           ": a run of another machine left nothing here to go on with; if it has ended, "
                           "remove its folder .",
                       now.output.name(), ".tandem");
    if (now.output.is_of_other_machine()) now.output.take_over();
    if (now.text.done.empty())
      for (const std::string& name : now.output.names()) now.output.discard(name);
  }
  if (!ranks.is_alone()) ranks.broadcast(now.output.share());
  return now;
}

Journal::Journal(Output& output, JournalText text, Sync sync)
    : output_(output), text_(std::move(text)), sync_(std::move(sync)) {
  if (!text_.done.empty()) list(std::exchange(text_.done, {}));
  thread_ = std::jthread([this](const std::stop_token& stopped) { work(stopped); });
}

void Journal::add(const std::vector<DoneSlice>& slices) {
  const std::lock_guard lock(mutex_);
  if (fault_) std::rethrow_exception(fault_);
  waiting_.insert(waiting_.end(), slices.begin(), slices.end());
  changed_.notify_one();
}

void Journal::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Journal::complete(const std::vector<DoneSlice>& slices) {
  stop();
  if (fault_) std::rethrow_exception(fault_);
  sync_(slices);
}

/// Lists some slices. The first time it makes the journal, under another name until it is on the disk.
void Journal::list(const std::vector<DoneSlice>& some) {
  std::string lines = file_ ? "" : head_of(text_);
  for (const DoneSlice& slice : some) lines += line_of(slice);
  const bool is_new = !file_;
  const std::string name = name_of_journal(output_, text_.rank), until_then = name + ".new";
  if (is_new) {
    output_.discard(until_then);
    file_.emplace(output_.create(until_then));
  }
  file_->write(file_->size(), lines.data(), lines.size());
  file_->sync();
  if (is_new) output_.rename(until_then, name);
}

void Journal::work(const std::stop_token& stopped) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stopped, [this] { return !waiting_.empty(); }) && !stopped.stop_requested()) {
    const std::vector<DoneSlice> some = std::exchange(waiting_, {});
    lock.unlock();
    try {
      sync_(some);
      list(some);
      lock.lock();
    } catch (...) {
      lock.lock();
      fault_ = std::current_exception();
      return;
    }
    changed_.wait_for(lock, stopped, pause, [] { return false; });
  }
}

}  // namespace tandem::io
