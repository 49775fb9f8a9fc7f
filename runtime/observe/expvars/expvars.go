// Package expvars publishes counts of spans as a variable of package expvar.
package expvars

import (
	"expvar"

	"github.com/orepl/orepl/runtime/observe"
)

// New publishes a map of expvar under a name, which must not be taken, and returns the hook that counts in it: for each kind of
// span "KIND.count", "KIND.seconds", "KIND.bytes" and "KIND.errors.CODE".
func New(name string) observe.Hook {
	counts := expvar.NewMap(name)
	return func(s observe.Span) {
		kind := string(s.Kind)
		counts.Add(kind+".count", 1)
		counts.AddFloat(kind+".seconds", s.Duration.Seconds())
		if s.Bytes > 0 {
			counts.Add(kind+".bytes", s.Bytes)
		}
		if s.Err != nil {
			counts.Add(kind+".errors."+s.Code(), 1)
		}
	}
}
