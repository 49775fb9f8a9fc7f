package arrayjs_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/cuda"
)

// A link is an operation of a chain: it applies to arrays of a rank, and changes the rank.
type link struct {
	js, py string
	from   int // rank; 0 for any
	to     int // rank of the result; 0 for the same
}

// links keep values exact: i32 whose numbers stay small.
var links = []link{
	{"x.map(v => (v * 3 + 1) % 17)", "np.fmod(x * 3 + 1, 17)", 0, 0},
	{"x.zip(x.flip(), (a, b) => (a - b) % 29)", "np.fmod(x - np.flip(x), 29)", 0, 0},
	{"x.zip(x.max({ keepDims: true }), (a, b) => Math.min(a, b) - 2)", "np.minimum(x, x.max()) - 2", 0, 0},
	{"x.clip(-5, 9)", "x.clip(-5, 9)", 0, 0}, {"x.roll(5)", "np.roll(x, 5)", 0, 0}, {"x.toSorted()", "np.sort(x)", 0, 0},
	{"x.argsort()", "np.argsort(x, kind='stable').astype(np.int32)", 0, 0},
	{"x.cumsum(-1).map(v => i32(v) % 31)", "np.fmod(x.cumsum(-1), 31).astype(np.int32)", 0, 0},
	{"where(x.map(v => v > 0), x, -1)", "np.where(x > 0, x, -1).astype(np.int32)", 0, 0},
	{"x.reshape(-1)", "x.ravel()", 2, 1}, {"x.reshape(-1, 1)", "x.reshape(-1, 1)", 1, 2}, {"x.transpose()", "x.T", 2, 0},
	{"x.sum(0).map(v => i32(v))", "x.sum(0).astype(np.int32)", 2, 1}, {"x.max(1)", "x.max(1)", 2, 1}, {"x.argmin(0)", "x.argmin(0).astype(np.int32)", 2, 1},
	{"x.tile([3, 2])", "np.tile(x, [3, 2])", 1, 2}, {"x.pad(2, { value: 7 })", "np.pad(x, 2, constant_values=7)", 0, 0},
	{"x.slice([null, null, 2])", "x[::2]", 0, 0}, {"x.slice(null, [0, 9])", "x[:, 0:9]", 2, 0}, {"concat([x, x.slice(0, 1)])", "np.concatenate([x, x[:1]])", 0, 0},
	{"stack([x, x.flip()])", "np.stack([x, np.flip(x)])", 1, 2}, {"x.zip(x.reshape(-1, 1), (a, b) => (a * b) % 13).slice(0, 20)", "np.fmod(x * x.reshape(-1, 1), 13)[:20]", 1, 2},
	{"x.slice(0, 9).matmul(x.slice(0, 9).transpose()).map(v => v % 19)", "np.fmod(x[:9] @ x[:9].T, 19)", 2, 0},
	{"(await x.filter(v => v % 3 !== 0)).pad([[1, 0]])", "np.pad(x.ravel()[np.fmod(x.ravel(), 3) != 0], [[1, 0]])", 1, 1}, {"await x.unique()", "np.unique(x)", 0, 1},
	{"x.diff().pad(1)", "np.pad(np.diff(x), 1)", 0, 0}, {"x.take([0, -1, 0], 0)", "x.take([0, -1, 0], 0)", 0, 0},
}

// TestChains compares random chains of operations with NumPy: 300, or 10 000 if OREPL_TEST_LONG is 1.
func TestChains(t *testing.T) {
	count := 300
	if long {
		count = 10000
	}
	seed := rand.Uint64()
	if os.Getenv("OREPL_TEST_SEED") != "" {
		fmt.Sscan(os.Getenv("OREPL_TEST_SEED"), &seed)
	}
	t.Logf("OREPL_TEST_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var js, py []string
	for range count {
		shape, rank := fmt.Sprint(1+r.IntN(300)), 1
		if r.IntN(2) == 0 {
			shape, rank = fmt.Sprintf("%d, %d", 1+r.IntN(20), 1+r.IntN(20)), 2
		}
		j, p := fmt.Sprintf("let x = A('i32', [%s])", shape), fmt.Sprintf("x = A('i32', [%s])", shape)
		for range 2 + r.IntN(5) {
			l := links[r.IntN(len(links))]
			if l.from != 0 && l.from != rank {
				continue
			}
			j, p = j+"; x = "+l.js, p+"; x = "+l.py
			if l.to != 0 {
				rank = l.to
			}
		}
		js, py = append(js, fmt.Sprintf("await emit(async () => { %s; return x })", j)), append(py, p+"; emit(lambda: x)")
	}
	want := numpy(t, py)
	on := []place{{"cpu", "cpu", cpu.New(cpu.Options{})}}
	if onGPU {
		on = append(on, place{"cuda", "cuda:0", cuda.New(cuda.Options{})})
	}
	for _, p := range on {
		got := strings.Split(strings.TrimSuffix(run(t, p, fmt.Sprintf(prelude, p.device)+strings.Join(js, "\n")), "\n"), "\n")
		if len(got) != count || len(want) != count {
			t.Fatalf("%s: %d and %d results of %d chains: %s", p.name, len(got), len(want), count, strings.Join(got, "\n"))
		}
		for i := range got {
			if err := agrees(got[i], want[i], 0); err != nil {
				t.Errorf("%s: %s: %v\n got %.200s\nwant %.200s", p.name, js[i], err, got[i], want[i])
			}
		}
	}
}
