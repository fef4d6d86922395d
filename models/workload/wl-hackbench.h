/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WL_HACKBENCH_H
#define WL_HACKBENCH_H

#include "sched-tasks.h"
#include "workload.h"

/* hackbench (rt-tests 0.84) and perf bench sched messaging: groups of `fds` senders and `fds` receivers; in each loop
 * a sender writes one message to each receiver of its group in turn, a receiver reads what comes to it
 * (slub-facts F.1). The state, open to its tests and to the two transports.
 *
 * A call takes its whole cost before it takes effect. A read is one moment in global order, a write to a socket two:
 * the test for room, and, after the allocations, the charge and the queueing. That gap is the one in which the
 * kernel's writers race past the limit (sock_alloc_send_pskb). */

enum {
    HACK_PIPE_BUFFERS = 16, /* PIPE_DEF_BUFFERS; assumes CAP_SYS_RESOURCE above 1,024 pipes */
    HACK_NO_NODE = -1,
};

typedef struct {
    SchedTask task;  /* first */
    SimRng spread;   /* of the costs of its calls */
    guint64 n_left;  /* messages still to send or receive */
    guint32 channel; /* receiver: its own; sender: the next one to write to */
    guint16 group;
    guint8 is_sender : 1;
    guint8 is_in_call : 1; /* the cost of the call under way has been paid */
    guint8 has_waited : 1; /* in the call under way, for room */
} HackTask;

/* A pipe buffer: a page. */
typedef struct {
    guint32 written_bytes;
    guint32 n_unread; /* messages */
    gint node;
} HackPage;

/* A pipe's buffers. */
typedef struct {
    HackPage page[HACK_PIPE_BUFFERS];
    SchedTask *last_writer; /* of the channel's sleeping writers */
    guint32 first, n_pages;
    gint spare_node; /* pipe->tmp_page, HACK_NO_NODE for none */
} HackPipe;

/* The way to one receiver. All shared. */
typedef struct {
    HackTask *reader;
    SchedTask *writers; /* asleep until there is room */
    guint32 n_messages; /* sent and not yet read */
    guint32 first;      /* socket: the oldest in the ring */
    guint64 *message;   /* socket: [capacity]; see hack_message() */
} HackChannel;

/* A quantity over time, within the measured window. Shared. */
typedef struct {
    guint64 value, peak;
    double area; /* value times picoseconds */
    SimTime since;
} HackLevel;

typedef struct {
    guint64 frees, same_cpu_frees; /* messages freed; by the CPU that had allocated them */
} HackCounts;

typedef struct _Hackbench Hackbench;

/* Both run in order, with the call's cost paid. FALSE: the task sleeps and will call again. */
typedef struct {
    gboolean (*write)(Hackbench *hack, SchedCpu *cpu, HackTask *task, HackChannel *channel);
    gboolean (*read)(Hackbench *hack, SchedCpu *cpu, HackTask *task, HackChannel *channel);
} HackTransport;

extern const HackTransport hack_socket_transport; /* hack-socket.c */
extern const HackTransport hack_pipe_transport;   /* hack-pipe.c */

/* The limits of a socket pair, in messages. */
typedef struct {
    guint32 truesize_bytes; /* charged for a message */
    guint32 limit;          /* a writer goes on while fewer are charged */
    guint32 wake_limit;     /* a free that leaves no more than these wakes the writers */
    guint32 capacity;       /* limit, and one more for each writer that raced past it */
} HackSocketLimits;

struct _Hackbench {
    World *world;
    Sched *sched;
    const HackTransport *transport;
    guint n_groups, n_fds, datasize_bytes, page_size_bytes;
    SimTime send_ps, recv_ps;
    guint32 spread_permille;
    HackSocketLimits limits;
    SlubCache *head_cache, *data_cache; /* socket */
    HackTask *task;                     /* [n_tasks] in fork order */
    HackChannel *channel;               /* [n_channels] by group and receiver */
    guint64 *message;                   /* of all channels */
    HackPipe *pipe;                     /* pipe: [n_channels] */
    guint n_tasks, n_channels;
    HackLevel in_flight, blocked_writers;
    HackCounts (*count)[SCHED_N_PHASES]; /* [n_cpus] */
};

/* Bytes of the data object of a message: its class; 0 when the data would go to page fragments. */
guint hack_data_class_bytes(guint datasize_bytes);
HackSocketLimits hack_socket_limits(guint datasize_bytes, guint n_writers);

/* At the CPU's time, in order. */
void hack_level_add(Hackbench *hack, const SchedCpu *cpu, HackLevel *level, gint change);

/* For the transports, in order: a writer, which they have queued, sleeps until there is room; one that they have taken
 * off its queue wakes. */
void hack_block_writer(Hackbench *hack, SchedCpu *cpu, HackTask *task);
void hack_wake_writer(Hackbench *hack, SchedCpu *cpu, SchedTask *writer);

/* In order, after a message has been queued: wakes the reader if it waits for one. */
void hack_wake_reader(SchedCpu *cpu, HackChannel *channel);

/* A message in 8 bytes: the two objects and the CPU that allocated them. */
G_STATIC_ASSERT(2 * SLAB_ID_BITS + 12 == 64 && MACH_MAX_CPUS == 1 << 12);

static inline guint64
hack_message(SlabId head, SlabId data, guint cpu)
{
    return (guint64) head << (SLAB_ID_BITS + 12) | (guint64) data << 12 | cpu;
}

static inline SlabId
hack_message_head(guint64 message)
{
    return (SlabId) (message >> (SLAB_ID_BITS + 12));
}

static inline SlabId
hack_message_data(guint64 message)
{
    return (SlabId) (message >> 12) & (SLAB_ARENA_MAX - 1);
}

static inline guint
hack_message_cpu(guint64 message)
{
    return message & (MACH_MAX_CPUS - 1);
}

#endif
