package pool

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// begun drains Next.
func begun(p *Pool[int]) (list [][2]int) {
	for {
		task, member, ok := p.Next()
		if !ok {
			return list
		}
		list = append(list, [2]int{task, member})
	}
}

func TestTasksBeginWhereTheirDataIs(t *testing.T) {
	p := New[int](2, 1)
	p.Push(1, 1)
	p.Push(2, 1)
	p.Push(3, 0)
	p.Push(4, Anywhere)
	if got := begun(p); !slices.Equal(got, [][2]int{{3, 0}, {1, 1}}) {
		t.Error(got)
	}
	p.End(0, true) // takes the task without data before another member's
	if got := begun(p); !slices.Equal(got, [][2]int{{4, 0}}) {
		t.Error(got)
	}
	p.End(0, true) // member 1 is busy
	if got := begun(p); !slices.Equal(got, [][2]int{{2, 0}}) {
		t.Error(got)
	}
	if m := p.Members()[0]; m != (Member{Running: 1, Done: 2, Stolen: 1}) {
		t.Error(m)
	}
}

func TestLostMember(t *testing.T) {
	p := New[int](2, 1)
	for task := range 3 {
		p.Push(task, 0)
	}
	if got := begun(p); !slices.Equal(got, [][2]int{{0, 0}, {2, 1}}) {
		t.Error(got)
	}
	p.Lose(0)
	p.End(0, true)
	p.Requeue(0)
	p.Push(5, 0)
	p.End(1, true)
	for _, want := range []int{0, 1, 5} {
		if got := begun(p); !slices.Equal(got, [][2]int{{want, 1}}) {
			t.Error(got, want)
		}
		p.End(1, true)
	}
	if p.Alive() != 1 || p.Waiting() != 0 {
		t.Error(p.Alive(), p.Waiting())
	}
}

// TestEachTaskBeginsOnce checks invariants on random histories.
func TestEachTaskBeginsOnce(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		members, width := 1+r.IntN(4), 1+r.IntN(3)
		p := New[int](members, width)
		pushed, gone := 0, map[int]bool{}
		running := make([][]int, members)
		for range 100 {
			switch r.IntN(6) {
			case 0, 1:
				p.Push(pushed, r.IntN(members+1)-1)
				pushed++
			case 2:
				for _, b := range begun(p) {
					if gone[b[0]] {
						t.Fatalf("seed %d: task %d begins twice", seed, b[0])
					}
					gone[b[0]] = true
					running[b[1]] = append(running[b[1]], b[0])
				}
				for i, list := range running {
					if m := p.Members()[i]; len(list) != m.Running || m.Running > width {
						t.Fatalf("seed %d: member %d runs %d tasks of %d", seed, i, len(list), width)
					}
					if !p.Members()[i].Lost && len(list) < width && p.Waiting() > 0 {
						t.Fatalf("seed %d: member %d is idle while %d tasks wait", seed, i, p.Waiting())
					}
				}
			case 3, 4:
				if i := r.IntN(members); len(running[i]) > 0 {
					task := running[i][0]
					running[i] = running[i][1:]
					p.End(i, true)
					if p.Members()[i].Lost {
						gone[task] = false
						p.Requeue(task)
					}
				}
			case 5:
				if p.Alive() > 1 && r.IntN(10) == 0 {
					p.Lose(r.IntN(members))
				}
			}
		}
		for _, task := range p.Withdraw(func(int) bool { return true }) {
			if gone[task] {
				t.Fatalf("seed %d: task %d waits and has begun", seed, task)
			}
			gone[task] = true
		}
		for task := range pushed {
			if !gone[task] {
				t.Fatalf("seed %d: task %d is lost", seed, task)
			}
		}
	}
}

// TestBusyMembersTakeNoTurns fills all slots of many members. The search for a task must then ask no member, and later
// only the one with a free slot.
func TestBusyMembersTakeNoTurns(t *testing.T) {
	const members = 1000
	p := New[int](members, 2)
	for task := range 3 * members {
		p.Push(task, Anywhere)
	}
	if n := len(begun(p)); n != 2*members || len(p.turns) != 0 {
		t.Errorf("%d tasks began, %d members still take turns", n, len(p.turns))
	}
	p.End(7, true)
	if len(p.turns) != 1 {
		t.Errorf("%d members take turns", len(p.turns))
	}
	if got := begun(p); !slices.Equal(got, [][2]int{{2 * members, 7}}) {
		t.Error(got)
	}
}

// TestJoinPool adds members to a pool without any, and to one whose only member is lost: they take the tasks that wait.
func TestJoinPool(t *testing.T) {
	p := New[string](0, 1)
	p.Push("a", Anywhere)
	p.Push("b", Anywhere)
	if _, _, ok := p.Next(); ok || p.Alive() != 0 {
		t.Error("a pool without members begins a task")
	}
	p.Join()
	if task, member, ok := p.Next(); !ok || task != "a" || member != 0 {
		t.Errorf("%q on %d, %v", task, member, ok)
	}
	p.Push("c", 0)
	p.Lose(0)
	p.End(0, false)
	p.Requeue("a")
	if _, _, ok := p.Next(); ok {
		t.Error("a lost member begins a task")
	}
	p.Join()
	p.Join()
	var got []string
	for range 3 {
		task, member, ok := p.Next()
		if !ok {
			p.End(1, true)
			task, member, ok = p.Next()
		}
		if !ok || member == 0 {
			t.Fatalf("%q on %d, %v", task, member, ok)
		}
		got = append(got, task)
	}
	if !slices.Equal(got, []string{"a", "b", "c"}) || p.Alive() != 2 || len(p.Members()) != 3 {
		t.Errorf("%q, %+v", got, p.Members())
	}
}

// TestWithdrawnTasksAreNotOwned withdraws tasks whose data is on a member: the count of such tasks falls.
func TestWithdrawnTasksAreNotOwned(t *testing.T) {
	p := New[int](2, 1)
	for task := range 4 {
		p.Push(task, task%2)
	}
	if got := p.Withdraw(func(task int) bool { return task != 3 }); len(got) != 3 || p.owned != 1 || p.Waiting() != 1 {
		t.Errorf("%v withdrawn, %d owned, %d waiting", got, p.owned, p.Waiting())
	}
}
