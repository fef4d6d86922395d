/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lock disciplines, one row each: sim_lock_kind_NAME is defined in sim-lock-NAME.c. No include guard: read
 * several times under different meanings of KIND. */
KIND(qspinlock)
KIND(ticket)
KIND(cna)
