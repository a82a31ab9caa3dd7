#include "output_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <thread>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "output.hpp"
#include "text.hpp"

namespace tandem::io {

namespace {

constexpr const char* lock_name = "lock";
const std::string ending = ".tandem", mark = "tandem: ";

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> all(again >= 0 ? ::fdopendir(again) : nullptr, ::closedir);
  if (!all) {
    if (again >= 0) ::close(again);
    return names;
  }
  while (const dirent* entry = ::readdir(all.get()))
    if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
  return names;
}

bool is_entry(int folder, const char* name, int descriptor) {
  struct stat named {
  }, open{};
  return ::fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(descriptor, &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

bool is_file(int folder, const char* name) {
  struct stat found {};
  return ::fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(found.st_mode);
}

std::string text_in(int lock) {
  std::array<char, 256> text{};
  const ssize_t bytes = ::pread(lock, text.data(), text.size(), 0);
  return std::string(text.data(), std::max<ssize_t>(bytes, 0));
}

/// The result of an attempt to take a folder.
struct Claim {
  /// `elsewhere`: it belongs to a run on another machine, whose lock may not be seen here
  enum class State { mine, busy, foreign, vanished, elsewhere };
  State state;
  Descriptor folder = {}, lock = {};
};

/// Whether the folder holds only what tandem puts there: the lock with its mark, and files whose names begin
/// as the name of the output does, up to its first dot.
bool is_ours(int folder, int lock, const std::string& output) {
  const std::string start = output.substr(0, output.find('.', 1)), text = text_in(lock);
  bool alone = true;
  for (const std::string& name : names_in(folder)) {
    if (name == lock_name) continue;
    alone = false;
    if (!name.starts_with(start) || !is_file(folder, name.c_str())) return false;
  }
  return text.starts_with(mark) || (alone && text.empty());
}

std::string random_digits() {
  std::random_device numbers;
  std::ostringstream text;
  text << std::hex << numbers() << numbers();
  return text.str();
}

/// Whether nobody but this user can have put something there. A file system may give all files the same owner
/// and mode, so the folder is compared with a file that is made beside it.
bool is_of_user(int parent, int folder) {
  struct stat found {
  }, made{};
  constexpr mode_t others = S_IWGRP | S_IWOTH;
  if (::fstat(folder, &found) != 0) return false;
  if (found.st_uid == ::geteuid() && (found.st_mode & others) == 0) return true;
  const std::string name = ".tandem-owner-" + random_digits();
  const Descriptor beside(
      ::openat(parent, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!beside.valid()) return false;
  ::unlinkat(parent, name.c_str(), 0);
  return ::fstat(beside.number(), &made) == 0 && found.st_uid == made.st_uid &&
         (found.st_mode & others & ~made.st_mode) == 0;
}

std::string this_host() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return host.data();
}

/// The identity of the running system, which no other one has.
std::string this_boot() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id.empty() ? "unknown" : id;
}

/// Whether the run that has, or had, the lock is on this machine, whose kernel knows all its locks.
bool is_of_this_machine(const std::string& text) {
  const std::string first = text.substr(0, text.find('\n'));
  return !text.starts_with(mark) || first.ends_with(" on " + this_host()) ||
         text.find('\n' + this_boot() + '\n') != std::string::npos;
}

/// Takes the folder if nobody has it. The process that holds the lock on the file "lock" in the folder of
/// this name owns the output. The kernel releases the lock when the process ends, however it ends. `made`:
/// this process has just made the folder. `flags`: O_CREAT, or 0 if the lock exists, or if the folder was
/// left.
Claim take(int parent, const std::string& name, const std::string& output, bool made, int flags) {
  using State = Claim::State;
  Descriptor folder(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.valid()) return {errno == ENOENT ? State::vanished : State::foreign};
  if (!made && !is_of_user(parent, folder.number())) return {State::foreign};
  flags |= O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  Descriptor lock(::openat(folder.number(), lock_name, flags, 0600));
  if (!lock.valid()) return {errno == ENOENT ? State::vanished : State::foreign};
  if (::flock(lock.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return {State::busy, std::move(folder), std::move(lock)};
    if (!made) return {State::foreign};  // without locks, only the process that made the folder has it
  }
  if (!is_entry(folder.number(), lock_name, lock.number()) ||
      !is_entry(parent, name.c_str(), folder.number()))
    return {State::vanished};
  const State state = !is_ours(folder.number(), lock.number(), output)       ? State::foreign
                      : !made && !is_of_this_machine(text_in(lock.number())) ? State::elsewhere
                                                                             : State::mine;
  return {state, std::move(folder), std::move(lock)};
}

void clear(int folder) {
  for (const std::string& name : names_in(folder))
    if (name != lock_name) ::unlinkat(folder, name.c_str(), 0);
}

/// Removes a folder. The lock goes last, since until then nobody else takes the folder.
void remove_folder(int parent, const std::string& name, int folder) {
  clear(folder);
  ::unlinkat(folder, lock_name, 0);
  ::unlinkat(parent, name.c_str(), AT_REMOVEDIR);
}

bool holds_journal(int folder) {
  const std::vector<std::string> names = names_in(folder);
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.ends_with(journal_ending); });
}

/// Removes what dead runs left of other outputs, except what `--resume` can complete.
void clear_dead(int parent, const std::string& own) {
  for (const std::string& name : names_in(parent)) {
    if (name == own || name.size() < ending.size() + 2 || name[0] != '.' || !name.ends_with(ending)) continue;
    const Claim claim = take(parent, name, name.substr(1, name.size() - 1 - ending.size()), false, 0);
    // a lock without a text may belong to a run on another machine that is about to write it
    if (claim.state == Claim::State::mine && !text_in(claim.lock.number()).empty() &&
        !holds_journal(claim.folder.number()))
      remove_folder(parent, name, claim.folder.number());
    if (claim.state == Claim::State::vanished) ::unlinkat(parent, name.c_str(), AT_REMOVEDIR);  // if empty
  }
}

/// The owner of a lock, " (process 1234 on somewhere)"; empty if the lock does not say it
std::string owner_in(const Descriptor& lock) {
  std::string text = lock.valid() ? text_in(lock.number()) : "";
  text = text.substr(0, text.find('\n'));
  return text.starts_with(mark) ? " (" + text.substr(mark.size()) + ")" : "";
}

/// A text for a lock, which no other lock has.
std::string new_mark() {
  return mark + "process " + std::to_string(::getpid()) + " on " + this_host() + '\n' + this_boot() + '\n' +
         random_digits();
}

/// A folder that other processes may still use when this process leaves it.
struct Left {
  std::string name;
  Descriptor parent, folder, lock;
};
std::vector<Left>& left() {
  static std::vector<Left>& all = *new std::vector<Left>;
  return all;
}

}  // namespace

