/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pipes, one to each receiver: fs/pipe.c pipe_write() and pipe_read() since 5.5. No slab object a message, only pages:
 * a write is merged into the last page when it fits there, else it takes a new page. A writer that found the pipe full
 * waits its turn (exclusive wait); a reader that finds it full wakes one writer, before 6.14 with every read, since
 * then only when it gave up a page; a writer that waited passes the wake-up on while there is room.
 *
 * From memory of the source, not checked for each release. Left out: the pipe's mutex, and the second spare page of
 * 6.15. */
#include "wl-hackbench.h"

static HackPipe *
pipe_of(const Hackbench *hack, const HackChannel *channel)
{
    return &hack->pipe[channel - hack->channel];
}

static gboolean
is_full(const HackPipe *pipe)
{
    return pipe->n_pages == HACK_PIPE_BUFFERS;
}

static void
queue_writer(HackPipe *pipe, HackChannel *channel, SchedTask *writer)
{
    writer->next = NULL;
    if (channel->writers)
        pipe->last_writer->next = writer;
    else
        channel->writers = writer;
    pipe->last_writer = writer;
}

static void
wake_one_writer(Hackbench *hack, SchedCpu *cpu, HackChannel *channel)
{
    SchedTask *writer = channel->writers;

    if (!writer)
        return;
    channel->writers = writer->next;
    hack_wake_writer(hack, cpu, writer);
}

/* The last page if a message may be merged into it. */
static HackPage *
page_with_room(const Hackbench *hack, HackPipe *pipe)
{
    HackPage *page;

    if (pipe->n_pages == 0)
        return NULL;
    page = &pipe->page[(pipe->first + pipe->n_pages - 1) % HACK_PIPE_BUFFERS];
    return page->written_bytes + hack->datasize_bytes <= hack->page_size_bytes ? page : NULL;
}

/* With the time of the page allocator, then in order again: the page is the pipe's spare one unless another writer
 * was faster. */
static void
get_spare_page(Hackbench *hack, SchedCpu *cpu, HackPipe *pipe)
{
    PageAllocator *pages = hack->world->slub->pages;
    gint node = page_alloc(pages, cpu->mach, cpu->mach->mem_node, 0, FALSE);

    sched_sync(cpu);
    if (pipe->spare_node == HACK_NO_NODE) {
        pipe->spare_node = node;
        return;
    }
    page_free(pages, cpu->mach, (guint) node, 0);
    sched_sync(cpu);
}

static HackPage *
add_page(HackPipe *pipe)
{
    HackPage *page = &pipe->page[(pipe->first + pipe->n_pages++) % HACK_PIPE_BUFFERS];

    *page = (HackPage){.node = pipe->spare_node};
    pipe->spare_node = HACK_NO_NODE;
    return page;
}

static gboolean
pipe_write(Hackbench *hack, SchedCpu *cpu, HackTask *task, HackChannel *channel)
{
    HackPipe *pipe = pipe_of(hack, channel);
    HackPage *page;

    while (!(page = task->has_waited ? NULL : page_with_room(hack, pipe))) {
        if (is_full(pipe)) {
            queue_writer(pipe, channel, &task->task);
            hack_block_writer(hack, cpu, task);
            return FALSE;
        }
        if (pipe->spare_node != HACK_NO_NODE) {
            page = add_page(pipe);
            break;
        }
        get_spare_page(hack, cpu, pipe);
    }
    page->written_bytes += hack->datasize_bytes;
    page->n_unread++;
    channel->n_messages++;
    hack_level_add(hack, cpu, &hack->in_flight, 1);
    hack_wake_reader(cpu, channel);
    if (task->has_waited) {
        sched_sync(cpu);
        if (!is_full(pipe))
            wake_one_writer(hack, cpu, channel);
    }
    return TRUE;
}

static gboolean
pipe_read(Hackbench *hack, SchedCpu *cpu, HackTask *task, HackChannel *channel)
{
    HackPipe *pipe = pipe_of(hack, channel);
    HackPage *page = &pipe->page[pipe->first];
    gboolean was_full = is_full(pipe), is_released;
    gint unused_node = HACK_NO_NODE;

    if (channel->n_messages == 0) {
        sched_sleep(cpu, &task->task);
        return FALSE;
    }
    channel->n_messages--;
    hack_level_add(hack, cpu, &hack->in_flight, -1);
    is_released = --page->n_unread == 0;
    if (is_released) {
        pipe->first = (pipe->first + 1) % HACK_PIPE_BUFFERS;
        pipe->n_pages--;
        if (pipe->spare_node == HACK_NO_NODE)
            pipe->spare_node = page->node;
        else
            unused_node = page->node;
    }
    if (was_full && (is_released || hack->world->slub->kernel < SLAB_KERNEL(6, 14)))
        wake_one_writer(hack, cpu, channel);
    if (unused_node != HACK_NO_NODE)
        page_free(hack->world->slub->pages, cpu->mach, (guint) unused_node, 0);
    return TRUE;
}

const HackTransport hack_pipe_transport = {.write = pipe_write, .read = pipe_read};
