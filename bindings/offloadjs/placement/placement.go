// Package placement chooses the devices of pipelines by the wishes of script and program, and says why.
//
// # Design
//
// A program loads a script once for each instance of its pipeline. All instances share a [Policy], since only the instances
// together show how many of them a device has. An instance that is loaded after a device was lost chooses again, so that a list
// of devices is also a list of replacements.
package placement

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/orepl/orepl/bindings/offloadjs/reach"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Wish says which device a script or a program wants. At most one field is set.
type Wish struct {
	Device string   // required device
	Prefer []string // ids, of which the first available one is taken
	Spread []string // ids of devices over which instances are spread
}

// Choice says which device an instance of a pipeline has, and why.
type Choice struct {
	Device    string   // id
	Reason    string   // such as "the first available one of cuda, opencl, cpu"
	Passed    []Passed // what was not taken, in order
	Instances int      // number of instances on the device; 0 in the result of [Seat.Choose]
}

// Passed is a device that was not taken.
type Passed struct {
	Device string // id, or what the list has in its place, such as "cuda"
	Reason string // such as "not available: there is no driver"
}

// String returns the choice in one line: the device, the reason, and why others were not taken.
func (c Choice) String() string {
	text := c.Device + ": " + c.Reason
	for _, p := range c.Passed {
		text += "; " + p.Device + ": " + p.Reason
	}
	return text
}

// Policy chooses the devices of the instances of one pipeline. It is safe for concurrent use.
type Policy struct {
	program Wish
	taken   Taken

	mu    sync.Mutex
	seats map[*Seat]*session.Device // devices of a list for spreading
	width int                       // number of devices over which instances are spread
	told  map[string]bool           // warnings
}

// New returns the policy of a pipeline. The program's wish replaces the lists of the script. It is an error if the program's
// wish has an empty id, the same twice, or two lists.
func New(program Wish) (*Policy, error) {
	if len(program.Prefer) > 0 && len(program.Spread) > 0 {
		return nil, contract.Errorf(contract.InvalidArgument, "load pipeline", "both Prefer and Devices are set").
			WithHint("Prefer for one device, Devices to use several at a time")
	}
	for name, list := range map[string][]string{"Prefer": program.Prefer, "Devices": program.Spread} {
		if err := Check(list); err != nil {
			return nil, contract.Errorf(contract.InvalidArgument, "load pipeline", "%s: %v", name, err)
		}
	}
	return &Policy{program: program, seats: map[*Seat]*session.Device{}, told: map[string]bool{}}, nil
}

// Taken counts instances in other processes, which have policies of their own.
type Taken struct {
	Devices map[string]int // by the id of their device
	Others  int            // whose device is not known yet
}

// Beside returns the policy of one instance of a pipeline whose other instances are in other processes.
func Beside(program Wish, taken Taken) (*Policy, error) {
	p, err := New(program)
	if err == nil {
		p.taken = taken
	}
	return p, err
}

// Check returns an error for a list with an empty or a repeated id.
func Check(list []string) error {
	for i, id := range list {
		if id == "" {
			return errors.New("an id is empty")
		}
		if slices.Contains(list[:i], id) {
			return fmt.Errorf("%q is named twice", id)
		}
	}
	return nil
}

// Width returns the number of devices over which the instances are spread, or 1 if they are not.
func (p *Policy) Width() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.width, 1)
}

// Seat is the place of an instance.
type Seat struct{ policy *Policy }

// Seat returns a place for a new instance. [Seat.Leave] ends it.
func (p *Policy) Seat() *Seat { return &Seat{policy: p} }

// Leave frees the place.
func (s *Seat) Leave() {
	p := s.policy
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.seats, s)
}

// Choose returns the device for a pipeline of the instance, and why. warning names unavailable devices of a list for spreading, and
// misspelt ones that were preferred. It is empty if an earlier call for the policy returned it. Errors: NotFound if no device of a
// list is available, and those of [reach.Devices.Device].
func (s *Seat) Choose(ctx context.Context, d *reach.Devices, script Wish) (found *session.Device, choice Choice, warning string, err error) {
	p := s.policy
	c := chooser{ctx: ctx, reach: d}
	wish, whose := script, ""
	if program := p.program; len(program.Prefer)+len(program.Spread) > 0 {
		if whose = ", which the program lists"; script.Device == "" {
			wish = program
		}
	}
	switch {
	case wish.Device != "":
		found, err = d.Device(ctx, wish.Device)
		c.reason = "the script requires it"
	case len(wish.Prefer) > 0:
		found, err = c.first(wish.Prefer)
		c.reason = "the first available one of " + strings.Join(wish.Prefer, ", ") + whose
	case len(wish.Spread) > 0:
		if err = c.all(wish.Spread); err == nil {
			found = s.fewest(&c, whose)
		}
	default:
		if found, err = d.Device(ctx, ""); err == nil {
			c.reason = "the best available device"
			for _, other := range d.Others(found) {
				c.pass(other.Name, because(other.Err))
			}
		}
	}
	if err != nil {
		return nil, Choice{}, "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(wish.Prefer) > 0 { // a preference expects that some are missing, but not that none can exist
		c.missing = slices.DeleteFunc(c.missing, func(text string) bool { return !strings.Contains(text, misspelt) })
	}
	if len(c.missing) > 0 {
		warning = found.ID() + " is used: " + strings.Join(c.missing, "; ")
		if p.told[warning] {
			warning = ""
		} else {
			p.told[warning] = true
		}
	}
	return found, Choice{Device: found.ID(), Reason: c.reason, Passed: c.passed}, warning, nil
}

