# The peer of array operations: NumPy, or CuPy if the second argument is cupy. It speaks as arrays.cpp does. The time of CuPy is by
# the clock, until the GPU has finished.
import importlib, sys, time
import numpy

np = importlib.import_module(sys.argv[2] if len(sys.argv) > 2 else 'numpy')
clock, finish = time.process_time, lambda: None
if np is not numpy:
    clock, finish = time.perf_counter, lambda: np.cuda.Device().synchronize()

N, M = 4096 * 4096, 1024
with open(sys.argv[1], 'rb') as f:
    x, u = np.asarray(numpy.fromfile(f, numpy.float32, N)), np.asarray(numpy.fromfile(f, numpy.uint32, N))
y, p = x[::-1].copy(), x.reshape(4096, 4096)
a, b = x[:M * M].reshape(M, M).copy(), x[M * M:2 * M * M].reshape(M, M).copy()
operations = {  # and the element that is printed
    'map': (lambda: x * 2 + 1, 1), 'zip': (lambda: x * y + x, 1), 'sum': (lambda: x.sum(), ()), 'min': (lambda: x.min(), ()),
    'argmax': (lambda: x.argmax(), ()), 'cumsum': (lambda: x.cumsum(), -1), 'histogram': (lambda: np.histogram(x, 100, (-1, 1))[0], 50),
    'filter': (lambda: x[x > 0.5], 0), 'transpose': (lambda: np.ascontiguousarray(p.T), (0, 1)), 'matmul': (lambda: a @ b, (0, 1)),
    'sort u32': (lambda: np.sort(u), N // 2), 'sort f32': (lambda: np.sort(x), N // 2),
}
for line in sys.stdin:
    run, element = operations[line.strip()]
    start = clock()
    result = run()
    finish()
    seconds = clock() - start
    print('%.9f %.17g' % (seconds, result[element]), flush=True)
