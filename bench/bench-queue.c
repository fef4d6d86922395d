/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hold model of the event queue: take the earliest, put it back later by a random time. The engine's step agents
 * beside a bare tournament tree, and beside the heaps that the tree was chosen over. */
#include "bench.h"
#include "sim-engine.h"

#include <string.h>

enum { N_HOLDS = 200000, N_DELAYS = 1 << 16 };

static gint64 delay[N_DELAYS];
static guint32 next_delay;

static inline gint64
draw_delay(void)
{
    return delay[next_delay++ % N_DELAYS];
}

typedef struct {
    gint64 time;
    guint64 id;
} Item;

static inline gboolean
item_is_before(Item a, Item b)
{
    return a.time < b.time || (a.time == b.time && a.id < b.id);
}

/* Tree: item[1] the root, item[n + i] the leaf of i. Heaps: item[0 .. n-1]. */
typedef struct {
    Item *item;
    guint32 n;
} Queue;

static void
tree_hold(void *data)
{
    Queue *queue = data;
    Item *item = queue->item;

    for (guint i = 0; i < N_HOLDS; i++) {
        Item winner = item[1];
        guint32 position = queue->n + (guint32) winner.id;

        winner.time += draw_delay();
        item[position] = winner;
        for (; position > 1; position /= 2) {
            Item sibling = item[position ^ 1];
            /* All ones when the sibling wins; a branch would be guessed wrong half of the time. */
            guint64 lost = (guint64) ((sibling.time - winner.time - (gint64) (position & 1)) >> 63);
            winner.time = MIN(winner.time, sibling.time);
            winner.id ^= (winner.id ^ sibling.id) & lost;
            item[position / 2] = winner;
        }
    }
}

static inline void
heap_hold(Queue *queue, guint32 arity)
{
    Item *item = queue->item;

    for (guint i = 0; i < N_HOLDS; i++) {
        Item moved = item[0];
        guint32 position = 0;

        moved.time += draw_delay();
        for (;;) {
            guint32 first = arity * position + 1, end = MIN(first + arity, queue->n), best = first;
            if (first >= queue->n)
                break;
            for (guint32 child = first + 1; child < end; child++)
                best = item_is_before(item[child], item[best]) ? child : best;
            if (!item_is_before(item[best], moved))
                break;
            item[position] = item[best];
            position = best;
        }
        item[position] = moved;
    }
}

static void
binary_heap_hold(void *data)
{
    heap_hold(data, 2);
}

static void
four_ary_heap_hold(void *data)
{
    heap_hold(data, 4);
}

static void
hold_step(SimEngine *engine, SimAgent *agent)
{
    sim_wake(engine, agent, agent->now + draw_delay());
}

/* Runs for about N_HOLDS events: their rate is n over the mean delay. */
static void
engine_hold(void *data)
{
    SimEngine *engine = data;
    SimTime span = (SimTime) N_HOLDS * (delay[0] / 2 * 2 + 1) / engine->n_agents;

    sim_engine_run(engine, engine->until + span);
}

/* The first delay is the mean, for engine_hold(). */
static void
fill_delays(void)
{
    gint64 sum = 0;
    guint64 state = 1;

    for (guint i = 0; i < N_DELAYS; i++) {
        state = state * G_GUINT64_CONSTANT(6364136223846793005) + 1442695040888963407;
        delay[i] = 1 + (gint64) (state >> 44);
        sum += delay[i];
    }
    delay[0] = sum / N_DELAYS;
}

static Queue
queue_new(guint32 n, gboolean is_tree)
{
    Queue queue = {g_new0(Item, 2 * n), n};
    Item *leaf = queue.item + (is_tree ? n : 0);

    for (guint32 i = 0; i < n; i++)
        leaf[i] = (Item){is_tree ? 0 : (gint64) i, i}; /* equal or rising: both are in order as they stand */
    if (is_tree)
        for (guint32 i = n - 1; i > 0; i--)
            queue.item[i] = queue.item[2 * i];
    return queue;
}

static void
bench_size(guint32 n)
{
    static const struct {
        const char *name;
        BenchFn hold;
        gboolean is_tree;
    } bare[] = {{"bare 4-ary heap", four_ary_heap_hold, FALSE}, {"bare binary heap", binary_heap_hold, FALSE}};
    g_autoptr(SimEngine) engine = sim_engine_new(n);
    Queue tree = queue_new(n, TRUE);
    double engine_ns, tree_ns;
    guint64 n_events;

    for (guint32 id = 0; id < n; id++)
        sim_wake(engine, sim_engine_add_step(engine, id, hold_step, NULL), 0);
    engine_hold(engine);
    tree_hold(&tree);
    n_events = engine->n_events;
    bench_pair_ns(engine_hold, engine, tree_hold, &tree, N_HOLDS, &engine_ns, &tree_ns);
    engine_ns *= (double) N_HOLDS * BENCH_ROUNDS / (double) (engine->n_events - n_events);
    g_autofree char *name = g_strdup_printf("engine step agents, %u pending", n);
    bench_print_row(name, "ns", engine_ns, tree_ns, 1.3);
    for (guint i = 0; i < G_N_ELEMENTS(bare); i++) {
        g_autofree char *row = g_strdup_printf("%s, %u pending", bare[i].name, n);
        Queue heap = queue_new(n, bare[i].is_tree);
        double heap_ns;
        bench_pair_ns(bare[i].hold, &heap, tree_hold, &tree, N_HOLDS, &heap_ns, &tree_ns);
        bench_print_row(row, "ns", heap_ns, tree_ns, 0);
        g_free(heap.item);
    }
    g_free(tree.item);
}

int
main(void)
{
    static const guint32 sizes[] = {16, 256, 4096, 65536};

    fill_delays();
    bench_print_head("hold model (reference: bare tournament tree)");
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
        bench_size(sizes[i]);
    return 0;
}
