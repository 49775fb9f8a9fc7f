// A stand-in for libcuda, for tests on machines without a GPU. Device memory is host memory. Each stream has a thread, which runs
// copies itself and passes kernels to a function of the test. The stand-in checks handles, contexts, ranges and pinned memory more
// strictly than a driver, counts objects, and fails calls on request. It is not optimized.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int status;
typedef uint64_t pointer;
enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_CONTEXT = 201, INVALID_PTX = 218, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700, ALREADY_REGISTERED = 712 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;

// Settings of tests.
static int devices = 1, capability = 80, initial = OK, managed = 1, pools = 1, instance = 0, units = 2, best = 1024;
static status (*run)(const char *image, const char *name, const uint32_t *dims, const void *params, size_t size);
static status (*check)(const char *image, char *log, size_t size);
static char failing[64];
static status failure;
static int failing_after;

// Counters for tests.
static char trace[1 << 20];
static size_t traced;
static int wrong; // number of calls with undefined or invalid arguments
static char reason[256];

static status sticky;          // the error that all later calls return
static int live[8];            // objects by kind
enum { CONTEXTS, STREAMS, EVENTS, BLOCKS, MODULES, POOLS };

static void count(int kind, int n) { __atomic_fetch_add(&live[kind], n, __ATOMIC_RELAXED); }

static status bad(const char *what) {
	pthread_mutex_lock(&lock);
	if (!wrong++) snprintf(reason, sizeof reason, "%s", what);
	pthread_mutex_unlock(&lock);
	return INVALID_VALUE;
}

// enter records a call and returns the failure that a test requested.
static status enter(const char *name) {
	pthread_mutex_lock(&lock);
	size_t n = strlen(name);
	if (strcmp(name, "cuEventQuery") && traced + n + 1 < sizeof trace) {
		memcpy(trace + traced, name, n);
		trace[traced + n] = '\n';
		traced += n + 1;
	}
	status s = OK;
	if (!strcmp(name, failing) && failing_after-- == 0) {
		s = failure;
		failing[0] = 0;
		if (s >= 700 && s < 720) sticky = s;
	}
	pthread_mutex_unlock(&lock);
	return s;
}

// Contexts: one for each device, current on a thread by a stack.
struct context { int device, users; };
static struct context contexts[8];
static __thread struct context *stack[64];
static __thread int height;

static status ready(const char *name) {
	status s = enter(name);
	if (s) return s;
	if (sticky) return sticky;
	if (height == 0) { bad(name); return INVALID_CONTEXT; }
	return stack[height - 1]->users > 0 ? OK : INVALID_CONTEXT;
}

// Memory.
struct block { uint64_t at; size_t size; int host; struct block *next; };
static struct block *blocks;

static struct block *find(uint64_t at, size_t size) { // the lock is held
	for (struct block *b = blocks; b; b = b->next)
		if (at >= b->at && at - b->at <= b->size && size <= b->size - (at - b->at)) return b;
	return NULL;
}

static int valid(uint64_t at, size_t size, int host) {
	pthread_mutex_lock(&lock);
	struct block *b = find(at, size);
	pthread_mutex_unlock(&lock);
	return b && (!host || b->host);
}

static status allocate(pointer *p, size_t size, int host) {
	if (size == 0) return INVALID_VALUE;
	if (size > (size_t)1 << 33) return OUT_OF_MEMORY;
	void *m;
	if (posix_memalign(&m, 512, (size + 511) / 512 * 512)) return OUT_OF_MEMORY;
	if (size < 1 << 20) memset(m, 0xa7, size);
	struct block *b = malloc(sizeof *b);
	pthread_mutex_lock(&lock);
	*b = (struct block){(uint64_t)m, size, host, blocks};
	blocks = b;
	count(BLOCKS, 1);
	pthread_mutex_unlock(&lock);
	*p = b->at;
	return OK;
}

