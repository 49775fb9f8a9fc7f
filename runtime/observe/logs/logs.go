// Package logs writes spans to a structured logger.
package logs

import (
	"context"
	"log/slog"
	"time"

	"github.com/orepl/orepl/runtime/observe"
)

// Options choose what is logged.
type Options struct {
	// Slow is the duration from which a run, load, reload or instance is logged at level Info, and below which at Debug. 0: all
	// are Info. Commands of devices are always Debug.
	Slow time.Duration
}

// New returns a hook that logs failures at level Error, runs, loads, reloads and instances at level Info, and commands of
// devices at level Debug. Runs that were refused for their caller's values are logged at level Debug, since a caller could
// flood the log. The message is the kind; the attributes are name, device, owner, detail, duration, bytes, code and error.
func New(to *slog.Logger, opts Options) observe.Hook {
	return func(s observe.Span) {
		level := slog.LevelDebug
		switch s.Kind {
		case observe.Run, observe.Load, observe.Reload, observe.Instance:
			if s.Duration >= opts.Slow {
				level = slog.LevelInfo
			}
		}
		switch {
		case s.Refused:
			level = slog.LevelDebug
		case s.Err != nil:
			level = slog.LevelError
		}
		ctx := s.Context
		if ctx == nil {
			ctx = context.Background()
		}
		if !to.Enabled(ctx, level) {
			return
		}
		list := []slog.Attr{slog.String("name", s.Name), slog.Duration("duration", s.Duration)}
		for _, a := range []slog.Attr{slog.String("device", s.Device), slog.String("owner", s.Owner), slog.String("detail", s.Detail)} {
			if a.Value.String() != "" {
				list = append(list, a)
			}
		}
		if s.Bytes > 0 {
			list = append(list, slog.Int64("bytes", s.Bytes))
		}
		if s.Err != nil {
			list = append(list, slog.String("code", s.Code()), slog.String("error", s.Err.Error()))
		}
		to.LogAttrs(ctx, level, string(s.Kind), list...)
	}
}
