/* SPDX-License-Identifier: GPL-3.0-or-later */
/* AF_UNIX stream socket pairs, one to each receiver, whose sending end all senders of the group share (slub-facts F.1;
 * net/unix/af_unix.c unix_stream_sendmsg, unix_write_space, unix_stream_read_generic; net/core/sock.c
 * sock_alloc_send_pskb, sock_wfree of 6.1 and 6.12).
 *
 * The charge comes with the queueing, not one copy earlier. Left out: contention of the socket's own locks. */
#include "wl-hackbench.h"

enum {
    /* net.core.wmem_default, 256 sk_buffs of 256 bytes of data: SKB_TRUESIZE(256) * 256 */
    SNDBUF_BYTES = 212992,
    SKB_HEAD_BYTES = 256,        /* sk_buff in truesize */
    SKB_SHARED_INFO_BYTES = 320, /* behind the data */
    CACHE_LINE_BYTES = 64,
    DATA_CLASS_MIN = 512,
    DATA_CLASS_MAX = 4096,
    /* sk_wmem_alloc holds one for the socket and, while sock_wfree() asks whether to wake, one for the message. */
    WMEM_EXTRA_BYTES = 2,
};

guint
hack_data_class_bytes(guint datasize_bytes)
{
    guint bytes = (datasize_bytes + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES + SKB_SHARED_INFO_BYTES;
    guint class_bytes = DATA_CLASS_MIN;

    while (class_bytes < bytes)
        class_bytes *= 2;
    /* Linear data of more than a page's worth is cut into fragments. */
    return class_bytes <= DATA_CLASS_MAX ? class_bytes : 0;
}

HackSocketLimits
hack_socket_limits(guint datasize_bytes, guint n_writers)
{
    HackSocketLimits limits = {.truesize_bytes = hack_data_class_bytes(datasize_bytes) + SKB_HEAD_BYTES};

    limits.limit = (SNDBUF_BYTES - 1) / limits.truesize_bytes + 1;
    limits.wake_limit = (SNDBUF_BYTES / 4 - WMEM_EXTRA_BYTES) / limits.truesize_bytes;
    limits.capacity = limits.limit + n_writers;
    return limits;
}

/* The place of the message behind `n` older ones. */
static guint64 *
ring_slot(const Hackbench *hack, const HackChannel *channel, guint32 n)
{
    guint32 slot = channel->first + n;

    return &channel->message[slot < hack->limits.capacity ? slot : slot - hack->limits.capacity];
}

static gboolean
socket_write(Hackbench *hack, SchedCpu *cpu, HackTask *task, HackChannel *channel)
{
    MachCpu *mach = cpu->mach;
    guint64 *slot;
    SlabId head, data;

    if (channel->n_messages >= hack->limits.limit) {
        /* prepare_to_wait() puts the latest sleeper first. */
        task->task.next = channel->writers;
        channel->writers = &task->task;
        hack_block_writer(hack, cpu, task);
        return FALSE;
    }
    __builtin_prefetch(ring_slot(hack, channel, channel->n_messages), 1); /* most often still the one below */
    head = world_alloc_accounted(hack->world, hack->head_cache, mach);
    data = world_alloc_accounted(hack->world, hack->data_cache, mach);
    sched_sync(cpu);
    g_assert(channel->n_messages < hack->limits.capacity);
    slot = ring_slot(hack, channel, channel->n_messages++);
    *slot = hack_message(head, data, mach->id);
    hack_level_add(hack, cpu, &hack->in_flight, 1);
    hack_wake_reader(cpu, channel);
    return TRUE;
}

/* All at once: nobody joins the queue while it is worked off, since the kernel holds its lock meanwhile. */
static void
wake_writers(Hackbench *hack, SchedCpu *cpu, HackChannel *channel)
{
    SchedTask *writer = channel->writers;

    channel->writers = NULL;
    while (writer) {
        SchedTask *next = writer->next;

        hack_wake_writer(hack, cpu, writer);
        writer = next;
        if (writer)
            sched_sync(cpu);
    }
}

static gboolean
socket_read(Hackbench *hack, SchedCpu *cpu, HackTask *task, HackChannel *channel)
{
    HackCounts *count = &hack->count[cpu->mach->id][cpu->phase];
    guint64 message;

    if (channel->n_messages == 0) {
        sched_sleep(cpu, &task->task);
        return FALSE;
    }
    message = channel->message[channel->first];
    slub_prefetch(hack->data_cache, hack_message_data(message));
    slub_prefetch(hack->head_cache, hack_message_head(message));
    channel->first = channel->first + 1 < hack->limits.capacity ? channel->first + 1 : 0;
    channel->n_messages--;
    hack_level_add(hack, cpu, &hack->in_flight, -1);
    if (channel->writers && channel->n_messages <= hack->limits.wake_limit)
        wake_writers(hack, cpu, channel);
    world_free_accounted(hack->world, hack->data_cache, cpu->mach, hack_message_data(message));
    world_free_accounted(hack->world, hack->head_cache, cpu->mach, hack_message_head(message));
    count->frees++;
    count->same_cpu_frees += hack_message_cpu(message) == cpu->mach->id;
    return TRUE;
}

const HackTransport hack_socket_transport = {.write = socket_write, .read = socket_read};
