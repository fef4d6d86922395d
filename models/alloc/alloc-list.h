/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The allocator generations, oldest first: slub_generation_NAME is defined in slub-NAME.c. No include guard: read
 * several times under different meanings of GENERATION. */
GENERATION(frozen)
GENERATION(delayed)
GENERATION(direct)
