/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_ERROR_H
#define SIM_ERROR_H

#include <glib.h>

/* The user's or the world's fault. Programmer's faults are assertions. */
#define SIM_ERROR (sim_error_quark())

typedef enum
{
    SIM_ERROR_PARSE,       /* text that is not of the wanted form */
    SIM_ERROR_UNKNOWN_KEY, /* a group, key or name that does not exist */
    SIM_ERROR_RANGE,       /* a well-formed value outside its allowed range */
    SIM_ERROR_MODEL,       /* values that contradict each other */
    SIM_ERROR_IO,          /* files, disks, child processes */
    SIM_ERROR_INTERRUPTED, /* stopped by the user */
} SimErrorCode;

GQuark sim_error_quark(void);

/* Exit status of the program for an error: 2 for what the user wrote (PARSE, UNKNOWN_KEY, RANGE, MODEL),
 * 1 for what the world did (IO and foreign domains), 130 for INTERRUPTED. */
int sim_error_exit_status(const GError *error);

#endif
