# The peer of array operations: NumPy. It speaks as arrays.cpp does.
import sys, time
import numpy as np

N, M = 4096 * 4096, 1024
with open(sys.argv[1], 'rb') as f:
    x, u = np.fromfile(f, np.float32, N), np.fromfile(f, np.uint32, N)
y, p = x[::-1].copy(), x.reshape(4096, 4096)
a, b = x[:M * M].reshape(M, M).copy(), x[M * M:2 * M * M].reshape(M, M).copy()
operations = {
    'map': lambda: (x * 2 + 1)[1], 'zip': lambda: (x * y + x)[1], 'sum': lambda: x.sum(), 'min': lambda: x.min(), 'argmax': lambda: x.argmax(),
    'cumsum': lambda: x.cumsum()[-1], 'histogram': lambda: np.histogram(x, 100, (-1, 1))[0][50], 'filter': lambda: x[x > 0.5][0],
    'transpose': lambda: np.ascontiguousarray(p.T)[0, 1], 'matmul': lambda: (a @ b)[0, 1], 'sort u32': lambda: np.sort(u)[N // 2],
    'sort f32': lambda: np.sort(x)[N // 2],
}
for line in sys.stdin:
    start = time.process_time()
    result = operations[line.strip()]()
    print('%.9f %.17g' % (time.process_time() - start, result), flush=True)