OutputFolder::OutputFolder(const std::filesystem::path& parent, const std::string& name, std::string shown,
                           bool adopt)
    : folder_name_("." + name + ending),
      shown_(std::move(shown)),
      parent_(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  require_success(parent_.valid(), "the folder cannot be opened");
  require_name(parent, name, shown_);
  claim(parent, name, adopt);
  if (!adopt) clear(folder_.number());
  if (!is_of_other_machine_) sign();
  clear_dead(parent_.number(), folder_name_);
}

void OutputFolder::sign() {
  const std::string text = new_mark();
  static_cast<void>(::ftruncate(lock_.number(), 0) == 0 &&
                    ::pwrite(lock_.number(), text.data(), text.size(), 0) >= 0);
  is_of_other_machine_ = false;
}

void OutputFolder::claim(const std::filesystem::path& parent, const std::string& name, bool adopt) {
  using State = Claim::State;
  constexpr int tries = 20;  // other processes hold the lock for a moment, to see whether its owner is dead
  const std::string place = (parent / folder_name_).string();
  for (int i = 0; !folder_.valid(); ++i) {
    const bool made = ::mkdirat(parent_.number(), folder_name_.c_str(), 0700) == 0;
    require_success(made || errno == EEXIST, "nothing can be written to its folder");
    errno = 0;
    Claim claim = take(parent_.number(), folder_name_, name, made, O_CREAT);
    require_success(!is_of_few_handles(errno), "its folder cannot be opened");
    require<FileError>(
        claim.state != State::foreign, shown_, ": ", place,
        " is in the way, and is of another user, or not what tandem leaves; remove it, or give another name");
    const bool goes_on = adopt && claim.state == State::elsewhere && holds_journal(claim.folder.number());
    require<FileError>(claim.state != State::elsewhere || goes_on, shown_, ": a run of another machine",
                       owner_in(claim.lock),
                       " writes it or was killed, which cannot be seen from here; if it has ended, remove ",
                       place, ", or give " + spelled("resume") + " if it left a journal");
    // its owner, perhaps on another machine, is about to say who it is
    const bool is_new =
        claim.state == State::mine && !made && i < tries && text_in(claim.lock.number()).empty();
    if ((claim.state == State::mine && !is_new) || goes_on) {
      folder_ = std::move(claim.folder);
      lock_ = std::move(claim.lock);
      is_of_other_machine_ = goes_on;
      continue;
    }
    require<FileError>(i < tries, shown_, ": another run writes it", owner_in(claim.lock),
                       "; wait until it has ended, or give another name");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

OutputFolder::OutputFolder(const std::filesystem::path& parent, const std::string& name, std::string shown,
                           const std::string& its_mark)
    : folder_name_("." + name + ending),
      shown_(std::move(shown)),
      parent_(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      is_joined_(true) {
  require_success(parent_.valid(), "the folder cannot be opened");
  constexpr int tries = 100;  // a file system of a network may show the folder a little later
  for (int i = 0; i < tries; ++i) {
    folder_ = Descriptor(
        ::openat(parent_.number(), folder_name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const Descriptor lock(
        folder_.valid() ? ::openat(folder_.number(), lock_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1);
    if (lock.valid() && text_in(lock.number()) == its_mark) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  throw FileError(shown_ + ": this rank does not see the folder " + (parent / folder_name_).string() +
                  " that the first rank has made; all ranks need one file system");
}

std::string OutputFolder::share() {
  is_shared_ = true;
  return text_in(lock_.number());
}

void OutputFolder::clear_shared() noexcept {
  for (const Left& one : left()) remove_folder(one.parent.number(), one.name, one.folder.number());
  left().clear();
}

void OutputFolder::require_name(const std::filesystem::path& parent, const std::string& name,
                                const std::string& shown) {
  struct stat found {};
  const std::filesystem::path folder = parent / ("." + name + ending);
  require<FileError>(::lstat(folder.c_str(), &found) == 0 || errno != ENAMETOOLONG, shown, ": a name of ",
                     name.size(), " bytes in a folder of ", parent.string().size(),
                     " is too long for the file system; give a shorter one");
}

OutputFolder::~OutputFolder() { remove(); }

void OutputFolder::require_success(bool holds, const char* what) const {
  const int fault = errno;
  require<FileError>(holds, shown_, ": ", what, ": ", reason_of(fault));
}

/// Refuses names that lead out of the folder, since names also come from journals.
void OutputFolder::require_within(const std::string& file) const {
  require<FileError>(file.find('/') == std::string::npos, shown_, ": \"", file,
                     "\" is no file of its folder");
}

bool OutputFolder::has(const std::string& file) const {
  return file.find('/') == std::string::npos && is_file(folder_.number(), file.c_str());
}

std::vector<std::string> OutputFolder::names() const {
  std::vector<std::string> names = names_in(folder_.number());
  std::erase(names, lock_name);
  return names;
}

void OutputFolder::discard(const std::string& file) {
  require_within(file);
  ::unlinkat(folder_.number(), file.c_str(), 0);
}

void OutputFolder::rename(const std::string& file, const std::string& to) {
  require_within(file), require_within(to);
  require_success(::renameat(folder_.number(), file.c_str(), folder_.number(), to.c_str()) == 0 &&
                      (::fsync(folder_.number()) == 0 || errno == EINVAL),
                  "cannot be written");
}

Descriptor OutputFolder::create(const std::string& file) {
  require_within(file);
  const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  Descriptor made(::openat(folder_.number(), file.c_str(), flags, 0666));
  require_success(made.valid(), "cannot be written");
  return made;
}

Descriptor OutputFolder::open(const std::string& file) {
  require_within(file);
  Descriptor found(::openat(folder_.number(), file.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  require_success(found.valid(), "cannot be opened again");
  return found;
}

/// Opens a folder within another one, without following links. @throws FileError unless it is there, or can
/// be made
Descriptor OutputFolder::folder_in(const Descriptor& above, const std::string& name, bool make) const {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  if (make)
    require_success(::mkdirat(above.number(), name.c_str(), 0777) == 0 || errno == EEXIST,
                    "a folder in it cannot be made");
  Descriptor folder(::openat(above.number(), name.c_str(), flags));
  const bool is_other = !folder.valid() && (errno == ELOOP || errno == ENOTDIR);
  const std::string what =
      is_other ? "\" in it is a link, or no folder; remove it" : "\" in it cannot be opened";
  require_success(folder.valid() || (!make && errno == ENOENT), ("\"" + name + what).c_str());
  return folder;
}

void OutputFolder::move(const std::string& file, const std::string& name) {
  Descriptor at(::fcntl(parent_.number(), F_DUPFD_CLOEXEC, 0));
  std::size_t first = 0;
  for (std::size_t slash = 0; at.valid() && (slash = name.find('/', first)) != std::string::npos;
       first = slash + 1)
    at = folder_in(at, name.substr(first, slash - first), !file.empty());
  const std::string last = name.substr(first);
  if (file.empty())
    return require_success(!at.valid() || ::unlinkat(at.number(), last.c_str(), 0) == 0 || errno == ENOENT,
                           "cannot be removed");
  require_within(file);
  require_success(::renameat(folder_.number(), file.c_str(), at.number(), last.c_str()) == 0,
                  "cannot be given its name");
}

void OutputFolder::sync_parent() {
  require_success(::fsync(parent_.number()) == 0 || errno == EINVAL || errno == EROFS || errno == EACCES,
                  "the folder cannot be written");
}

bool OutputFolder::has_journal() const { return holds_journal(folder_.number()); }

void OutputFolder::remove() noexcept {
  if (!folder_.valid()) return;
  const bool stays = is_joined_ || is_of_other_machine_ || (keep_journal_ && has_journal());
  if (!stays && is_shared_) {
    left().push_back({folder_name_, std::move(parent_), std::move(folder_), std::move(lock_)});
  } else if (!stays) {
    remove_folder(parent_.number(), folder_name_, folder_.number());
  }
  folder_.reset();
  lock_.reset();
}

}  // namespace tandem::io
