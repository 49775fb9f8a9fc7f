// Package pool assigns tasks to devices. A task runs on the device with its data, or on an idle device if that one is busy. The
// tasks of a lost device run elsewhere. The package starts no task itself. Its methods must not be called concurrently.
// [Collective] copies and reduces buffers of several devices.
//
// # Design
//
// A pool runs functions of its caller and not launches, because a launch names buffers of one device. A function can run
// again on another device.
//
// The parts of a collective operation on several workers wait for each other. So all their queues first wait for earlier
// commands, and then the parts are issued: a wait for another queue covers all that was issued to it, and could cover its part.
package pool

import "slices"

// Anywhere is the member of a task whose data is on no device.
const Anywhere = -1

// Pool holds waiting tasks and the members that run them.
type Pool[T any] struct {
	members []Member
	near    [][]T // per member, the waiting tasks whose data is on it
	owned   int   // tasks in near
	common  []T   // waiting tasks without such data, and those of lost members
	width   int   // maximum number of running tasks of a member
	turns   []int // members that may have free places, in order of preference
}

// Member is the state of a device of the pool.
type Member struct {
	Running int  // number of running tasks
	Done    int  // number of tasks that succeeded
	Stolen  int  // number of tasks that it took from other members
	Lost    bool // a lost member starts no tasks

	out bool // absent from turns, since all places are taken or the member is lost
}

// New returns a pool of members, to which others may join. Each runs up to width tasks at a time.
func New[T any](members, width int) *Pool[T] {
	p := &Pool[T]{width: width}
	for range members {
		p.Join()
	}
	return p
}

// Join adds a member, which is the last one.
func (p *Pool[T]) Join() {
	p.turns = append(p.turns, len(p.members))
	p.members = append(p.members, Member{})
	p.near = append(p.near, nil)
}

// Members returns the state of each member. Later calls of methods change it.
func (p *Pool[T]) Members() []Member { return p.members }

// Push adds a task whose data is on a member, or Anywhere. If the member is lost, the task can begin on any other one.
func (p *Pool[T]) Push(task T, member int) {
	if member == Anywhere || p.members[member].Lost {
		p.common = append(p.common, task)
		return
	}
	p.near[member] = append(p.near[member], task)
	p.owned++
}

// Requeue adds a task of a lost member in front of the tasks without data.
func (p *Pool[T]) Requeue(task T) { p.common = slices.Insert(p.common, 0, task) }

// Next returns a task that can begin, and the member that runs it until End, or false if none can. Members take turns. Each
// begins its own tasks, then those without data. If no free member finds such a task, one steals the last task of the longest
// list among fully occupied members.
func (p *Pool[T]) Next() (task T, member int, ok bool) {
	if len(p.common)+p.owned == 0 {
		return task, 0, false
	}
	for _, choose := range [...]func(int) (T, bool){p.own, p.steal} {
		for range p.turns {
			at := p.turns[0]
			p.turns = p.turns[1:]
			if !p.free(at) {
				p.members[at].out = true // End adds it to turns again
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

// own takes the first waiting task of a member, or else the first task without data. It returns false if there is neither.
func (p *Pool[T]) own(member int) (task T, ok bool) {
	if task, ok = takeFirst(&p.near[member]); ok {
		p.owned--
		return task, true
	}
	return takeFirst(&p.common)
}

// steal takes the last task from the longest list of a member that is fully occupied, and counts it as stolen by member. It
// returns false if all such lists are empty.
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

// End ends a task that Next returned for a member. The member counts a task that succeeded as done.
func (p *Pool[T]) End(member int, succeeded bool) {
	p.members[member].Running--
	if succeeded {
		p.members[member].Done++
	}
	if p.members[member].out && p.free(member) {
		p.members[member].out = false
		p.turns = append(p.turns, member)
	}
}

// Lose marks a member as lost. Its waiting tasks can begin elsewhere; its running tasks still need End.
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
		n := len(p.near[i])
		p.near[i] = keep(p.near[i])
		p.owned -= n - len(p.near[i])
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
