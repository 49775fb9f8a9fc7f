package conform

import (
	"math"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

var launchCases = []testCase{
	{"launch/empty", launchEmpty},
	{"launch/one-dimension", launchOneDimension},
	{"launch/three-dimensions", launchThreeDimensions},
	{"launch/two-dimensions", launchTwoDimensions},
	{"launch/zero", launchZero},
	{"launch/refused", launchRefused},
	{"launch/group-size", launchGroupSize},
	{"launch/aliases", launchAliases},
	{"launch/fused", launchFused},
	{"launch/shared-memory", launchShared},
	{"launch/reduce-and-scan", launchReduce},
	{"launch/atomics", launchAtomics},
	{"launch/contention", launchContention},
	{"launch/many-arguments", launchRebound},
	{"launch/checks-off", launchUnchecked},
	{"launch/print", launchPrint},
	{"launch/call", launchCall},
	{"launch/call-cancel", launchCallCancel},
	{"launch/call-waiter", launchCallWaiter},
	{"launch/subgroups", launchSubgroups},
}

func launchEmpty(t *T) {
	q := t.queue()
	k := t.kernel("empty")
	for range 100 {
		t.launch(q, k, config(1))
	}
	t.launch(q, k, config(1000, 100, 10))
	t.check(q.Sync(t.ctx))
}

func count(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i + 1)
	}
	return list
}

func launchOneDimension(t *T) {
	k, q := t.kernel("ids"), t.defaultQueue()
	for _, n := range []int{1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 65537, 1_000_003} {
		b := t.buffer(offload.I32, n+1)
		t.launch(q, k, config(n), session.Buf(b))
		equal(t, "ids", contents[int32](t, b), append(count(n), 0))
		t.free(b)
	}
}

func launchThreeDimensions(t *T) {
	k, q := t.kernel("grid"), t.defaultQueue()
	for _, n := range [][3]int{{1, 1, 1}, {7, 5, 3}, {33, 17, 9}, {1, 300, 2}, {2, 1, 300}, {129, 65, 3}} {
		for _, group := range [][]int{nil, {8, 4, 2}, {1, 1, 1}, {5, 3, 2}, {64, 1, 1}} {
			b := t.buffer(offload.I32, n[2], n[1], n[0])
			t.launch(q, k, session.Config{Size: n[:], GroupSize: group}, session.Buf(b))
			equal(t, "grid", contents[int32](t, b), count(n[0]*n[1]*n[2]))
			t.free(b)
		}
	}
}

func launchTwoDimensions(t *T) {
	const rows, cols = 37, 53
	src := t.buffer(offload.I32, rows, cols)
	values := count(rows * cols)
	t.check(session.Write(t.ctx, src, 0, values))
	dst := t.buffer(offload.I32, cols, rows)
	t.run("transpose", sized(cols, rows), session.Buf(src), session.Buf(dst))
	want := make([]int32, rows*cols)
	for r := range rows {
		for c := range cols {
			want[c*rows+r] = values[r*cols+c]
		}
	}
	equal(t, "a transposed matrix", contents[int32](t, dst), want)
}

func launchZero(t *T) {
	q := t.queue()
	b := t.buffer(offload.I32, 4)
	k := t.kernel("ids")
	for _, size := range [][]int{{0}, {0, 5}, {5, 0}, {1, 1, 0}, {math.MaxInt32, math.MaxInt32, 0}} {
		t.launch(q, k, session.Config{Size: size}, session.Buf(b))
	}
	t.check(q.Sync(t.ctx))
	equal(t, "a buffer of a launch of nothing", contents[int32](t, b), make([]int32, 4))
}

