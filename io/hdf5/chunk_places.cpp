#include "chunk_places.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#if H5_VERSION_GE(1, 14, 0)
#include <H5FDdevelop.h>
#endif

namespace tandem::io::hdf5 {

namespace {

/// A file of the driver. Numbers of one that is open for reading are not read.
struct NotingFile {
  H5FD_t base;  // the first member, by which libhdf5 knows it
  int descriptor;
  bool is_written;
  haddr_t end_of_space;
};

ChunkPlace noted;  // the last one of any file; the lock is held

const NotingFile& of(const H5FD_t* file) { return *reinterpret_cast<const NotingFile*>(file); }

/// Puts the cause of a call of the system that failed where `reason` finds it. @return -1
herr_t tell_cause() {
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_VFL, H5E_CANTINIT,
           "error message = '%s'", std::strerror(errno));
  return -1;
}

H5FD_t* open_noting(const char* name, unsigned flags, hid_t, haddr_t) {
  const bool is_written = (flags & H5F_ACC_RDWR) != 0;
  const int descriptor = ::open(name, (is_written ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (descriptor >= 0) return &(new NotingFile{{}, descriptor, is_written, 0})->base;
  tell_cause();
  return nullptr;
}

herr_t close_noting(H5FD_t* file) {
  const std::unique_ptr<NotingFile> owned(reinterpret_cast<NotingFile*>(file));
  return ::close(owned->descriptor);
}

herr_t features(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA |
           H5FD_FEAT_SUPPORTS_SWMR_IO;  // without which libhdf5 does not tell the end of a file
  return 0;
}

haddr_t end_of_space(const H5FD_t* file, H5FD_mem_t) { return of(file).end_of_space; }

herr_t set_end_of_space(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  reinterpret_cast<NotingFile*>(file)->end_of_space = end;
  return 0;
}

haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) {
  struct stat found {};
  return ::fstat(of(file).descriptor, &found) == 0 ? found.st_size : HADDR_UNDEF;
}

void note(haddr_t place, std::size_t bytes) {
  noted.offset = static_cast<Index>(place), noted.bytes = static_cast<Index>(bytes);
}

/// Bytes behind the end of the file are zeros, as for libhdf5's own driver.
herr_t read_noting(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t place, std::size_t bytes, void* out) {
  if (type == H5FD_MEM_DRAW) note(place, bytes);
  if (type == H5FD_MEM_DRAW && !of(file).is_written) return 0;
  auto* to = static_cast<char*>(out);
  while (bytes > 0) {
    const ssize_t got = ::pread(of(file).descriptor, to, bytes, static_cast<off_t>(place));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tell_cause();
    if (got == 0) return std::memset(to, 0, bytes), 0;
    to += got, place += got, bytes -= got;
  }
  return 0;
}

herr_t write_noting(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t place, std::size_t bytes,
                    const void* data) {
  if (type == H5FD_MEM_DRAW) note(place, bytes);
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = ::pwrite(of(file).descriptor, from, bytes, static_cast<off_t>(place));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return tell_cause();
    from += put, place += put, bytes -= put;
  }
  return 0;
}

/// Cuts off what was taken on the disk and not given out.
herr_t cut(H5FD_t* file, hid_t, hbool_t) {
  const NotingFile& cut_file = of(file);
  if (!cut_file.is_written) return 0;
  return ::ftruncate(cut_file.descriptor, static_cast<off_t>(cut_file.end_of_space)) == 0 ? 0 : tell_cause();
}

H5FD_class_t driver_class() {
  H5FD_class_t made{};
#if H5_VERSION_GE(1, 14, 0)
  made.version = H5FD_CLASS_VERSION;
  made.value = static_cast<H5FD_class_value_t>(600);  // registered numbers begin at 256
#endif
  made.name = "tandem";
  made.maxaddr = (haddr_t{1} << 63) - 1;
  made.fc_degree = H5F_CLOSE_WEAK;
  made.open = open_noting, made.close = close_noting;
  made.query = features;
  made.get_eoa = end_of_space, made.set_eoa = set_end_of_space, made.get_eof = end_of_file;
  made.read = read_noting, made.write = write_noting, made.truncate = cut;
  constexpr H5FD_mem_t map[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
  std::memcpy(made.fl_map, map, sizeof map);
  return made;
}

}  // namespace

Handle noting_access() {
  static const H5FD_class_t known = driver_class();
  static const hid_t driver = H5FDregister(&known);
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_driver(access.id(), driver, nullptr);
  return access;
}

ChunkPlace last_written() { return noted; }

ChunkFinder::ChunkFinder(std::int64_t set, const std::filesystem::path& path, const std::string& where)
    : file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, noting_access().id()), H5Fclose) {
  H5O_info_t info{};
  if (file_.valid() && H5Oget_info2(set, &info, H5O_INFO_BASIC) >= 0)
    set_ = {H5Oopen_by_addr(file_.id(), info.addr), H5Oclose};
  if (!set_.valid()) fail(where + ": its chunks cannot be found", "the file may be damaged");
}

std::optional<ChunkPlace> ChunkFinder::find(std::span<const Index> corner) const {
  const std::vector<hsize_t> at(corner.begin(), corner.end());
  std::byte nothing{};  // nothing is put there
  noted = {};
  if (H5Dread_chunk(set_.id(), H5P_DEFAULT, at.data(), &noted.skipped, &nothing) < 0) return std::nullopt;
  return noted;
}

}  // namespace tandem::io::hdf5
