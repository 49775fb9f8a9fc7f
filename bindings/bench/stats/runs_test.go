package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// machine draws pairs of runs of many rows. Samples have a deviation within runs. Each row has a deviation of its own between runs, by
// Student's t distribution with few degrees of freedom, and all rows have the shift.
type machine struct {
	within, between, shift float64
}

// student draws from the t distribution with 4 degrees of freedom.
func student(r *rand.Rand) float64 {
	squares := 0.0
	for range 4 {
		squares += sq(r.NormFloat64())
	}
	return r.NormFloat64() / math.Sqrt(squares/4)
}

// rows draws two runs. The program takes factor(i) as long for row i in the new one.
func (m machine) rows(r *rand.Rand, n int, factor func(i int) float64) []Row {
	list := make([]Row, n)
	for i := range list {
		run := func(level float64) []float64 {
			level *= math.Exp(m.between / math.Sqrt2 * student(r))
			return draw(func() float64 { return level * math.Exp(m.within*r.NormFloat64()) }, 30)
		}
		base := math.Exp(3 * r.NormFloat64())
		list[i] = Row{Old: run(base), New: run(base * factor(i) * math.Exp(m.shift))}
	}
	return list
}

func count(list []Comparison, verdict string) (n int) {
	for _, c := range list {
		if c.Verdict() == verdict {
			n++
		}
	}
	return n
}

// TestRows compares whole runs: of equal programs, of one that is slower in few rows, and of one that is slower in all.
func TestRows(t *testing.T) {
	busy := Shares{Old: 0.2, New: 0.6}
	same := func(int) float64 { return 1 }
	for _, c := range []struct {
		name    string
		machine machine
		shares  Shares
		rows    int
		factor  func(i int) float64
		// Of the runs, at most alarms have any row that differs without reason, and at least found have all of the slower rows.
		slower        int
		alarms, found float64
	}{
		{"equal on a quiet machine", machine{0.02, 0.005, 0}, Shares{}, 50, same, 0, 0.05, 0},
		{"equal on a busy machine", machine{0.2, 0.3, 0.4}, busy, 50, same, 0, 0.05, 0},
		{"few equal rows on a busy machine", machine{0.05, 0.1, 0.4}, busy, 3, same, 0, 0.05, 0},
		{"one row of 50, 5 % slower", machine{0.01, 0.003, 0}, Shares{New: 0.01}, 50, func(i int) float64 { return 1 + 0.05*float64(max(1-i, 0)) }, 1, 0.05, 0.9},
		{"one of three rows, 5 % slower", machine{0.01, 0, 0}, Shares{New: 0.01}, 3, func(i int) float64 { return 1 + 0.05*float64(max(1-i, 0)) }, 1, 0.05, 0.9},
		{"all rows 10 % slower", machine{0.01, 0.003, 0}, Shares{New: 0.01}, 20, func(int) float64 { return 1.1 }, 20, 0, 0.9},
		{"all rows slower by different shares", machine{0.01, 0.003, 0}, Shares{New: 0.01}, 20, func(i int) float64 { return 1.3 + 0.1*float64(i) }, 20, 0, 0.9},
		{"one row five times slower on a busy machine", machine{0.1, 0.05, 0.2}, busy, 50, func(i int) float64 { return 1 + 4*float64(max(1-i, 0)) }, 1, 0.05, 0.9},
	} {
		r := rand.New(rand.NewPCG(15, 16))
		alarms, found := 0, 0
		for range trials() / 5 {
			list := CompareRows(c.machine.rows(r, c.rows, c.factor), 0.01, c.shares)
			slower := count(list[:c.slower], "slower")
			if count(list, "slower")+count(list, "faster") > slower {
				alarms++
			}
			if slower == c.slower {
				found++
			}
		}
		runs := float64(trials() / 5)
		margin := 2 * math.Sqrt(0.05*0.95/runs)
		if a, f := float64(alarms)/runs, float64(found)/runs; a > c.alarms+margin || f < c.found-margin {
			t.Errorf("%s: %.0f %% of runs with a false alarm, %.0f %% with all slower rows", c.name, 100*a, 100*f)
		}
	}
}

