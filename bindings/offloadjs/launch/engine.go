package launch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/runtime/session"
)

// engines returns a line for each device that a specialization was launched on. The line has the device's execution engine and
// the reason for its choice; devices that do not report them are omitted.
func engines(s *specialization) string {
	devices := make([]*session.Device, 0, len(s.on))
	for d := range s.on {
		devices = append(devices, d)
	}
	slices.SortFunc(devices, func(a, b *session.Device) int { return strings.Compare(a.ID(), b.ID()) })
	var b strings.Builder
	for _, d := range devices {
		if how, err := s.on[d].Kernel().Listing("engine"); err == nil {
			fmt.Fprintf(&b, "  on %s: %s\n", d.ID(), how)
		}
	}
	return b.String()
}