static status release(pointer p, int host) {
	pthread_mutex_lock(&lock);
	for (struct block **b = &blocks; *b; b = &(*b)->next) {
		if ((*b)->at != p || (*b)->host != host) continue;
		struct block *old = *b;
		*b = old->next;
		count(BLOCKS, -1);
		pthread_mutex_unlock(&lock);
		if (host != 2) free((void *)old->at); // else it is the caller's
		free(old);
		return OK;
	}
	pthread_mutex_unlock(&lock);
	return bad("memory that was freed, or is of another kind");
}

// Streams.
struct event { uint32_t flags; uint64_t asked, reached; double time; };
struct module { char *image; };
struct function { struct module *module; char name[256]; };
struct operation {
	enum { COPY, SET, BOX, KERNEL, EVENT, FREE } kind;
	uint64_t to, from;
	size_t size, n, pitch;
	uint32_t value;
	uint64_t box[12];
	struct function *function;
	uint32_t dims[6];
	void *params;
	struct event *event;
	uint64_t ticket;
	struct operation *next;
};
struct stream { struct operation *first, **last; int busy, ends; pthread_t thread; pthread_cond_t more; };

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int kernels; // number of running kernels

static void perform(struct operation *o) {
	status s = OK;
	switch (o->kind) {
	case COPY:
		if (!valid(o->to, o->size, 0) || !valid(o->from, o->size, 0)) s = ILLEGAL_ADDRESS;
		else memmove((void *)o->to, (void *)o->from, o->size);
		break;
	case SET:
		if (!valid(o->to, (o->n - 1) * o->pitch + o->size, 0)) { s = ILLEGAL_ADDRESS; break; }
		for (size_t i = 0; i < o->n; i++) memcpy((char *)o->to + i * o->pitch, &o->value, o->size);
		break;
	case BOX: {
		uint64_t *b = o->box, width = b[6], height = b[7], depth = b[8];
		if (!valid(b[0], ((depth - 1) * b[2] + height - 1) * b[1] + width, 0) || !valid(b[3], ((depth - 1) * b[5] + height - 1) * b[4] + width, 0)) { s = ILLEGAL_ADDRESS; break; }
		for (uint64_t z = 0; z < depth; z++)
			for (uint64_t y = 0; y < height; y++)
				memcpy((char *)b[3] + (z * b[5] + y) * b[4], (char *)b[0] + (z * b[2] + y) * b[1], width);
		break;
	}
	case KERNEL:
		pthread_mutex_lock(&lock);
		kernels++;
		pthread_mutex_unlock(&lock);
		s = run ? run(o->function->module->image, o->function->name, o->dims, o->params, o->size) : NOT_FOUND;
		break;
	case FREE:
		s = release(o->to, 0);
		break;
	case EVENT:
		break;
	}
	pthread_mutex_lock(&lock);
	if (o->kind == KERNEL) kernels--;
	if (o->kind == EVENT) {
		o->event->time = now();
		if (o->ticket > o->event->reached) o->event->reached = o->ticket;
	}
	if (s && !sticky) sticky = s;
	pthread_mutex_unlock(&lock);
}

static void *work(void *p) {
	struct stream *s = p;
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!s->first && !s->ends) pthread_cond_wait(&s->more, &lock);
		if (!s->first) break;
		struct operation *o = s->first;
		s->busy = 1;
		int skip = sticky != OK && o->kind != FREE;
		pthread_mutex_unlock(&lock);
		if (!skip) perform(o);
		free(o->params);
		pthread_mutex_lock(&lock);
		s->first = o->next;
		if (!s->first) s->last = &s->first;
		s->busy = 0;
		free(o);
		pthread_cond_broadcast(&change);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static status enqueue(struct stream *s, struct operation o) {
	if (!s) return bad("the default stream");
	struct operation *p = malloc(sizeof *p);
	*p = o;
	p->next = NULL;
	pthread_mutex_lock(&lock);
	*s->last = p;
	s->last = &p->next;
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&lock);
	return OK;
}

#define CALL status __attribute__((visibility("default")))
#define READY(name) do { status r_ = ready(#name); if (r_) return r_; } while (0)

