package session

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"text/tabwriter"

	"github.com/orepl/orepl/lang/printable"
	"github.com/orepl/orepl/runtime/offload"
)

// Object is an entry of the table of live objects.
type Object struct {
	ID     uint64 // in order of creation
	Kind   string // "buffer", "queue", "event", "program" or "library"
	Label  string
	Device string // empty for a library
	Bytes  int64
	Pos    offload.Position // position of the creation, if known
	Owner  uint64           // number of the owner from NewOwner, or 0
}

// String returns the object in one line.
func (o Object) String() string {
	text := o.Kind
	if o.Label != "" {
		text += fmt.Sprintf(" %q", o.Label)
	}
	if o.Device != "" {
		text += " on " + o.Device
	}
	if o.Bytes > 0 {
		text += fmt.Sprintf(", %d bytes", o.Bytes)
	}
	if p := o.Pos.String(); p != "" {
		text += ", made at " + p
	}
	return text
}

// LogValue lets loggers print the object as one value.
func (o Object) LogValue() slog.Value { return slog.StringValue(o.String()) }

// WriteObjects writes a table of objects.
func WriteObjects(w io.Writer, objects []Object) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "KIND\tLABEL\tDEVICE\tBYTES\tMADE AT")
	for _, o := range objects {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\n", o.Kind, printable.Line(o.Label), printable.Line(o.Device), o.Bytes, printable.Line(o.Pos.String()))
	}
	return t.Flush()
}

// liveTable is the set of live objects. It must not keep a buffer reachable, because the collector frees unreachable ones.
type liveTable struct {
	mu      sync.Mutex
	objects map[uint64]liveEntry
}

type liveEntry struct {
	object   Object
	library  *Library
	unlisted bool // omitted from Live
}

func (t *liveTable) add(e liveEntry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.objects == nil {
		t.objects = make(map[uint64]liveEntry)
	}
	t.objects[e.object.ID] = e
}

func (t *liveTable) remove(id uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.objects, id)
}

func (t *liveTable) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.objects = nil
}

func (t *liveTable) entries() []liveEntry {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]liveEntry, 0, len(t.objects))
	for _, e := range t.objects {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b liveEntry) int { return cmp.Compare(a.object.ID, b.object.ID) })
	return list
}

func (t *liveTable) libraries() []*Library {
	var list []*Library
	for _, e := range t.entries() {
		if e.library != nil {
			list = append(list, e.library)
		}
	}
	return list
}

// NewOwner returns a number that identifies one user of the session as the owner of objects. The name, which may be empty, is that
// of the owner in the spans that [Options.Observe] receives.
func (s *Session) NewOwner(name string) uint64 {
	number := s.owners.Add(1)
	s.spans.Name(number, name)
	return number
}

// EndOwner forgets an owner's name.
func (s *Session) EndOwner(number uint64) { s.spans.Name(number, "") }

// Live returns the objects that were not freed or closed, in order of creation, and the recorded events that have not been reached.
// It omits default queues, unlisted queues and libraries, and the programs of unlisted libraries.
func (s *Session) Live() []Object {
	var list []Object
	for _, e := range s.live.entries() {
		if !e.unlisted {
			list = append(list, e.object)
		}
	}
	for _, p := range s.opened() {
		for _, d := range p.devices {
			for _, q := range d.allQueues() {
				list = append(list, q.pendingEvents()...)
			}
		}
	}
	slices.SortFunc(list, func(a, b Object) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// Collected returns the number of buffers that the garbage collector freed.
func (s *Session) Collected() int64 { return s.collected.Load() }
