#include "output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <optional>
#include <set>

#include "../../core/error.hpp"
#include "../../core/names.hpp"
#include "../../core/spelled.hpp"
#include "output_folder.hpp"
#include "plain_file.hpp"
#include "text.hpp"

namespace tandem::io {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : "."; }

namespace {

/// The path of a target, with links to existing files followed, so that they stay links.
fs::path resolved(const fs::path& target) {
  std::error_code fault;
  const fs::path real = fs::is_symlink(target, fault) ? fs::canonical(target, fault) : target;
  return fault ? target : real;
}

/// All living outputs of the process, for abandon_outputs().
struct Registry {
  std::recursive_mutex mutex;
  std::set<OutputFolder*> alive;
  std::multiset<fs::path> made;
  std::vector<std::string> published;
};

Registry& registry() {
  static Registry& one = *new Registry;  // never destroyed, since a thread may end the program at any time
  return one;
}

}  // namespace

void require_name(const fs::path& target) {
  const fs::path real = resolved(target);
  OutputFolder::require_name(folder_of(real), real.filename().string(), target.string());
}

namespace {

/// The words of messages: "is a log of tandem".
const char* words_of(Content content) {
  constexpr std::array words{"a volume",      "a scan",   "a geometry", "the manifest of a volume",
                             "a check-point", "a report", "a page",     "a picture",
                             "a recipe",      "a log"};
  return row_of(words, content);
}

}  // namespace

void require_replaceable(const fs::path& target, Content content, Replace replace) {
  const std::string name = target.string();
  std::error_code fault;
  const fs::file_status found = fs::status(target, fault);
  if (fs::exists(found)) require_content(target, name, content, replace);
}

void require_content(const fs::path& file, const std::string& name, Content content, Replace replace) {
  std::error_code fault;
  const fs::file_status found = fs::status(file, fault);
  require<FileError>(!fs::is_directory(found), name, ": is a folder; a file name is needed");
  require<FileError>(fs::is_regular_file(found), name, ": is no regular file; give another name");
  if (replace == Replace::any) return;
  const std::optional<Content> older = content_of(file);
  require<FileError>(
      older.has_value(), name,
      ": is there already, and tandem did not write it; give another name, or " + spelled("overwrite"));
  require<FileError>(older == content, name, ": is there already, and is ", words_of(*older),
                     " of tandem, which ", words_of(content),
                     " does not replace; give another name, or " + spelled("overwrite"));
}

struct Output::Impl {
  fs::path target, real;
  OutputFolder folder;
  std::optional<Content> content;  // none for a joined output, which another process publishes
  Replace replace = Replace::own;

  Impl(const fs::path& given, const fs::path& place, const std::string& mark)
      : target(given),
        real(place),
        folder(folder_of(place), place.filename().string(), given.string(), mark) {
    registry().alive.insert(&folder);
  }
  Impl(const fs::path& given, const fs::path& place, bool adopt)
      : target(given),
        real(place),
        folder(folder_of(place), place.filename().string(), given.string(), adopt) {
    registry().alive.insert(&folder);
  }
  ~Impl() {
    const std::lock_guard lock(registry().mutex);
    registry().alive.erase(&folder);
    folder.remove();
  }
};

Output::Output(const fs::path& target, Content content, Replace replace, bool adopt) {
  std::error_code fault;
  const fs::path real = resolved(target), folder = folder_of(real);
  require<FileError>(fs::is_directory(folder, fault), target.string(), ": the folder ", folder.string(),
                     " does not exist; make it first");
  require_replaceable(target, content, replace);
  const std::lock_guard lock(registry().mutex);
  impl_ = std::make_unique<Impl>(target, real, adopt);
  impl_->content = content;
  impl_->replace = replace;
}