CALL cuInit(unsigned flags) { status s = enter("cuInit"); return s ? s : flags ? INVALID_VALUE : initial; }
CALL cuDriverGetVersion(int *v) { *v = 12040; return enter("cuDriverGetVersion"); }
CALL cuDeviceGetCount(int *n) { *n = devices; return enter("cuDeviceGetCount"); }
CALL cuDeviceGet(int *d, int n) { *d = n; return n < devices ? enter("cuDeviceGet") : 101; }
CALL cuDeviceGetName(char *text, int size, int d) { snprintf(text, size, "Stand-in %d", d); return enter("cuDeviceGetName"); }
CALL cuDeviceGetUuid(unsigned char *u, int d) { for (int i = 0; i < 16; i++) u[i] = i * 17 + d; return enter("cuDeviceGetUuid"); }
CALL cuDeviceGetUuid_v2(unsigned char *u, int d) { for (int i = 0; i < 16; i++) u[i] = i * 17 + d + 100 * instance; return enter("cuDeviceGetUuid_v2"); }
CALL cuDeviceTotalMem_v2(size_t *n, int d) { *n = (size_t)8 << 30; return enter("cuDeviceTotalMem"); }
CALL cuDeviceGetAttribute(int *n, int a, int d) {
	static const int values[][2] = {{1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, 0x7fffffff}, {6, 65535}, {7, 65535}, {8, 49152}, {10, 32}, {12, 65536}, {13, 1410000}, {19, 1},
		{33, 1}, {34, 0}, {36, 1215000}, {37, 5120}, {38, 41943040}, {39, 2048}, {41, 1}};
	*n = 0;
	for (unsigned i = 0; i < sizeof values / sizeof *values; i++) if (values[i][0] == a) *n = values[i][1];
	if (a == 16) *n = units;
	if (a == 75) *n = capability / 10;
	if (a == 76) *n = capability % 10;
	if (a == 89) *n = managed;
	if (a == 115) *n = pools;
	return OK;
}
CALL cuDevicePrimaryCtxRetain(struct context **c, int d) {
	status s = enter("cuDevicePrimaryCtxRetain");
	if (s) return s;
	*c = &contexts[d];
	(*c)->device = d;
	__atomic_fetch_add(&(*c)->users, 1, __ATOMIC_RELAXED);
	count(CONTEXTS, 1);
	return OK;
}
CALL cuDevicePrimaryCtxRelease_v2(int d) { __atomic_fetch_add(&contexts[d].users, -1, __ATOMIC_RELAXED); count(CONTEXTS, -1); return enter("cuDevicePrimaryCtxRelease"); }
CALL cuDevicePrimaryCtxReset_v2(int d) { return bad("a reset of the primary context"); }
CALL cuCtxPushCurrent_v2(struct context *c) { if (height == 64) return bad("too many contexts"); stack[height++] = c; return OK; }
CALL cuCtxPopCurrent_v2(struct context **c) { if (height == 0) return bad("no context to pop"); *c = stack[--height]; return OK; }

CALL cuStreamCreate(struct stream **p, unsigned flags) {
	READY(cuStreamCreate);
	if (flags != 1) return bad("a stream that waits for the default stream");
	struct stream *s = *p = calloc(1, sizeof *s);
	s->last = &s->first;
	pthread_cond_init(&s->more, NULL);
	count(STREAMS, 1);
	return pthread_create(&s->thread, NULL, work, s) ? OUT_OF_MEMORY : OK;
}
CALL cuStreamDestroy_v2(struct stream *s) {
	READY(cuStreamDestroy);
	pthread_mutex_lock(&lock);
	s->ends = 1;
	pthread_cond_signal(&s->more);
	count(STREAMS, -1);
	pthread_mutex_unlock(&lock);
	pthread_join(s->thread, NULL);
	free(s);
	return OK;
}
CALL cuStreamSynchronize(struct stream *s) {
	READY(cuStreamSynchronize);
	pthread_mutex_lock(&lock);
	while (s->first) pthread_cond_wait(&change, &lock);
	pthread_mutex_unlock(&lock);
	return sticky;
}
CALL cuStreamWaitEvent(struct stream *s, struct event *e, unsigned flags) { READY(cuStreamWaitEvent); return bad("not in the stand-in"); }

