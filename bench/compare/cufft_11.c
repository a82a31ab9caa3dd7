/* libcufft.so.11 of CUDA 12 for machines that have libcufft.so.12 of CUDA 13: passes on the calls that ASTRA's wheel
 * makes. Their arguments are the same in both (cuFFT's documentation, "cuFFT API Reference"). */
#include <dlfcn.h>
#include <stdlib.h>

typedef int Handle;

static void *found(const char *name) {
  static void *library;
  if (!library) library = dlopen("libcufft.so.12", RTLD_NOW | RTLD_GLOBAL);
  void *function = library ? dlsym(library, name) : NULL;
  if (!function) abort();
  return function;
}

int cufftPlan1d(Handle *plan, int length, int type, int batch) {
  return ((int (*)(Handle *, int, int, int))found("cufftPlan1d"))(plan, length, type, batch);
}
int cufftSetStream(Handle plan, void *stream) {
  return ((int (*)(Handle, void *))found("cufftSetStream"))(plan, stream);
}
int cufftExecR2C(Handle plan, float *in, void *out) {
  return ((int (*)(Handle, float *, void *))found("cufftExecR2C"))(plan, in, out);
}
int cufftExecC2R(Handle plan, void *in, float *out) {
  return ((int (*)(Handle, void *, float *))found("cufftExecC2R"))(plan, in, out);
}
int cufftDestroy(Handle plan) { return ((int (*)(Handle))found("cufftDestroy"))(plan); }