// TestIntervals checks that the interval of a change that other programs explain includes 0, and that unexplained ones are doubtful.
func TestIntervals(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	rows := machine{0.01, 0, 0}.rows(r, 4, func(int) float64 { return 2.4 })
	for i, c := range CompareRows(rows, 0.01, Shares{New: 0.6}) {
		if c.Different || c.Low > 0 || c.High < 1.3 || c.Doubtful {
			t.Errorf("explained row %d: %+v", i, c)
		}
	}
	rows = machine{0.05, 0.15, 0}.rows(r, 72, func(i int) float64 { return 1 + 1.5*float64(min(max(12-i, 0), 1)) })
	list := CompareRows(rows, 0.01, Shares{0.3, 0.5})
	doubtful := 0
	for i, c := range list {
		if c.Different && c.Doubtful || c.Doubtful && i >= 12 && math.Abs(c.Change) < 0.25 {
			t.Errorf("row %d: %+v", i, c)
		}
		if c.Doubtful && i < 12 {
			doubtful++
		}
	}
	if n := count(list[:12], "slower") + doubtful; n < 10 {
		t.Errorf("%d of 12 slower rows are called slower or doubtful", n)
	}
}

// TestOwnShares compares runs of rows of which each is slowed down by what other programs did meanwhile, which is known.
func TestOwnShares(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	runs := trials() / 5
	alarms, found := 0, 0
	for range runs {
		rows := make([]Row, 72)
		for i := range rows {
			run := func(level float64) ([]float64, float64) {
				share := 0.6 * r.Float64()
				level *= math.Exp(0.1*student(r)) * math.Pow(1/(1-share), r.Float64())
				return draw(func() float64 { return level * math.Exp(0.1*r.NormFloat64()) }, 30), share
			}
			level, shares := math.Exp(3*r.NormFloat64()), &Shares{}
			rows[i].Shares = shares
			rows[i].Old, shares.Old = run(level)
			if i < 12 {
				level *= 20
			}
			rows[i].New, shares.New = run(level)
		}
		list := CompareRows(rows, 0.01, Shares{0.3, 0.3})
		if count(list[:12], "slower") == 12 {
			found++
		}
		if count(list[12:], "slower")+count(list[12:], "faster") > 0 {
			alarms++
		}
	}
	if a, f := float64(alarms)/float64(runs), float64(found)/float64(runs); a > 0.05 || f < 0.9 {
		t.Errorf("%.1f %% of runs have a false alarm, %.1f %% find the slower rows", 100*a, 100*f)
	}
}

// TestRunsOfBaseline compares a run with several earlier ones, whose medians differ by more than the samples of each.
func TestRunsOfBaseline(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	alarms, found := 0, 0
	for range trials() {
		var row Row
		run := func(factor float64) []float64 {
			level := factor * math.Exp(0.01*r.NormFloat64())
			return draw(func() float64 { return level * math.Exp(0.005*r.NormFloat64()) }, 30)
		}
		for range 10 {
			list := run(1)
			row.Old, row.Medians = append(row.Old, list...), append(row.Medians, Median(list))
		}
		row.New = run(1)
		if CompareRows([]Row{row}, 0, Shares{})[0].Different {
			alarms++
		}
		row.New = run(1.1)
		if CompareRows([]Row{row}, 0.01, Shares{})[0].Verdict() == "slower" {
			found++
		}
	}
	if a, f := float64(alarms)/float64(trials()), float64(found)/float64(trials()); a > 0.05 || f < 0.9 {
		t.Errorf("%.1f %% of equal runs are called different, %.1f %% of slower ones are found", 100*a, 100*f)
	}
}

// TestTurns compares many rows of two programs by runs in turn.
func TestTurns(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	alarms, found := 0, 0
	for range trials() / 4 {
		rows := make([]Row, 50)
		for i := range rows {
			factor := 1.0
			if i == 0 {
				factor = 1.05
			}
			for range 10 {
				drift := math.Exp(0.1 * r.NormFloat64())
				rows[i].Old = append(rows[i].Old, drift*math.Exp(0.008*r.NormFloat64()))
				rows[i].New = append(rows[i].New, factor*drift*math.Exp(0.008*r.NormFloat64()))
			}
		}
		list := CompareTurns(rows, 0.01)
		found += count(list[:1], "slower")
		if count(list[1:], "slower")+count(list[1:], "faster") > 0 {
			alarms++
		}
	}
	if a, f := float64(alarms)/float64(trials()/4), float64(found)/float64(trials()/4); a > 0.08 || f < 0.9 {
		t.Errorf("%.1f %% of runs have a false alarm, %.1f %% find the slower row", 100*a, 100*f)
	}
}