CALL cuEventCreate(struct event **p, unsigned flags) {
	READY(cuEventCreate);
	*p = calloc(1, sizeof **p);
	(*p)->flags = flags;
	count(EVENTS, 1);
	return OK;
}
CALL cuEventDestroy_v2(struct event *e) { READY(cuEventDestroy); count(EVENTS, -1); return OK; } // not freed, since streams may still write the event
CALL cuEventRecord(struct event *e, struct stream *s) {
	READY(cuEventRecord);
	pthread_mutex_lock(&lock);
	uint64_t ticket = ++e->asked;
	pthread_mutex_unlock(&lock);
	return enqueue(s, (struct operation){.kind = EVENT, .event = e, .ticket = ticket});
}
CALL cuEventQuery(struct event *e) {
	READY(cuEventQuery);
	pthread_mutex_lock(&lock);
	int done = e->reached == e->asked;
	pthread_mutex_unlock(&lock);
	return done ? OK : NOT_READY;
}
CALL cuEventElapsedTime(float *ms, struct event *a, struct event *b) {
	READY(cuEventElapsedTime);
	if ((a->flags | b->flags) & 2) return bad("the time of an event without times");
	if (a->reached != a->asked || b->reached != b->asked) return NOT_READY;
	*ms = b->time - a->time;
	return OK;
}

CALL cuMemAlloc_v2(pointer *p, size_t size) { READY(cuMemAlloc); return allocate(p, size, 0); }
CALL cuMemFree_v2(pointer p) { READY(cuMemFree); return release(p, 0); }
CALL cuMemAllocManaged(pointer *p, size_t size, unsigned flags) { READY(cuMemAllocManaged); return flags == 1 ? allocate(p, size, 0) : INVALID_VALUE; }
CALL cuMemHostAlloc(void **p, size_t size, unsigned flags) { READY(cuMemHostAlloc); return flags == 3 ? allocate((pointer *)p, size, 1) : bad("host memory that is not mapped"); }
CALL cuMemHostGetDevicePointer_v2(pointer *p, void *host, unsigned flags) { READY(cuMemHostGetDevicePointer); *p = (pointer)host; return valid(*p, 1, 1) ? OK : bad("no host memory"); }
CALL cuMemFreeHost(void *p) { READY(cuMemFreeHost); return release((pointer)p, 1); }

CALL cuMemHostRegister_v2(void *p, size_t size, unsigned flags) {
	READY(cuMemHostRegister);
	if (flags != 1 || !p || !size) return bad("a registration of no memory");
	pthread_mutex_lock(&lock);
	for (struct block *b = blocks; b; b = b->next)
		if (b->at < (pointer)p + size && (pointer)p < b->at + b->size) { pthread_mutex_unlock(&lock); return ALREADY_REGISTERED; }
	struct block *b = malloc(sizeof *b);
	*b = (struct block){(pointer)p, size, 2, blocks};
	blocks = b;
	count(BLOCKS, 1);
	pthread_mutex_unlock(&lock);
	return OK;
}
CALL cuMemHostUnregister(void *p) { READY(cuMemHostUnregister); return release((pointer)p, 2); }

struct properties { int kind, handles, location, id; };
CALL cuMemPoolCreate(void **p, const struct properties *q) {
	READY(cuMemPoolCreate);
	if (q->kind != 1 || q->location != 1 || q->id >= devices) return bad("properties of a pool");
	*p = malloc(8);
	count(POOLS, 1);
	return OK;
}
CALL cuMemPoolDestroy(void *p) { READY(cuMemPoolDestroy); free(p); count(POOLS, -1); return OK; }
CALL cuMemPoolSetAttribute(void *p, int a, void *v) { READY(cuMemPoolSetAttribute); return a == 4 ? OK : INVALID_VALUE; }
CALL cuMemAllocFromPoolAsync(pointer *p, size_t size, void *pool, struct stream *s) { READY(cuMemAllocFromPoolAsync); return pool && s ? allocate(p, size, 0) : bad("no pool"); }
CALL cuMemFreeAsync(pointer p, struct stream *s) { READY(cuMemFreeAsync); return enqueue(s, (struct operation){.kind = FREE, .to = p}); }

