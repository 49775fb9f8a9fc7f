// Package pool decides which device runs which task. A task runs where its data is, or on an idle device if that one is busy.
// The tasks of a lost device run elsewhere. The package starts nothing itself. Its methods must not be called by several
// goroutines at the same time.
package pool

import "slices"

// Anywhere is the member of a task without data on a device.
const Anywhere = -1

// Pool holds tasks that wait, and the members that run them.
type Pool[T any] struct {
	members []Member
	near    [][]T // per member, the waiting tasks whose data it has
	owned   int   // tasks in near
	common  []T   // waiting tasks without such data, and those of lost members
	width   int
	turns   []int // members that may have room, the one that is asked first in front
}

// Member is a device of the pool.
type Member struct {
	Running int  // tasks that run on it
	Done    int  // tasks that ended well on it
	Stolen  int  // tasks that it began although their data is elsewhere
	Lost    bool // it begins no task

	out bool // it takes no turns, since it has no room
}

// New returns a pool of members, each of which runs up to width tasks at a time.
func New[T any](members, width int) *Pool[T] {
	p := &Pool[T]{members: make([]Member, members), near: make([][]T, members), width: width}
	for i := range members {
		p.turns = append(p.turns, i)
	}
	return p
}

// Members returns the state of each member.
func (p *Pool[T]) Members() []Member { return p.members }

// Push adds a task whose data is on a member, or Anywhere.
func (p *Pool[T]) Push(task T, member int) {
	if member == Anywhere || p.members[member].Lost {
		p.common = append(p.common, task)
		return
	}
	p.near[member] = append(p.near[member], task)
	p.owned++
}

// Again adds a task that ran on a member which was lost, before all others.
func (p *Pool[T]) Again(task T) { p.common = slices.Insert(p.common, 0, task) }

// Next returns a task that can begin, and the member that runs it until End. Members take turns. Each begins its own tasks, then
// those without data. Then it takes the last task of the longest list among members all of whose places are taken.
func (p *Pool[T]) Next() (task T, member int, ok bool) {
	if len(p.common)+p.owned == 0 {
		return task, 0, false
	}
	for _, choose := range [...]func(int) (T, bool){p.own, p.steal} {
		for range p.turns {
			at := p.turns[0]
			p.turns = p.turns[1:]
			if !p.free(at) {
				p.members[at].out = true // End lets it take turns again
				continue
			}
			p.turns = append(p.turns, at)
			if task, ok = choose(at); ok {
				p.members[at].Running++
				return task, at, true
			}
		}
	}
	return task, 0, false
}

func (p *Pool[T]) free(member int) bool {
	m := &p.members[member]
	return !m.Lost && m.Running < p.width
}

// own returns the first waiting task of a member, or the first without data.
func (p *Pool[T]) own(member int) (task T, ok bool) {
	if task, ok = takeFirst(&p.near[member]); ok {
		p.owned--
		return task, true
	}
	return takeFirst(&p.common)
}

// steal returns the last task of the longest list of a member that is busy.
func (p *Pool[T]) steal(member int) (task T, ok bool) {
	longest := -1
	if p.owned == 0 {
		return task, false
	}
	for i, list := range p.near {
		if len(list) > 0 && !p.free(i) && (longest < 0 || len(list) > len(p.near[longest])) {
			longest = i
		}
	}
	if longest < 0 {
		return task, false
	}
	list := p.near[longest]
	task = list[len(list)-1]
	p.near[longest] = slices.Delete(list, len(list)-1, len(list))
	p.members[member].Stolen++
	p.owned--
	return task, true
}

func takeFirst[T any](list *[]T) (task T, ok bool) {
	if len(*list) == 0 {
		return task, false
	}
	var none T
	task, (*list)[0] = (*list)[0], none
	*list = (*list)[1:]
	return task, true
}

// End ends a task that Next returned for a member. It counts those that ended well.
func (p *Pool[T]) End(member int, well bool) {
	p.members[member].Running--
	if well {
		p.members[member].Done++
	}
	if p.members[member].out && p.free(member) {
		p.members[member].out = false
		p.turns = append(p.turns, member)
	}
}

// Lose takes a member out. Its waiting tasks can begin elsewhere; those that run are ended as others are.
func (p *Pool[T]) Lose(member int) {
	p.members[member].Lost = true
	p.common = append(p.common, p.near[member]...)
	p.owned -= len(p.near[member])
	p.near[member] = nil
}

// Alive returns the number of members that are not lost.
func (p *Pool[T]) Alive() int {
	n := 0
	for i := range p.members {
		if !p.members[i].Lost {
			n++
		}
	}
	return n
}

// Withdraw removes the waiting tasks for which drop returns true, and returns them.
func (p *Pool[T]) Withdraw(drop func(T) bool) (withdrawn []T) {
	keep := func(list []T) []T {
		return slices.DeleteFunc(list, func(task T) bool {
			if drop(task) {
				withdrawn = append(withdrawn, task)
				return true
			}
			return false
		})
	}
	p.common = keep(p.common)
	for i := range p.near {
		p.near[i] = keep(p.near[i])
	}
	return withdrawn
}

// Waiting returns the number of tasks that have not begun.
func (p *Pool[T]) Waiting() int {
	n := len(p.common)
	for _, list := range p.near {
		n += len(list)
	}
	return n
}
