package recording

import (
	"context"
	"time"
)

// Shape is a launch whose results do not depend on the group size.
type Shape struct {
	Kernel string
	Size   [3]int
	Group  []int // the recorded group size; nil: the device's choice
	Most   int   // maximum number of work-items of a group; 0: no limit is known

	launch int // position in the commands
}

// Shapes returns the launches whose results do not depend on the group size. It omits those that are cooperative, have shared
// memory beyond the kernel's own, or limit teams or threads.
func (r *Replay) Shapes() (list []Shape) {
	for i, c := range r.commands {
		if c.Call == nil {
			continue
		}
		k := c.Call.Kernel()
		info, cfg := k.Info(), &r.configs[i]
		if info.ObservesGroup || cfg.Cooperative || cfg.SharedBytes > 0 || cfg.Teams > 0 || cfg.ThreadLimit > 0 {
			continue
		}
		most := k.Device().Info().Limits.GroupItems
		if n := info.GroupItems; n > 0 && (most == 0 || n < most) {
			most = n
		}
		list = append(list, Shape{k.Name(), [3]int(cfg.Size), r.file.Commands[i].Launch.Group, most, i})
	}
	return list
}

// SetGroup makes a launch use groups of a size; nil leaves it to the device. Errors: those of [session.Kernel.Bind], such as
// InvalidSize for groups that are too large. After an error the launch is as before.
func (r *Replay) SetGroup(s Shape, group []int) error {
	cfg := r.configs[s.launch]
	cfg.GroupSize = group
	call := r.commands[s.launch].Call
	changed, err := call.Kernel().Bind(cfg, call.Args()...)
	if err != nil {
		return err
	}
	r.commands[s.launch].Call, r.configs[s.launch] = changed, cfg
	return nil
}

// Time runs the replay like [Replay.Run], but waits before and after each of the launches, which must be in the order of the recording.
// It returns the time of each.
func (r *Replay) Time(ctx context.Context, launches []Shape) ([]time.Duration, error) {
	times, next := make([]time.Duration, len(launches)), 0
	for i, c := range r.commands {
		timed := next < len(launches) && launches[next].launch == i
		if timed {
			if err := r.sync(ctx); err != nil {
				return nil, err
			}
		}
		began := time.Now()
		if err := issue(ctx, c); err != nil {
			return nil, err
		}
		if timed {
			if err := c.Queue.Sync(ctx); err != nil {
				return nil, err
			}
			times[next] = time.Since(began)
			next++
		}
	}
	return times, r.sync(ctx)
}

// Compare orders shapes of a recording by their positions in it.
func (s Shape) Compare(o Shape) int { return s.launch - o.launch }