static status copy(uint64_t to, uint64_t from, size_t n, int to_host, int from_host, struct stream *s) {
	if (n == 0) return bad("an empty copy");
	if (!valid(to, n, to_host) || !valid(from, n, from_host)) return bad(to_host || from_host ? "a copy of memory that is not pinned" : "a copy outside of memory");
	return enqueue(s, (struct operation){.kind = COPY, .to = to, .from = from, .size = n});
}
CALL cuMemcpyHtoDAsync_v2(pointer to, void *from, size_t n, struct stream *s) { READY(cuMemcpyHtoDAsync); return copy(to, (uint64_t)from, n, 0, 1, s); }
CALL cuMemcpyDtoHAsync_v2(void *to, pointer from, size_t n, struct stream *s) { READY(cuMemcpyDtoHAsync); return copy((uint64_t)to, from, n, 1, 0, s); }
CALL cuMemcpyDtoDAsync_v2(pointer to, pointer from, size_t n, struct stream *s) { READY(cuMemcpyDtoDAsync); return copy(to, from, n, 0, 0, s); }

struct box {
	size_t srcX, srcY, srcZ, srcLOD; uint32_t srcKind; const void *srcHost; pointer srcDevice; void *srcArray, *reserved0; size_t srcPitch, srcHeight;
	size_t dstX, dstY, dstZ, dstLOD; uint32_t dstKind; void *dstHost; pointer dstDevice; void *dstArray, *reserved1; size_t dstPitch, dstHeight;
	size_t width, height, depth;
};
CALL cuMemcpy3DAsync_v2(const struct box *b, struct stream *s) {
	READY(cuMemcpy3DAsync);
	if (b->srcX | b->srcY | b->srcZ | b->dstX | b->dstY | b->dstZ || b->reserved0 || b->reserved1) return bad("an origin");
	if (b->srcPitch < b->width || b->dstPitch < b->width || b->depth > 1 && (b->srcHeight < b->height || b->dstHeight < b->height)) return bad("a pitch");
	if (!b->width || !b->height || !b->depth) return bad("an empty box");
	if (b->srcKind - 1 > 1 || b->dstKind - 1 > 1) return bad("a kind of memory");
	uint64_t from = b->srcKind == 1 ? (uint64_t)b->srcHost : b->srcDevice, to = b->dstKind == 1 ? (uint64_t)b->dstHost : b->dstDevice;
	size_t fromSize = ((b->depth - 1) * b->srcHeight + b->height - 1) * b->srcPitch + b->width, toSize = ((b->depth - 1) * b->dstHeight + b->height - 1) * b->dstPitch + b->width;
	if (!valid(from, fromSize, b->srcKind == 1) || !valid(to, toSize, b->dstKind == 1)) return bad("a box outside of memory");
	return enqueue(s, (struct operation){.kind = BOX, .box = {from, b->srcPitch, b->srcHeight, to, b->dstPitch, b->dstHeight, b->width, b->height, b->depth}});
}

static status set(pointer to, size_t pitch, uint32_t value, size_t size, size_t n, struct stream *s) {
	if (n == 0 || to % size || !valid(to, (n - 1) * pitch + size, 0)) return bad("a fill outside of memory");
	return enqueue(s, (struct operation){.kind = SET, .to = to, .value = value, .size = size, .n = n, .pitch = pitch});
}
CALL cuMemsetD8Async(pointer to, unsigned char v, size_t n, struct stream *s) { READY(cuMemsetD8Async); return set(to, 1, v, 1, n, s); }
CALL cuMemsetD16Async(pointer to, unsigned short v, size_t n, struct stream *s) { READY(cuMemsetD16Async); return set(to, 2, v, 2, n, s); }
CALL cuMemsetD32Async(pointer to, unsigned v, size_t n, struct stream *s) { READY(cuMemsetD32Async); return set(to, 4, v, 4, n, s); }
CALL cuMemsetD2D32Async(pointer to, size_t pitch, unsigned v, size_t width, size_t n, struct stream *s) {
	READY(cuMemsetD2D32Async);
	return width == 1 && pitch >= 4 && pitch % 4 == 0 ? set(to, pitch, v, 4, n, s) : bad("a fill of columns");
}

