/* fiber.c - each node's elector as a coroutine, so that the real, straight-line code can wait. */
#include "sim.h"
#include <stdlib.h>
#include <ucontext.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define CLEAN_STACK(p, n) __asan_unpoison_memory_region(p, n)
#else
#define CLEAN_STACK(p, n) ((void)0)
#endif

#define STACK (256 * 1024)

struct fiber {
	ucontext_t context;
	char *stack;
	void (*run)(struct node *);
	bool over;
};

static struct fiber fibers[NODES];
static ucontext_t world;
static struct node *current;

struct node *fiber_node(void)
{
	return current;
}

static void enter(void)
{
	struct node *n = current;

	n->fiber->run(n);
	n->fiber->over = true;
	(void)swapcontext(&n->fiber->context, &world);
}

void fiber_start(struct node *n, void (*run)(struct node *))
{
	struct fiber *f = &fibers[n->index];

	if (f->stack == NULL)
		f->stack = malloc(STACK);
	if (f->stack == NULL)
		abort();
	CLEAN_STACK(f->stack, STACK);
	(void)getcontext(&f->context);
	f->context.uc_stack.ss_sp = f->stack;
	f->context.uc_stack.ss_size = STACK;
	f->context.uc_link = NULL;
	f->run = run;
	f->over = false;
	n->fiber = f;
	makecontext(&f->context, enter, 0);
}

/* The stack is left as it is: a process that was killed does not return from anything. */
void fiber_drop(struct node *n)
{
	n->fiber = NULL;
}

void fiber_resume(struct node *n)
{
	struct fiber *f = n->fiber;

	current = n;
	(void)swapcontext(&world, &f->context);
	current = NULL;
	if (f->over && n->fiber == f)
		n->fiber = NULL;
}

/* Runs at a time that a busy machine chooses. */
static void wake_at(struct node *n, int64_t at)
{
	if (n->wake_at <= at)
		return;
	n->wake_at = at;
	n->wake_serial = ++sim.serials;
	schedule(at, EV_ELECTOR, n->index, n->wake_serial);
}

void node_wake(struct node *n)
{
	if (n->fiber == NULL || n == current)
		return;
	wake_at(n, sim.now + (n->elector_lag > 0 ? between(0, n->elector_lag) : between(1, 20)));
}

void node_run(struct node *n)
{
	if (n->fiber == NULL)
		return;
	if (n->stopped || n->frozen) {
		n->woken = true;
		n->wake_at = FOREVER;
		return;
	}
	n->wake_at = FOREVER;
	fiber_resume(n);
}

void fiber_wait(int64_t until)
{
	struct node *n = current;

	if (until != FOREVER)
		wake_at(n, until + (n->elector_lag > 0 ? between(0, n->elector_lag) : 0));
	(void)swapcontext(&n->fiber->context, &world);
}

void fiber_stall(void)
{
	struct node *n = current;
	int64_t end;

	if (n == NULL || n->elector_lag == 0 || !chance(30))
		return;
	end = sim.now + between(0, n->elector_lag);
	while (sim.now < end)
		fiber_wait(end);
}
