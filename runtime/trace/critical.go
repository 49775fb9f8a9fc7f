package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// need is a command of another track that a command waits for.
type need struct {
	seq           uint64
	track, reason string
}

// depends reads what a slice says about a command's issue and its dependencies. A command with a number but no time of issue was issued
// when it began. Without both, issued is -1.
func (c *command) depends(args map[string]any) {
	c.issued = -1
	if seq, ok := args[commandKey].(float64); ok && seq >= 0 {
		c.seq, c.issued = uint64(seq), c.start
	}
	if at, ok := args[issuedKey].(float64); ok {
		c.issued = duration(at)
	}
	for i := 0; ; i++ {
		text, ok := args[needKey+strconv.Itoa(i)].(string)
		if !ok {
			return
		}
		number, rest, _ := strings.Cut(text, " of ")
		track, reason, _ := strings.Cut(rest, ": ")
		if seq, err := strconv.ParseUint(number, 10, 64); err == nil {
			c.needs = append(c.needs, need{seq, track, reason})
		}
	}
}

// The names of the parts of a critical path between commands.
const (
	issuing = "(the program, before it issued a command)"
	between = "(between commands)"
)

// dependencies finds the waits of commands and the critical path. It begins with the command that ended last. Before each
// command it continues with the one that ended last among the previous one of its queue and those that it waited for. The time
// between the two belongs to the program until the command was issued, and to the device from then on.
func (s *Summary) dependencies(commands []command, names map[[2]int]string) {
	if len(commands) == 0 {
		return
	}
	tracks := map[string][]*command{}
	for i := range commands {
		c := &commands[i]
		tracks[names[c.track]] = append(tracks[names[c.track]], c)
	}
	for _, list := range tracks {
		slices.SortStableFunc(list, func(a, b *command) int { return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.start, b.start)) })
		for i, c := range list {
			c.index = i
		}
	}
	// needed returns the last command of a track up to a number: a number may be that of an event.
	needed := func(track string, seq uint64) *command {
		list := tracks[track]
		i, found := slices.BinarySearchFunc(list, seq, func(c *command, seq uint64) int { return cmp.Compare(c.seq, seq) })
		if !found {
			i--
		}
		if i < 0 {
			return nil
		}
		return list[i]
	}
	before := func(c *command) (latest *command) {
		if c.index > 0 {
			latest = tracks[names[c.track]][c.index-1]
		}
		for _, n := range c.needs {
			if other := needed(n.track, n.seq); other != nil && (latest == nil || other.end > latest.end) {
				latest = other
			}
		}
		return latest
	}
	waits := map[string]*Work{}
	last := &commands[0]
	for i := range commands {
		c := &commands[i]
		if c.end > last.end {
			last = c
		}
		for _, n := range c.needs {
			if other := needed(n.track, n.seq); other != nil && c.issued >= 0 && min(other.end, c.start) > c.issued {
				add(waits, fmt.Sprintf("%s waits for %s", names[c.track], n.reason), min(other.end, c.start)-c.issued, 0)
			}
		}
	}
	s.Waits = sorted(waits)
	path := map[string]*Work{}
	at := last.end // what follows is on the path already
	for c, steps := last, 0; c != nil && steps <= len(commands); steps++ {
		add(path, c.name, max(min(c.end, at)-c.start, 0), 0)
		at = min(at, c.start)
		previous := before(c)
		if previous == nil {
			break
		}
		from := min(previous.end, at)
		issued := min(max(c.issued, from), at)
		gap := func(name string, d time.Duration) {
			if d > 0 {
				add(path, name, d, 0)
			}
		}
		gap(issuing, issued-from)
		gap(between, at-issued)
		at = from
		c = previous
	}
	s.Path = sorted(path)
}