Output::Output(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Output Output::join(const fs::path& target, const std::string& mark) {
  const std::lock_guard lock(registry().mutex);
  return Output(std::make_unique<Impl>(target, resolved(target), mark));
}

bool Output::is_of_other_machine() const { return impl_->folder.is_of_other_machine(); }
void Output::keep_journal() { impl_->folder.keep_journal(); }
void Output::take_over() { impl_->folder.sign(); }
std::string Output::share() { return impl_->folder.share(); }

Output::Output(Output&&) noexcept = default;
Output::~Output() = default;

const fs::path& Output::target() const { return impl_->target; }
std::string Output::name() const { return impl_->real.filename().string(); }
fs::path Output::folder() const { return folder_of(impl_->real); }

PlainFile Output::create(const std::string& name) {
  const std::lock_guard lock(registry().mutex);
  return {impl_->folder.create(name), (impl_->target.parent_path() / name).string()};
}

PlainFile Output::open(const std::string& name) {
  const std::lock_guard lock(registry().mutex);
  return {impl_->folder.open(name), (impl_->target.parent_path() / name).string()};
}

bool Output::has(const std::string& name) const { return impl_->folder.has(name); }
std::vector<std::string> Output::names() const { return impl_->folder.names(); }
void Output::discard(const std::string& name) { impl_->folder.discard(name); }
void Output::rename(const std::string& name, const std::string& to) { impl_->folder.rename(name, to); }

void Output::look_again(const std::function<void()>& require_replaceable) {
  try {
    require_replaceable();
  } catch (const FileError& fault) {
    impl_->folder.keep_journal();
    throw FileError(fault.what() + std::string("; it came while this run was at work") +
                    (impl_->folder.has_journal() ? ", whose volume stays: " + spelled("resume") + " and " +
                                                       spelled("overwrite") + " together give it the name"
                                                 : ""));
  }
}

void Output::publish(const std::vector<Step>& steps, const std::string& shown) {
  if (impl_->content && std::ranges::any_of(steps, [&](const Step& step) { return step.name == name(); }))
    look_again([&] { require_replaceable(impl_->target, *impl_->content, impl_->replace); });
  for (const Step& step : steps)
    if (!step.part.empty()) PlainFile(impl_->folder.open(step.part), impl_->target.string()).sync();
  const std::lock_guard lock(registry().mutex);
  for (const Step& step : steps) {
    const bool is_mark = step.name == steps.back().name;
    if (is_mark && &step != &steps.front()) impl_->folder.sync_parent();
    impl_->folder.move(step.part, step.name);
    if (is_mark) impl_->folder.sync_parent();
  }
  if (!shown.empty()) registry().published.push_back(shown);
  impl_->folder.finish();
}

void Output::publish() { publish({{name(), name()}}, impl_->target.string()); }

void Output::write(const std::string& text) {
  create(name()).write(0, text.data(), text.size());
  publish();
}

std::recursive_mutex& publishing() { return registry().mutex; }

std::vector<std::string> published() {
  const std::lock_guard lock(registry().mutex);
  return registry().published;
}

void clear_shared_outputs() {
  const std::lock_guard lock(registry().mutex);
  OutputFolder::clear_shared();
}

void abandon_outputs() {
  const std::lock_guard lock(registry().mutex);
  for (OutputFolder* folder : registry().alive) folder->remove();
  for (const fs::path& folder : registry().made) ::rmdir(folder.c_str());  // if it is empty
}

MadeFolder::MadeFolder(fs::path path) : path_(std::move(path)) {
  const std::lock_guard lock(registry().mutex);
  const bool made = ::mkdir(path_.c_str(), 0777) == 0 || errno == EEXIST;
  require<FileError>(made, path_.string(), ": cannot be made: ", reason_of(errno));
  registry().made.insert(path_);
}

MadeFolder::~MadeFolder() {
  const std::lock_guard lock(registry().mutex);
  registry().made.erase(registry().made.find(path_));
  ::rmdir(path_.c_str());  // if it is empty
}

}  // namespace tandem::io
