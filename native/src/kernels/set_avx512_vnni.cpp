#define MTP_DOT_AVX512VNNI
#include "simd_x86.h"
//
#include "set_impl.h"

MTP_KERNEL_SET(kernel_set_avx512_vnni, "avx512_vnni")