CALL cuModuleLoadDataEx(struct module **p, const char *image, unsigned n, int *options, void **values) {
	READY(cuModuleLoadDataEx);
	char *log = NULL;
	size_t size = 0;
	for (unsigned i = 0; i < n; i++) {
		if (options[i] == 5) log = values[i];
		if (options[i] == 6) size = (size_t)values[i];
	}
	if (!log || !size) return bad("no room for the log");
	status s = check ? check(image, log, size) : OK;
	if (s) return s;
	pthread_mutex_lock(&lock);
	while (kernels) pthread_cond_wait(&change, &lock); // as the driver loads code
	pthread_mutex_unlock(&lock);
	*p = malloc(sizeof **p);
	(*p)->image = strdup(image);
	count(MODULES, 1);
	return OK;
}
CALL cuModuleUnload(struct module *m) { READY(cuModuleUnload); count(MODULES, -1); free(m->image); m->image = NULL; return OK; }
CALL cuModuleGetFunction(struct function **f, struct module *m, const char *name) {
	READY(cuModuleGetFunction);
	char text[300];
	snprintf(text, sizeof text, ".entry %s(", name);
	if (!strstr(m->image, text)) return NOT_FOUND;
	*f = calloc(1, sizeof **f); // never freed
	(*f)->module = m;
	snprintf((*f)->name, sizeof (*f)->name, "%s", name);
	return OK;
}
CALL cuModuleGetGlobal_v2(pointer *p, size_t *n, struct module *m, const char *name) { READY(cuModuleGetGlobal); return NOT_FOUND; }
CALL cuModuleGetLoadingMode(int *mode) { *mode = 2; return enter("cuModuleGetLoadingMode"); }
CALL cuOccupancyMaxPotentialBlockSize(int *groups, int *items, struct function *f, void *shared, size_t bytes, int limit) {
	READY(cuOccupancyMaxPotentialBlockSize);
	if (!f || !f->module->image || shared || bytes) return bad("the occupancy of no kernel");
	*items = limit && limit < best ? limit : best;
	*groups = 2;
	return OK;
}
CALL cuOccupancyMaxActiveBlocksPerMultiprocessor(int *groups, struct function *f, int items, size_t shared) {
	READY(cuOccupancyMaxActiveBlocksPerMultiprocessor);
	if (!f || !f->module->image || items < 1) return bad("the occupancy of no kernel");
	*groups = 2048 / items;
	if (shared && *groups > 49152 / shared) *groups = 49152 / shared;
	return OK;
}
CALL cuFuncGetAttribute(int *n, int a, struct function *f) { READY(cuFuncGetAttribute); *n = a == 0 ? 1024 : a == 4 ? 32 : 0; return OK; }
CALL cuLaunchKernel(struct function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, struct stream *s, void **params, void **extra) {
	READY(cuLaunchKernel);
	if (params || !extra || extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4]) return bad("no argument block");
	if (!f->module->image) return bad("a kernel of a module that was unloaded");
	if (!gx || !gy || !gz || gy > 65535 || gz > 65535 || !bx || !by || !bz || (uint64_t)bx * by * bz > 1024) return bad("a grid");
	struct operation o = {.kind = KERNEL, .function = f, .dims = {gx, gy, gz, bx, by, bz}, .size = *(size_t *)extra[3]};
	o.params = malloc(o.size + 1);
	memcpy(o.params, extra[1], o.size);
	return enqueue(s, o);
}