// fewest returns the usable device with the fewest instances, the first of several. Later pipelines of an instance get the device of
// its first one, if that is still usable.
func (s *Seat) fewest(c *chooser, whose string) *session.Device {
	p := s.policy
	p.mu.Lock()
	defer p.mu.Unlock()
	p.width = len(c.usable)
	if own := p.seats[s]; slices.Contains(c.usable, own) {
		c.reason = "the script's other pipeline has it"
		return own
	}
	counts := make([]int, len(c.usable))
	ids := make([]string, len(c.usable))
	for i, found := range c.usable {
		ids[i] = found.ID()
		counts[i] = p.taken.Devices[ids[i]] + p.taken.Others/len(c.usable)
		if i < p.taken.Others%len(c.usable) {
			counts[i]++
		}
		for _, device := range p.seats {
			if device == found {
				counts[i]++
			}
		}
	}
	least := 0
	for i, n := range counts {
		if n < counts[least] {
			least = i
		}
	}
	c.reason = fmt.Sprintf("instances are spread over %s%s; of these it has the fewest, %d", strings.Join(ids, ", "), whose, counts[least])
	for i, id := range ids {
		if i != least {
			c.pass(id, fmt.Sprintf("it has %d", counts[i]))
		}
	}
	p.seats[s] = c.usable[least]
	return c.usable[least]
}

// chooser collects what a choice considers.
type chooser struct {
	ctx     context.Context
	reach   *reach.Devices
	usable  []*session.Device // over which instances are spread
	passed  []Passed
	missing []string // texts about unavailable devices
	reason  string
}

func (c *chooser) pass(id, reason string) { c.passed = append(c.passed, Passed{id, reason}) }

// lacks records that devices are not available.
func (c *chooser) lacks(id, reason string) {
	c.pass(id, "not available: "+reason)
	c.missing = append(c.missing, id+" is not available: "+reason)
}

// find returns the usable devices that an id of a list names. After an error no other id is tried. A device that cannot be
// used is noted, and no error.
func (c *chooser) find(id string) ([]*session.Device, error) {
	usable, passed, err := c.reach.All(c.ctx, id)
	for _, other := range passed {
		c.lacks(other.Name, because(other.Err))
	}
	switch code := contract.CodeOf(err); {
	case err == nil:
		return usable, nil
	case code == contract.Cancelled || code == contract.InvalidArgument:
		return nil, err
	}
	c.lacks(id, because(err))
	return nil, nil
}

// first returns the first usable device of a list of ids. It returns an error if there is none, and those of find.
func (c *chooser) first(list []string) (*session.Device, error) {
	for i, id := range list {
		usable, err := c.find(id)
		if err != nil {
			return nil, err
		}
		if len(usable) == 0 {
			continue
		}
		for _, other := range usable[1:] {
			c.pass(other.ID(), "it comes after "+usable[0].ID())
		}
		for _, later := range list[i+1:] {
			c.pass(later, "it comes after "+id+" in the list")
		}
		return usable[0], nil
	}
	return nil, c.none()
}

// all adds the devices that a list of ids names to usable. It returns an error for an invalid id, after the end of the context, and if
// none is usable. It only notes ids without a usable device.
func (c *chooser) all(list []string) error {
	for _, id := range list {
		usable, err := c.find(id)
		if err != nil {
			return err
		}
		for _, found := range usable {
			if !slices.Contains(c.usable, found) {
				c.usable = append(c.usable, found)
			}
		}
	}
	if len(c.usable) == 0 {
		return c.none()
	}
	return nil
}

func (c *chooser) none() error {
	return contract.Errorf(contract.NotFound, "pipeline", "no device of the list is available: %s", strings.Join(c.missing, "; ")).
		WithHint("add 'cpu' to the list")
}

// misspelt begins the hint of an id that resembles one that exists.
const misspelt = "did you mean"

// because returns an error's text without the operation and the device, which the text around it names.
func because(err error) string {
	var e *contract.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	if e.Detail == "" && e.Err != nil {
		return because(e.Err)
	}
	bare := *e
	bare.Op, bare.Device = "", ""
	if question, _, ok := strings.Cut(e.Hint, "?"); ok && strings.HasPrefix(question, misspelt) {
		return bare.Message() + ": " + question + "?"
	}
	return bare.Message()
}
