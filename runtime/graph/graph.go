// Package graph captures the commands of a pipeline, shows how they depend on each other, and issues them again, also with other
// arguments.
package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Graph is a list of commands with their dependencies. It must not be used by several goroutines at once.
type Graph struct {
	session *session.Session
	nodes   []*Node
	queues  []*session.Queue  // of the commands, in the order of their first one
	owned   []*session.Buffer // that stand for buffers which were freed during the capture
}

// Node is a command of a graph.
type Node struct {
	*session.Command
	Name  string // the kernel's name or the kind of command, with a number if it repeats, as in "scale#2"
	After []int  // indexes of nodes that this one depends on, ascending; most that another of these depends on are left out
}

// Capture collects the commands that an owner issues to the queues of a session, until Finish or Abandon.
type Capture struct {
	session *session.Session
	first   uint64 // objects with larger numbers were made during the capture
	stop    func()
	list    []*session.Command
	err     error
}

// mostNodes is the maximum number of commands of a graph.
const mostNodes = 1 << 16

// Begin begins a capture of the commands of an owner, see [session.Session.Watch]. They run as they would without it.
func Begin(s *session.Session, owner uint64) *Capture {
	c := &Capture{session: s, first: s.Serial()}
	c.stop = s.Watch(owner, c.add)
	return c
}

func (c *Capture) add(cmd *session.Command) {
	switch {
	case c.err != nil || cmd.Kind == session.ReadCommand:
	case cmd.Kind == session.HostCommand:
		c.err = offload.Errorf(offload.Unsupported, "graph", "a function of the host cannot be part of a graph").On(cmd.Queue.Device().ID(), cmd.Queue.Label()).
			WithHint("leave queue.host() out of the function")
	case cmd.Call != nil && cmd.Call.Kernel().Info().CallsServices():
		c.err = offload.Errorf(offload.Unsupported, "graph", "the kernel calls services of the host").On(cmd.Queue.Device().ID(), cmd.Call.Kernel().Name()).
			WithHint("launch it outside of the graph")
	case len(c.list) == mostNodes:
		c.err = offload.Errorf(offload.OutOfResources, "graph", "a graph has at most %d commands", mostNodes).
			WithHint("capture one repetition, and replay it")
	default:
		c.list = append(c.list, cmd.Clone())
	}
}

// Abandon ends a capture without a graph.
func (c *Capture) Abandon() { c.stop() }

// Finish ends the capture and returns its graph. Reads are not part of it. A buffer that was made and freed during the capture
// is replaced by one that the graph keeps. Errors: Unsupported for commands that cannot be issued again; OutOfResources for more
// than mostNodes commands; Closed for a buffer that was made before and freed; those of making buffers.
func (c *Capture) Finish() (*Graph, error) {
	c.stop()
	if c.err != nil {
		return nil, c.err
	}
	g := &Graph{session: c.session}
	counts := map[string]int{}
	for _, cmd := range c.list {
		n := &Node{Command: cmd, Name: string(cmd.Kind)}
		if cmd.Call != nil {
			n.Name = cmd.Call.Kernel().Name()
		}
		if counts[n.Name]++; counts[n.Name] > 1 {
			n.Name = fmt.Sprintf("%s#%d", n.Name, counts[n.Name])
		}
		g.nodes = append(g.nodes, n)
		if !slices.Contains(g.queues, cmd.Queue) {
			g.queues = append(g.queues, cmd.Queue)
		}
	}
	if err := g.keepFreed(c.first); err != nil {
		g.Free()
		return nil, err
	}
	g.Connect()
	return g, nil
}

// keepFreed replaces the buffers that were made after the object first and freed since. An older buffer that was freed is a Closed
// error.
func (g *Graph) keepFreed(first uint64) error {
	kept := map[uint64]*session.Buffer{}
	for _, n := range g.nodes {
		for _, b := range Buffers(n.Command) {
			if !b.Freed() {
				continue
			}
			id, offset, size, global := b.Memory()
			if global || id <= first {
				return offload.Errorf(offload.Closed, "graph", "the buffer was freed, and the graph uses it").On(b.Device().ID(), b.Label()).
					WithHint("free it after the last replay")
			}
			if kept[id] == nil {
				fresh, err := b.Device().NewBuffer(session.BufferOptions{Type: offload.U8, Dims: rows(size), Label: b.Label(), Kind: b.Kind()})
				if err != nil {
					return err
				}
				g.owned = append(g.owned, fresh)
				kept[id] = fresh
			}
			view, err := kept[id].View(session.ViewOptions{Start: offset, Dims: b.Dims(), Type: b.Type(), Elem: b.Elem()})
			if err != nil {
				return err
			}
			if err := replace(n.Command, b, view); err != nil {
				return err
			}
		}
	}
	return nil
}

// rows returns the extents of a buffer that holds at least size elements, each within the limit of a dimension.
func rows(size int64) []int {
	const row = 1 << 30
	if size <= row {
		return []int{int(size)}
	}
	return []int{int((size + row - 1) / row), row}
}

// use is an access of a node to a range of memory.
type use struct {
	node     int
	from, to int64
}

// overlapping adds to needs the nodes of the uses in list that overlap with the range of a. It returns the uses that the range does
// not cover.
func overlapping(list []use, a Access, needs map[int]bool) (rest []use) {
	for _, u := range list {
		if a.From < u.to && u.from < a.To {
			needs[u.node] = true
		}
		if u.from < a.From || a.To < u.to {
			rest = append(rest, u)
		}
	}
	return rest
}

