#define MTP_DOT_AVXVNNI
#include "simd_x86.h"
//
#include "set_impl.h"

MTP_KERNEL_SET(kernel_set_avx_vnni, "avx_vnni")
