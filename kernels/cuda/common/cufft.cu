#include "cufft.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <filesystem>
#include <string>

namespace tandem::kernels::cuda {

namespace {

/// The folder of the program or of the library that holds this function.
std::filesystem::path own_folder() {
  Dl_info info{};
  std::error_code none;
  return dladdr(reinterpret_cast<void*>(own_folder), &info)
             ? std::filesystem::canonical(info.dli_fname, none).parent_path()
             : std::filesystem::path();
}

void* load() {
  const std::string name = "libcufft.so." + std::to_string(CUFFT_VER_MAJOR),
                    package = "nvidia/cu" + std::to_string(CUDART_VERSION / 1000) + "/lib";
  for (const std::filesystem::path& place :
       {std::filesystem::path(name), own_folder().parent_path() / package / name,
        std::filesystem::path(TANDEM_CUDA_LIBRARIES) / name})
    if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  require<DeviceError>(false, "cuFFT: ", name, " is not found; pip install 'nvidia-cufft>=", CUFFT_VER_MAJOR,
                       ",<", CUFFT_VER_MAJOR + 1,
                       "', or put the folder of CUDA's libraries into LD_LIBRARY_PATH");
  return nullptr;
}

template <class Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  require<DeviceError>(function != nullptr, "cuFFT: ", name,
                       " is not in the library that was found; install cuFFT ", CUFFT_VER_MAJOR);
}

Cufft functions() {
  void* library = load();
  Cufft all;
  find(library, "cufftCreate", all.create);
  find(library, "cufftSetAutoAllocation", all.set_auto_allocation);
  find(library, "cufftMakePlanMany", all.make_plan_many);
  find(library, "cufftSetStream", all.set_stream);
  find(library, "cufftSetWorkArea", all.set_work_area);
  find(library, "cufftExecC2C", all.exec_c2c);
  find(library, "cufftExecR2C", all.exec_r2c);
  find(library, "cufftExecC2R", all.exec_c2r);
  return all;
}

}  // namespace

const Cufft& cufft() {
  static const Cufft all = functions();
  return all;
}

}  // namespace tandem::kernels::cuda
