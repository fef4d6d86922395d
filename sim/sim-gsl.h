/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_GSL_H
#define SIM_GSL_H

#include <glib.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_matrix.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_qrng.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_spline.h>
#include <gsl/gsl_vector.h>

/* g_autoptr() for the GSL types in use. */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(gsl_rng, gsl_rng_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(gsl_qrng, gsl_qrng_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(gsl_ran_discrete_t, gsl_ran_discrete_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(gsl_vector, gsl_vector_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(gsl_matrix, gsl_matrix_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(gsl_spline, gsl_spline_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(gsl_interp_accel, gsl_interp_accel_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(gsl_multifit_nlinear_workspace, gsl_multifit_nlinear_free)

/* First thing in every main(): GSL calls abort() on any error otherwise. Without its handler, errors come back as
 * status codes and NaN. */
static inline void
sim_gsl_init(void)
{
    gsl_set_error_handler_off();
}

#endif
