// Package opentelemetry passes spans to OpenTelemetry. It is a module of its own, so that programs without it do not depend on
// OpenTelemetry.
package opentelemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/orepl/orepl/runtime/observe"
)

// Options choose which spans are passed on.
type Options struct {
	// Commands includes launches, copies and host functions. A command has no context, so each is a trace of its own.
	Commands bool
}

// scope is the name of the tracer.
const scope = "github.com/orepl/orepl"

// New returns a hook that makes a span of the provider for each run, reload, instance, load and failure. Those with a context are
// children of the span in it. The name is the kind and the name, as in "run blur.js"; the attributes are orepl.device, orepl.owner,
// orepl.detail, orepl.bytes and error.type, which is the code of the error.
func New(provider trace.TracerProvider, opts Options) observe.Hook {
	tracer := provider.Tracer(scope)
	return func(s observe.Span) {
		switch s.Kind {
		case observe.Launch, observe.Copy, observe.Host:
			if !opts.Commands {
				return
			}
		}
		ctx := s.Context
		if ctx == nil {
			ctx = context.Background()
		}
		_, span := tracer.Start(ctx, string(s.Kind)+" "+s.Name, trace.WithTimestamp(s.Start), trace.WithAttributes(attributes(s)...))
		if s.Err != nil {
			span.SetStatus(codes.Error, s.Err.Error())
			span.SetAttributes(attribute.String("error.type", s.Code()))
		}
		span.End(trace.WithTimestamp(s.Start.Add(s.Duration)))
	}
}

// attributes returns the attributes that a span has.
func attributes(s observe.Span) (list []attribute.KeyValue) {
	for _, a := range []attribute.KeyValue{attribute.String("orepl.device", s.Device), attribute.String("orepl.owner", s.Owner), attribute.String("orepl.detail", s.Detail)} {
		if a.Value.AsString() != "" {
			list = append(list, a)
		}
	}
	if s.Bytes > 0 {
		list = append(list, attribute.Int64("orepl.bytes", s.Bytes))
	}
	return list
}
