// Rank 0 and rank 1 exchange the messages of a host and a worker: a header and a completion per launch, and further bytes per
// copy. Other ranks wait for headers. It prints a line with a name and a figure for each measurement.
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { launch, launch_silently, submit, retrieve, work, leave };
enum { header_tag = 1, data_tag, completion_tag };

struct header {
	int64_t op, size, other[6];
};

static void await(MPI_Request *r) {
	int done = 0;
	while (!done)
		MPI_Test(r, &done, MPI_STATUS_IGNORE);
}

static volatile uint32_t spun;

// spin takes four cycles per step, like the kernel of tests/peers/metg.go.
static void spin(int64_t steps) {
	uint32_t s = spun;
	for (int64_t i = 0; i < steps; i++) {
		s = s * 1664525 + 1013904223;
		__asm__ volatile("" : "+r"(s));
	}
	spun = s;
}

static void worker(char *data) {
	for (;;) {
		struct header h;
		int found = 0;
		MPI_Status s;
		while (!found)
			MPI_Iprobe(MPI_ANY_SOURCE, header_tag, MPI_COMM_WORLD, &found, &s);
		MPI_Recv(&h, sizeof h, MPI_BYTE, s.MPI_SOURCE, header_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		int64_t completion[2] = {0, 0};
		switch (h.op) {
		case submit:
			MPI_Recv(data, (int)h.size, MPI_BYTE, s.MPI_SOURCE, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			break;
		case retrieve:
			MPI_Send(data, (int)h.size, MPI_BYTE, s.MPI_SOURCE, data_tag, MPI_COMM_WORLD);
			continue;
		case launch_silently:
			continue;
		case work:
			spin(h.size);
			break;
		case leave:
			return;
		}
		MPI_Send(completion, sizeof completion, MPI_BYTE, s.MPI_SOURCE, completion_tag, MPI_COMM_WORLD);
	}
}

static void request(int64_t op, int64_t size, char *data) {
	struct header h = {op, size, {0}};
	int64_t completion[2];
	MPI_Request r;
	if (op == retrieve)
		MPI_Irecv(data, (int)size, MPI_BYTE, 1, data_tag, MPI_COMM_WORLD, &r);
	else
		MPI_Irecv(completion, sizeof completion, MPI_BYTE, 1, completion_tag, MPI_COMM_WORLD, &r);
	MPI_Send(&h, sizeof h, MPI_BYTE, 1, header_tag, MPI_COMM_WORLD);
	if (op == submit)
		MPI_Send(data, (int)size, MPI_BYTE, 1, data_tag, MPI_COMM_WORLD);
	await(&r);
}

static void host(char *data, int ranks) {
	int times = ranks > 2 ? 200 : 20000; // waiting processes take processor time from others
	double start;
	for (int i = 0; i < 100; i++)
		request(launch, 0, data);
	start = MPI_Wtime();
	for (int i = 0; i < times; i++)
		request(launch, 0, data);
	printf("round %g\n", (MPI_Wtime() - start) / times * 1e6);

	enum { batch = 1000 };
	struct header h = {launch_silently, 0, {0}};
	int batches = ranks > 2 ? 10 : 100;
	start = MPI_Wtime();
	for (int b = 0; b < batches; b++) {
		for (int i = 1; i < batch; i++)
			MPI_Send(&h, sizeof h, MPI_BYTE, 1, header_tag, MPI_COMM_WORLD);
		request(launch, 0, data);
	}
	printf("pipelined %g\n", batches * batch / (MPI_Wtime() - start) / 1e3);

	for (int mib = 1; mib <= 64; mib *= 64) {
		int copies = 256 / mib;
		int64_t size = (int64_t)mib << 20;
		request(submit, size, data);
		request(retrieve, size, data);
		start = MPI_Wtime();
		for (int i = 0; i < copies; i++)
			request(submit, size, data);
		printf("submit%d %g\n", mib, size * copies / (MPI_Wtime() - start) / 1e9);
		start = MPI_Wtime();
		for (int i = 0; i < copies; i++)
			request(retrieve, size, data);
		printf("retrieve%d %g\n", mib, size * copies / (MPI_Wtime() - start) / 1e9);
	}
	h.op = leave;
	for (int i = 1; i < ranks; i++)
		MPI_Send(&h, sizeof h, MPI_BYTE, i, header_tag, MPI_COMM_WORLD);
}

// run runs tasks of this many steps, at most 64 at a time per worker, and returns the seconds.
static double run(int workers, int tasks, int64_t steps) {
	enum { window = 64 };
	struct header h = {work, steps, {0}};
	int64_t completion[2];
	int sent = 0, ended = 0;
	double start = MPI_Wtime();
	for (; sent < tasks && sent < workers * window; sent++)
		MPI_Send(&h, sizeof h, MPI_BYTE, 1 + sent % workers, header_tag, MPI_COMM_WORLD);
	for (; ended < tasks; ended++) {
		MPI_Status s;
		MPI_Recv(completion, sizeof completion, MPI_BYTE, MPI_ANY_SOURCE, completion_tag, MPI_COMM_WORLD, &s);
		if (sent < tasks) {
			MPI_Send(&h, sizeof h, MPI_BYTE, s.MPI_SOURCE, header_tag, MPI_COMM_WORLD);
			sent++;
		}
	}
	return MPI_Wtime() - start;
}

// granularity is the equivalent of the Go function in metg.go.
static double granularity(int workers, int cores) {
	enum { longest = 4 << 20 };
	int processors = workers < cores ? workers : cores;
	double per_step = 0, smallest = INFINITY;
	for (int i = 0; i < 5; i++) {
		double s = run(workers, workers, longest) / longest;
		if (i == 0 || s < per_step)
			per_step = s;
	}
	per_step *= (double)processors / workers;
	for (int64_t steps = longest / 2; steps > 16; steps = steps * 3 / 4) {
		double each = per_step * steps, best = 0;
		int tasks = (int)(0.02 * processors / each) / workers;
		tasks = workers * (tasks < 20 ? 20 : tasks > 2000 ? 2000 : tasks);
		for (int i = 0; i < 3; i++) {
			double share = each * tasks / (run(workers, tasks, steps) * processors);
			if (share > best)
				best = share;
		}
		if (best < 0.5)
			break;
		smallest = each * 1e6;
	}
	struct header h = {leave, 0, {0}};
	for (int i = 1; i <= workers; i++)
		MPI_Send(&h, sizeof h, MPI_BYTE, i, header_tag, MPI_COMM_WORLD);
	return smallest;
}

int main(int argc, char **argv) {
	int rank, ranks;
	char *data = malloc(64 << 20);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	memset(data, 1, 64 << 20);
	if (rank == 0 && argc > 1)
		printf("smallest %g\n", granularity(ranks - 1, (int)sysconf(_SC_NPROCESSORS_ONLN)));
	else if (rank == 0)
		host(data, ranks);
	else
		worker(data);
	MPI_Finalize();
	free(data);
	return 0;
}
