// Plays a scanner at work: it writes a scan (DXchange) again, view by view at a given rate, in HDF5's SWMR
// mode, as the program of a beamline does. `tandem recon GROWING.h5 --follow` makes the volume meanwhile.
//
// usage: grow_scan SCAN.h5 GROWING.h5 VIEWS_A_SECOND [VIEWS]
//
// Expected output:
//   100 of 100 views in 1.0 s
#include <hdf5.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

/// Copies all but the views, and makes an empty data set for them that can grow.
hid_t make_growing(hid_t from, hid_t to, hid_t views, const hsize_t* shape) {
  const hid_t exchange = H5Gcreate2(to, "exchange", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  for (const char* name : {"exchange/theta", "exchange/data_white", "exchange/data_dark", "measurement"})
    if (H5Lexists(from, name, H5P_DEFAULT) > 0) H5Ocopy(from, name, to, name, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t none[] = {0, shape[1], shape[2]}, one[] = {1, shape[1], shape[2]};
  const hid_t plan = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, none, shape);
  H5Pset_chunk(plan, 3, one);
  const hid_t type = H5Dget_type(views);
  const hid_t made = H5Dcreate2(exchange, "data", type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
  for (const hid_t id : {exchange, plan, space, type}) H5Idec_ref(id);
  return made;
}

int main(int argc, char** argv) {
  if (argc < 4)
    return std::fprintf(stderr, "usage: grow_scan SCAN.h5 GROWING.h5 VIEWS_A_SECOND [VIEWS]\n"), 2;
  const double rate = std::atof(argv[3]);
  const hid_t from = H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t views = H5Dopen2(from, "/exchange/data", H5P_DEFAULT), all = H5Dget_space(views);
  hsize_t shape[3] = {};
  H5Sget_simple_extent_dims(all, shape, nullptr);
  const hid_t latest = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(latest, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);  // SWMR needs it
  const hid_t to = H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, latest);
  const hid_t growing = make_growing(from, to, views, shape);
  bool good = growing >= 0 && H5Fstart_swmr_write(to) >= 0;

  const hsize_t count = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : shape[0];
  std::vector<double> frame(shape[1] * shape[2]);  // room for any type of number
  const hid_t memory = H5Screate_simple(2, &shape[1], nullptr), type = H5Dget_type(views);
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::steady_clock::now() - start; };
  for (hsize_t view = 0; good && view < count; ++view) {
    std::this_thread::sleep_until(start + std::chrono::duration<double>((view + 1) / rate));
    const hsize_t first[] = {view, 0, 0}, one[] = {1, shape[1], shape[2]},
                  size[] = {view + 1, shape[1], shape[2]};
    H5Sselect_hyperslab(all, H5S_SELECT_SET, first, nullptr, one, nullptr);
    good = H5Dread(views, type, memory, all, H5P_DEFAULT, frame.data()) >= 0 &&
           H5Dset_extent(growing, size) >= 0;
    const hid_t space = H5Dget_space(growing);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, first, nullptr, one, nullptr);
    good = good && H5Dwrite(growing, type, memory, space, H5P_DEFAULT, frame.data()) >= 0 &&
           H5Dflush(growing) >= 0;
    H5Sclose(space);
  }
  std::printf("%llu of %llu views in %.1f s\n", count, shape[0],
              std::chrono::duration<double>(seconds()).count());
  for (const hid_t id : {growing, to, views, all, from, memory, type, latest})
    good = H5Idec_ref(id) >= 0 && good;
  return good ? 0 : 1;
}
