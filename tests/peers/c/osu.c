// The methods of OSU's micro-benchmarks: rank 0 exchanges messages with rank 1, and all ranks take part in the collective operations.
// Prints "TEST/BYTES SECONDS" on each line: of a message there and back, of a window of 64 messages and the answer, and of a collective
// operation, each the mean of as many runs as OSU's programs take for small and for large messages.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { window = 64, most = 16 << 20 };
static const int sizes[] = {8, 1024, 4096, 65536, 1 << 20, most};
static int rank, ranks;
static char *a, *b;

static void latency(int bytes) {
	if (rank == 0) {
		MPI_Send(a, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
		MPI_Recv(b, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (rank == 1) {
		MPI_Recv(b, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(a, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
	}
}

static void bw(int bytes) {
	MPI_Request r[window];
	char ack[4] = {0};
	if (rank == 0) {
		for (int i = 0; i < window; i++)
			MPI_Isend(a, bytes, MPI_CHAR, 1, 100, MPI_COMM_WORLD, r + i);
		MPI_Waitall(window, r, MPI_STATUSES_IGNORE);
		MPI_Recv(ack, 4, MPI_CHAR, 1, 101, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (rank == 1) {
		for (int i = 0; i < window; i++)
			MPI_Irecv(b, bytes, MPI_CHAR, 0, 100, MPI_COMM_WORLD, r + i);
		MPI_Waitall(window, r, MPI_STATUSES_IGNORE);
		MPI_Send(ack, 4, MPI_CHAR, 0, 101, MPI_COMM_WORLD);
	}
}

static void bcast(int bytes) { MPI_Bcast(a, bytes, MPI_CHAR, 0, MPI_COMM_WORLD); }

static void allreduce(int bytes) { MPI_Allreduce(a, b, bytes / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }

int main(int argc, char **argv) {
	static const struct {
		const char *name;
		void (*run)(int);
		int collective;
	} tests[] = {{"osu_latency", latency, 0}, {"osu_bw", bw, 0}, {"osu_bcast", bcast, 1}, {"osu_allreduce", allreduce, 1}};
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	a = calloc(1, most), b = calloc(1, most);
	if (!a || !b || ranks < 2) return 1;
	for (int i = 0; i < most / 4; i++) ((int *)a)[i] = rank + 1;
	for (unsigned t = 0; t < sizeof tests / sizeof *tests; t++)
		for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
			int times = sizes[s] > 1 << 20 ? 10 : sizes[s] > 8192 ? 100 : 1000, warmup = times / 10;
			double total = 0;
			for (int i = 0; i < warmup + times; i++) {
				if (tests[t].collective) MPI_Barrier(MPI_COMM_WORLD);
				double start = MPI_Wtime();
				tests[t].run(sizes[s]);
				if (i >= warmup) total += MPI_Wtime() - start;
			}
			double mean = total / times, sum = 0;
			if (tests[t].collective) {
				MPI_Reduce(&mean, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
				mean = sum / ranks;
			}
			if (rank == 0) printf("%s/%d %.9g\n", tests[t].name, sizes[s], mean);
		}
	if (((int *)b)[most / 4 - 1] != ranks) return 1; // the broadcast made all begin with 1
	MPI_Finalize();
	return 0;
}
