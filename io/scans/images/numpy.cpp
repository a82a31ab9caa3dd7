// Arrays of NumPy (*.npy) as images: (row, bin), (view, row, bin) or (time, view, row, bin).

#include "../../../core/error.hpp"
#include "../../files/npy.hpp"
#include "image.hpp"
#include "stored_images.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

std::unique_ptr<ImageFile> open_npy(const fs::path& path) {
  const FileStamp stamp = stamp_of(path, path.string());
  const NpyHead head = npy_head(stamp);
  const std::size_t axes = head.shape.size();
  require<FileError>(axes >= 2 && axes <= 4, path.string(), ": has ", axes, axes == 1 ? " axis" : " axes",
                     "; 2 (a sinogram: view, bin), 3 (view, row, bin) or 4 (time before them) are needed");
  require<FileError>(!head.by_columns, path.string(),
                     ": is stored in the order of Fortran; save numpy.ascontiguousarray of it");
  const NumberForm form = number_form(head.kind, head.bytes, head.swapped).value();
  const std::vector<Index> before(head.shape.begin(), head.shape.end() - 2);
  double images = 1;
  for (const Index extent : before) images *= extent;
  require<FileError>(images <= 1e6, path.string(), ": claims ", images, " images; no scan has as many");
  return std::make_unique<StoredImages>(stamp,
                                        images_alike(stamp, head.first, static_cast<Index>(images),
                                                     head.shape[axes - 2], head.shape[axes - 1], form),
                                        before);
}

}  // namespace

/// It has no endings, since an array beside the images of a folder is mostly a list of angles.
extern const ImageFormat numpy_images{.name = "NumPy", .endings = {}, .recognises = is_npy, .open = open_npy};

}  // namespace tandem::io