// launchRefused passes invalid launches to the session and to the plugin.
func launchRefused(t *T) {
	b, f := t.buffer(offload.I32, 8), t.buffer(offload.F32, 8)
	k := t.kernel("ids")
	limits := t.device.Info().Limits
	for _, c := range []struct {
		what string
		code offload.Code
		cfg  session.Config
		args []session.Arg
	}{
		{"no argument", offload.InvalidArgument, config(1), nil},
		{"two arguments", offload.InvalidArgument, config(1), []session.Arg{session.Buf(b), session.Buf(b)}},
		{"a scalar for a buffer", offload.InvalidArgument, config(1), []session.Arg{session.I32(1)}},
		{"a buffer of another type", offload.InvalidArgument, config(1), []session.Arg{session.Buf(f)}},
		{"a size of 2^31", offload.InvalidSize, config(1 << 31), []session.Arg{session.Buf(b)}},
		{"a negative size", offload.InvalidSize, config(-1), []session.Arg{session.Buf(b)}},
		{"a group that is too large", offload.InvalidSize, session.Config{Size: sized(1), GroupSize: sized(limits.GroupItems + 1)}, []session.Arg{session.Buf(b)}},
		{"a group of zero", offload.InvalidArgument, session.Config{Size: sized(1), GroupSize: sized(0)}, []session.Arg{session.Buf(b)}},
	} {
		_, err := k.Bind(c.cfg, c.args...)
		t.refused(c.what, err, c.code)
	}

	dev := t.device.Contract()
	lib, err := dev.Load(t.ctx, &offload.Image{Kind: offload.ImageIR, Label: "conform", Data: kernelImage})
	t.check(err)
	raw, err := lib.Kernel("ids")
	t.check(err)
	m, err := dev.Allocate(32, offload.DeviceMemory)
	t.check(err)
	q, err := dev.NewQueue(offload.QueueOptions{Label: "contract"})
	t.check(err)
	good := offload.Arg{Type: offload.I32, Memory: m, Dims: [3]int32{8}}
	for _, c := range []struct {
		what  string
		codes []offload.Code
		l     offload.Launch
	}{
		{"no argument", []offload.Code{offload.InvalidArgument}, offload.Launch{Size: [3]int{1, 1, 1}}},
		{"a scalar for a buffer", []offload.Code{offload.InvalidArgument}, offload.Launch{Size: [3]int{1, 1, 1}, Args: []offload.Arg{{Type: offload.I32}}}},
		{"extents beyond the memory", []offload.Code{offload.InvalidSize, offload.InvalidArgument},
			offload.Launch{Size: [3]int{1, 1, 1}, Args: []offload.Arg{{Type: offload.I32, Memory: m, Dims: [3]int32{9}}}}},
		{"extents beyond the memory, from an offset", []offload.Code{offload.InvalidSize, offload.InvalidArgument},
			offload.Launch{Size: [3]int{1, 1, 1}, Args: []offload.Arg{{Type: offload.I32, Memory: m, Offset: 4, Dims: [3]int32{8}}}}},
		{"a negative extent", []offload.Code{offload.InvalidSize, offload.InvalidArgument},
			offload.Launch{Size: [3]int{1, 1, 1}, Args: []offload.Arg{{Type: offload.I32, Memory: m, Dims: [3]int32{-1}}}}},
		{"a negative offset", []offload.Code{offload.InvalidSize, offload.InvalidArgument},
			offload.Launch{Size: [3]int{1, 1, 1}, Args: []offload.Arg{{Type: offload.I32, Memory: m, Offset: -4, Dims: [3]int32{1}}}}},
		{"a size of 2^31", []offload.Code{offload.InvalidSize, offload.InvalidArgument},
			offload.Launch{Size: [3]int{1 << 31, 1, 1}, Args: []offload.Arg{good}}},
		{"a negative size", []offload.Code{offload.InvalidSize, offload.InvalidArgument},
			offload.Launch{Size: [3]int{1, -1, 1}, Args: []offload.Arg{good}}},
	} {
		c.l.Kernel = raw
		t.refused("the plugin: "+c.what, q.Launch(&c.l), c.codes...)
	}
	t.check(q.Sync(t.ctx))
	t.check(q.Close())
	t.check(m.Free())
	t.check(lib.Unload())
}

func launchGroupSize(t *T) {
	k, q := t.kernel("groups"), t.defaultQueue()
	const n = 1000
	for _, size := range []int{0, 1, 7, 64, 256} {
		local, group, width := t.buffer(offload.I32, n), t.buffer(offload.I32, n), t.buffer(offload.I32, n)
		cfg := session.Config{Size: sized(n)}
		if size > 0 {
			cfg.GroupSize = sized(size)
		}
		t.launch(q, k, cfg, session.Buf(local), session.Buf(group), session.Buf(width))
		if size == 0 {
			size = 256 // the language's default
		}
		wantLocal, wantGroup, wantWidth := make([]int32, n), make([]int32, n), make([]int32, n)
		for i := range n {
			wantLocal[i], wantGroup[i], wantWidth[i] = int32(i%size), int32(i/size), int32(size)
		}
		equal(t, "local ids", contents[int32](t, local), wantLocal)
		equal(t, "group ids", contents[int32](t, group), wantGroup)
		equal(t, "group sizes", contents[int32](t, width), wantWidth)
	}
}

// launchAliases passes one buffer as two arguments.
func launchAliases(t *T) {
	b := bufferOf(t, uint32(1), 2, 3, 4)
	t.run("sum", sized(4), session.Buf(b), session.Buf(b), session.Buf(b))
	equal(t, "a buffer added to itself", contents[uint32](t, b), []uint32{2, 4, 6, 8})
}

// launchFused distinguishes a·x+y rounded once from a·x+y rounded twice.
func launchFused(t *T) {
	const n = 1000
	a := float32(1 + 1.0/4096)
	x, y, want := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range n {
		x[i], y[i], want[i] = a, -(1 + 1.0/2048), 1.0/(1<<24)
	}
	dy := bufferOf(t, y...)
	t.run("saxpy", sized(n), session.F32(a), session.Buf(bufferOf(t, x...)), session.Buf(dy))
	equal(t, "saxpy", contents[float32](t, dy), want)
}

