// The int8 dot-product kernels with the instruction replaced by what it does: tests run them on any AVX2
// machine.
#define MTP_DOT_EMULATED
#include "simd_x86.h"
//
#include "set_impl.h"

MTP_KERNEL_SET(kernel_set_emulated_vnni, "emulated_vnni")