// Connect computes the dependencies. A command depends on earlier ones that share memory with it, if one of the two writes it. It
// also depends on those that its queue waits for. Connect must be called after a change of a node's buffers.
func (g *Graph) Connect() {
	reads, writes := map[uint64][]use{}, map[uint64][]use{} // that no later write covers
	last := map[*session.Queue]int{}                        // 1 + the last node that waits, by queue
	for i, n := range g.nodes {
		needs := map[int]bool{}
		if w := last[n.Queue]; w > 0 {
			needs[w-1] = true
		}
		if n.Kind == session.WaitCommand {
			for j := range g.nodes[:i] {
				if q := g.nodes[j].Queue; q == n.Queue || q == n.Behind {
					needs[j] = true
				}
			}
			last[n.Queue] = i + 1
		}
		for _, a := range accesses(n.Command) {
			this := use{i, a.From, a.To}
			rest := overlapping(writes[a.Memory], a, needs)
			if !a.Write {
				reads[a.Memory] = append(reads[a.Memory], this)
				continue
			}
			reads[a.Memory], writes[a.Memory] = overlapping(reads[a.Memory], a, needs), append(rest, this)
		}
		delete(needs, i)
		n.After = g.reduce(needs)
	}
}

// mostImplied is the maximum number of nodes that reduce visits.
const mostImplied = 1000

// reduce removes the nodes that others of the set depend on. In a large graph it may leave some.
func (g *Graph) reduce(needs map[int]bool) []int {
	list := make([]int, 0, len(needs))
	for i := range needs {
		list = append(list, i)
	}
	slices.Sort(list)
	if len(list) < 2 {
		return list
	}
	implied := map[int]bool{}
	var mark func(i int)
	mark = func(i int) {
		for _, j := range g.nodes[i].After {
			if j >= list[0] && !implied[j] && len(implied) < mostImplied {
				implied[j] = true
				mark(j)
			}
		}
	}
	for _, i := range list {
		mark(i)
	}
	return slices.DeleteFunc(list, func(i int) bool { return implied[i] })
}

// Nodes returns the commands in the order of issue.
func (g *Graph) Nodes() []*Node { return g.nodes }

// Queues returns the queues of the commands, in the order of their first one.
func (g *Graph) Queues() []*session.Queue { return g.queues }

// Node returns the node with a name. Errors: NotFound with the nearest name.
func (g *Graph) Node(name string) (*Node, error) {
	names := make([]string, len(g.nodes))
	for i, n := range g.nodes {
		if n.Name == name {
			return n, nil
		}
		names[i] = n.Name
	}
	e := offload.Errorf(offload.NotFound, "graph", "there is no node %q", name)
	if near := spelling.Nearest(name, names); near != "" {
		return nil, e.WithHint("did you mean %q?", near)
	}
	return nil, e.WithHint("the nodes are %s", strings.Join(names[:min(len(names), 10)], ", "))
}

// Parameter returns the index of the launch's parameter with a name. The index itself is the name of a parameter without one.
// Errors: NotFound with the names of the parameters, InvalidArgument for a command that is no launch.
func (n *Node) Parameter(name string) (int, error) {
	if n.Call == nil {
		return 0, offload.Errorf(offload.InvalidArgument, "graph", "the node %q is a %s, which has no parameters", n.Name, n.Kind).
			WithHint("name the node of a launch")
	}
	var names []string
	for i := range n.Call.Args() {
		p := n.Call.Param(i)
		if p == name || p == "" && fmt.Sprint(i) == name {
			return i, nil
		}
		names = append(names, p)
	}
	return 0, offload.Errorf(offload.NotFound, "graph", "the kernel of %q has no parameter %q", n.Name, name).
		WithHint("its parameters are %s", strings.Join(names, ", "))
}

// Replace makes all commands use the buffer fresh in place of old, and of views within old. Errors: InvalidArgument for buffers of
// different types or extents, InvalidDevice for buffers of different devices, NotFound if no command uses the memory of old.
func (g *Graph) Replace(old, fresh *session.Buffer) error {
	id, _, _, _ := old.Memory()
	found := false
	for _, n := range g.nodes {
		for _, b := range Buffers(n.Command) {
			if other, _, _, _ := b.Memory(); other == id {
				found = true
				if err := replace(n.Command, old, fresh); err != nil {
					return err
				}
				break
			}
		}
	}
	if !found {
		return offload.Errorf(offload.NotFound, "graph", "no command of the graph uses the buffer").On(old.Device().ID(), old.Label()).
			WithHint("name a buffer that a launch or a copy of the graph uses")
	}
	g.Connect()
	return nil
}

// Replay issues the commands again, and returns an event that is reached when they have run. If a queue has no space, Replay waits
// as [session.Queue.WaitForSpace] does. If a command is refused, Replay returns its error; the commands before it were issued. A
// graph without commands is an InvalidArgument error.
func (g *Graph) Replay(ctx context.Context) (*session.Event, error) {
	if len(g.nodes) == 0 {
		return nil, offload.Errorf(offload.InvalidArgument, "graph", "the graph has no commands").WithHint("launch kernels or copy buffers in the captured function")
	}
	for _, n := range g.nodes {
		if err := n.Queue.WaitForSpace(ctx); err != nil {
			return nil, err
		}
		if err := Issue(n.Command); err != nil {
			return nil, err
		}
	}
	end := g.nodes[len(g.nodes)-1].Queue
	for _, q := range g.queues {
		if q == end {
			continue
		}
		ev, err := q.Record("")
		if err == nil {
			err = end.Wait(ev)
		}
		if err != nil {
			return nil, err
		}
	}
	return end.Record("graph")
}

// Free frees the buffers that the graph keeps. The graph has no commands afterwards.
func (g *Graph) Free() {
	for _, b := range g.owned {
		_ = b.Free() // the graph is the only owner
	}
	g.owned, g.nodes = nil, nil
}