// TestStudent compares p values with published quantiles.
func TestStudent(t *testing.T) {
	for _, c := range []struct{ freedom, t, p float64 }{
		{1, 12.7062047364, 0.05}, {4, 2.7764451052, 0.05}, {4, 8.6103015813, 0.001}, {10, 2.2281388520, 0.05}, {29, 3.6594050194, 0.001}, {1000, 1.9623390808, 0.05}, {3, 0, 1},
	} {
		if p := tailsT(c.t, c.freedom); math.Abs(p-c.p) > 1e-9 {
			t.Errorf("t %v with %v degrees of freedom: p is %v, not %v", c.t, c.freedom, p, c.p)
		}
		if q := quantileT(1-c.p/2, c.freedom); math.Abs(q-c.t) > 1e-6*max(c.t, 1) {
			t.Errorf("quantile %v with %v degrees of freedom: %v, not %v", 1-c.p/2, c.freedom, q, c.t)
		}
	}
	if p := tailsT(math.NaN(), 4); p != 1 {
		t.Errorf("p of no number: %v", p)
	}
}

// TestHolm follows the procedure by hand.
func TestHolm(t *testing.T) {
	got := holm([]float64{0.01, 0.04, 0.03, 0.005})
	if want := []float64{0.03, 0.06, 0.06, 0.02}; !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
		t.Errorf("%v, not %v", got, want)
	}
	if got := holm(nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestUnsteadyMachine compares runs of a machine on which samples and rows scatter though no other program is seen, as on a virtual machine
// beside others: equal runs have no row that differs in 19 of 20 comparisons, and rows that take 20 times as long differ.
func TestUnsteadyMachine(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	run := func(rows, slow int) [][]float64 {
		list := make([][]float64, rows)
		for i := range list {
			level := math.Exp(0.3 * rng.NormFloat64())
			if i < slow {
				level *= 20
			}
			for range 30 {
				list[i] = append(list[i], level*math.Exp(0.25*rng.NormFloat64()))
			}
		}
		return list
	}
	compare := func(slow int) (different int) {
		old, fresh := run(72, 0), run(72, slow)
		rows := make([]Row, len(old))
		for i := range rows {
			rows[i] = Row{Old: old[i], New: fresh[i]}
		}
		for _, c := range CompareRows(rows, 0.01, Shares{Old: 0.016, New: 0.02}) {
			if c.Different {
				different++
			}
		}
		return different
	}
	alarms := 0
	for range 40 {
		if compare(0) > 0 {
			alarms++
		}
		if found := compare(12); found < 12 {
			t.Errorf("%d of 12 slow rows differ", found)
		}
	}
	if alarms > 2 {
		t.Errorf("%d of 40 pairs of equal runs differ", alarms)
	}
}

// TestNoTime compares no rows, and rows of which one has samples of no time: the others are judged as without it.
func TestNoTime(t *testing.T) {
	if got := CompareRows(nil, 0.01, Shares{}); len(got) != 0 {
		t.Errorf("%v", got)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	rows := []Row{{Old: make([]float64, 30), New: make([]float64, 30)}}
	for i := range 20 {
		var r Row
		for range 30 {
			r.Old = append(r.Old, math.Exp(0.01*rng.NormFloat64()))
			r.New = append(r.New, math.Exp(0.01*rng.NormFloat64()))
		}
		if i == 0 {
			for k := range r.New {
				r.New[k] *= 2
			}
		}
		rows = append(rows, r)
	}
	for i, c := range CompareRows(rows, 0.01, Shares{Old: 0.01, New: 0.01}) {
		if c.Different != (i == 1) {
			t.Errorf("row %d: %+v", i, c)
		}
	}
}
