#define MTP_DOT_DOTPROD
#include "simd_neon.h"
//
#include "set_impl.h"

MTP_KERNEL_SET(kernel_set_dotprod, "dotprod")
