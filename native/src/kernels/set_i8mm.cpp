#define MTP_DOT_I8MM
#include "simd_neon.h"
//
#include "set_impl.h"

MTP_KERNEL_SET(kernel_set_i8mm, "i8mm")