func launchShared(t *T) {
	const n = 64 * 100
	src, dst := bufferOf(t, count(n)...), t.buffer(offload.I32, n)
	q := t.defaultQueue()
	t.launch(q, t.kernel("reverse"), session.Config{Size: sized(n), GroupSize: sized(64)}, session.Buf(src), session.Buf(dst))
	want := make([]int32, n)
	for i := range want {
		want[i] = int32(i/64*64 + 64 - i%64)
	}
	equal(t, "groups reversed", contents[int32](t, dst), want)
}

func launchReduce(t *T) {
	q, k := t.defaultQueue(), t.kernel("reduce")
	for _, c := range []struct{ n, group int }{{256, 256}, {1000, 256}, {1000, 100}, {77, 128}, {5, 1}} {
		groups := (c.n + c.group - 1) / c.group
		values, sums, scans := make([]float32, c.n), make([]float32, groups), make([]float32, c.n)
		for i := range values {
			values[i] = float32(i%13) - 4 // sums of these values are exact
			sums[i/c.group] += values[i]
			scans[i] = sums[i/c.group]
		}
		dSums, dScans := t.buffer(offload.F32, groups), t.buffer(offload.F32, c.n)
		t.launch(q, k, session.Config{Size: sized(c.n), GroupSize: sized(c.group)}, session.Buf(bufferOf(t, values...)), session.Buf(dSums), session.Buf(dScans))
		equal(t, "sums", contents[float32](t, dSums), sums)
		equal(t, "scans", contents[float32](t, dScans), scans)
	}
}

func launchAtomics(t *T) {
	const n = 5000
	signed, unsigned := t.buffer(offload.I32, 8), bufferOf(t, uint32(0), math.MaxUint32, 0)
	t.run("atomics", sized(n), session.Buf(signed), session.Buf(unsigned))
	xor := uint32(0)
	for i := range uint32(n) {
		xor ^= i
	}
	got := contents[int32](t, signed)
	if winner := got[4]; winner < 1 || winner > n {
		t.Errorf("compareExchange left %d", winner)
	}
	got[4] = 0
	equal(t, "signed results", got, []int32{n, n - 1, -(n - 1), -2 * n, 0, 1, 7, 0})
	equal(t, "unsigned results", contents[uint32](t, unsigned), []uint32{math.MaxUint32, 0, xor})
}

func launchContention(t *T) {
	const n = 1 << 18
	bins, want := t.buffer(offload.I32, 16), make([]int32, 16)
	t.run("histogram", sized(n), session.Buf(bins))
	for i := range want {
		want[i] = n / 16
	}
	equal(t, "bins", contents[int32](t, bins), want)
}

// launchRebound changes a call's arguments and size between launches: each launch uses the values at its issue.
func launchRebound(t *T) {
	q := t.queue()
	a, b, out := bufferOf(t, uint32(1), 1, 1, 1), bufferOf(t, uint32(10), 20, 30, 40), t.buffer(offload.U32, 4)
	call := t.bind(t.kernel("sum"), config(4), session.Buf(a), session.Buf(b), session.Buf(out))
	t.check(q.Launch(call))
	t.check(call.SetArg(1, session.Buf(out)))
	t.check(call.SetSize(2))
	t.check(q.Launch(call))
	t.refused("an argument that does not exist", call.SetArg(3, session.I32(1)), offload.InvalidArgument)
	t.refused("a scalar for a buffer", call.SetArg(0, session.I32(1)), offload.InvalidArgument)
	t.check(q.Sync(t.ctx))
	equal(t, "sums", contents[uint32](t, out), []uint32{12, 22, 31, 41})
}

func launchUnchecked(t *T) {
	b := t.buffer(offload.I32, 1000)
	q := t.defaultQueue()
	t.launch(q, t.kernel("ids"), session.Config{Size: sized(1000), Checks: offload.ChecksOff}, session.Buf(b))
	equal(t, "ids", contents[int32](t, b), count(1000))
}

func launchSubgroups(t *T) {
	if !t.device.Info().Features.Subgroups {
		t.skipf("the device lacks the feature subgroups")
	}
	const n, group = 1000, 128
	sums, widths := t.buffer(offload.U32, n), t.buffer(offload.U32, n)
	q := t.defaultQueue()
	t.launch(q, t.kernel("subgroups"), session.Config{Size: sized(n), GroupSize: sized(group)}, session.Buf(sums), session.Buf(widths))
	got, width := contents[uint32](t, sums), int(contents[uint32](t, widths)[0])
	known := false
	for _, w := range t.device.Info().Limits.SubgroupSizes {
		known = known || w == width
	}
	if !known {
		t.Fatalf("a subgroup of %d is not among %v", width, t.device.Info().Limits.SubgroupSizes)
	}
	want := make([]uint32, n)
	for i := range want { // existing items of this item's subgroup
		first := i/group*group + i%group/width*width
		want[i] = uint32(min(first+width, i/group*group+group, n) - first)
	}
	equal(t, "items of each subgroup", got, want)
}