// cuGetProcAddress_v2 returns the newest function for the caller's version.
static const struct { const char *name; void *at; } functions[] = {
#define F(name) {#name, name}
#define F2(name) {#name, name##_v2}
	F(cuInit), F(cuDriverGetVersion), F(cuDeviceGetCount), F(cuDeviceGet), F(cuDeviceGetName), F(cuDeviceGetUuid), F2(cuDeviceTotalMem), F(cuDeviceGetAttribute),
	F(cuDevicePrimaryCtxRetain), F2(cuDevicePrimaryCtxRelease), F2(cuCtxPushCurrent), F2(cuCtxPopCurrent), F(cuStreamCreate), F2(cuStreamDestroy), F(cuStreamSynchronize),
	F(cuStreamWaitEvent), F(cuEventCreate), F2(cuEventDestroy), F(cuEventRecord), F(cuEventQuery), F(cuEventElapsedTime), F2(cuMemAlloc), F2(cuMemFree), F(cuMemAllocManaged),
	F(cuMemHostAlloc), F2(cuMemHostGetDevicePointer), F(cuMemFreeHost), F2(cuMemHostRegister), F(cuMemHostUnregister), F2(cuMemcpyHtoDAsync), F2(cuMemcpyDtoHAsync), F2(cuMemcpyDtoDAsync), F2(cuMemcpy3DAsync),
	F(cuMemsetD8Async), F(cuMemsetD16Async), F(cuMemsetD32Async), F(cuMemsetD2D32Async), F(cuModuleLoadDataEx), F(cuModuleUnload), F(cuModuleGetFunction), F2(cuModuleGetGlobal),
	F(cuFuncGetAttribute), F(cuLaunchKernel), F(cuOccupancyMaxPotentialBlockSize), F(cuOccupancyMaxActiveBlocksPerMultiprocessor), F(cuModuleGetLoadingMode), F(cuMemPoolCreate), F(cuMemPoolDestroy), F(cuMemPoolSetAttribute), F(cuMemAllocFromPoolAsync), F(cuMemFreeAsync),
};
CALL cuGetProcAddress_v2(const char *name, void **at, int version, uint64_t flags, int *result) {
	*at = NULL;
	if (version < 11000 || flags) return INVALID_VALUE;
	for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
		if (!strcmp(functions[i].name, name)) *at = functions[i].at;
	return *at ? OK : NOT_FOUND;
}

// Functions for tests.
CALL standin_set(const char *what, int n) {
	if (!strcmp(what, "devices")) devices = n;
	if (!strcmp(what, "capability")) capability = n;
	if (!strcmp(what, "instance")) instance = n;
	if (!strcmp(what, "units")) units = n;
	if (!strcmp(what, "best")) best = n;
	if (!strcmp(what, "init")) initial = n;
	if (!strcmp(what, "managed")) managed = n;
	if (!strcmp(what, "pools")) pools = n;
	if (!strcmp(what, "recover")) { memset(live, 0, sizeof live); sticky = OK; wrong = 0; reason[0] = 0; traced = 0; }
	return OK;
}
CALL standin_run(void *kernel, void *image) { run = kernel; check = image; return OK; }
CALL standin_fail(const char *name, int s, int after) { snprintf(failing, sizeof failing, "%s", name); failure = s; failing_after = after; return OK; }
CALL standin_live(int kind) { return __atomic_load_n(&live[kind], __ATOMIC_RELAXED); }
CALL standin_range(uint64_t at, uint64_t *range) {
	pthread_mutex_lock(&lock);
	struct block *b = find(at, 1);
	if (b) { range[0] = b->at; range[1] = b->size; }
	pthread_mutex_unlock(&lock);
	return b != NULL;
}
CALL standin_wrong(char *text, size_t size) { snprintf(text, size, "%s", reason); return wrong; }
CALL standin_trace(char *text, size_t size) {
	pthread_mutex_lock(&lock);
	size_t n = traced < size - 1 ? traced : size - 1;
	memcpy(text, trace, n);
	text[n] = 0;
	traced = 0;
	pthread_mutex_unlock(&lock);
	return (int)n;
}
