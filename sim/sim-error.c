/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-error.h"

G_DEFINE_QUARK(sim-error-quark, sim_error)

int
sim_error_exit_status(const GError *error)
{
    if (error->domain != SIM_ERROR)
        return 1;
    switch ((SimErrorCode) error->code) {
    case SIM_ERROR_PARSE:
    case SIM_ERROR_UNKNOWN_KEY:
    case SIM_ERROR_RANGE:
    case SIM_ERROR_MODEL:
        return 2;
    case SIM_ERROR_INTERRUPTED:
        return 130;
    case SIM_ERROR_IO:
        break;
    }
    return 1;
}
