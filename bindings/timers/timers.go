// Package timers implements the module 'timers', whose exports are globals.
//
// # Design
//
// A timer keeps a script alive, since its caller waits for it; the time-out of a signal does not.
package timers

import (
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/loop"
)

var names = []string{
	"setTimeout", "clearTimeout", "setInterval", "clearInterval", "setImmediate", "clearImmediate", "queueMicrotask",
}

// Module returns the module 'timers'.
func Module() bindings.Module {
	function := func(name, signature, help, example string) bindings.Entry {
		return bindings.Entry{Name: name, Kind: bindings.Function, Signature: signature, Help: help, Example: example}
	}
	return bindings.Module{
		Module: lang.Module{Name: "timers", Globals: names, Instantiate: instantiate},
		Help:   "Delayed and periodic calls of functions. An active timer keeps the script running, unless its method unref has been called.",
		Types: `interface Timer {
  /** Allows the script to end while the timer is active. */
  unref(): this
  /** Keeps the script running while the timer is active, which is the default. */
  ref(): this
  /** Reports whether the timer keeps the script running. */
  hasRef(): boolean
  /** Starts the timer again with its full delay, also after it has expired, unless it was stopped. */
  refresh(): this
  /** Stops the timer. */
  [Symbol.dispose](): void
}`,
		Entries: func() []bindings.Entry {
			return []bindings.Entry{
				function("setTimeout", "setTimeout<A extends unknown[]>(fn: (...args: A) => void, delay?: number, ...args: A): Timer", "Calls a function once, with the further arguments, after a delay in milliseconds, by default 0. A negative delay counts as 0.", "setTimeout(() => console.log('later'), 10)"),
				function("clearTimeout", "clearTimeout(timer?: Timer): void", "Stops a timer of any kind. Other values have no effect.", ""),
				function("setInterval", "setInterval<A extends unknown[]>(fn: (...args: A) => void, period?: number, ...args: A): Timer", "Calls a function repeatedly, with the further arguments and a period in milliseconds. The default and the minimum of the period are 1.", "const t = setInterval(() => clearInterval(t), 5)"),
				function("clearInterval", "clearInterval(timer?: Timer): void", "Stops a timer of any kind. Other values have no effect.", ""),
				function("setImmediate", "setImmediate<A extends unknown[]>(fn: (...args: A) => void, ...args: A): Timer", "Calls a function once, with the further arguments, after all tasks that are ready.", ""),
				function("clearImmediate", "clearImmediate(timer?: Timer): void", "Stops a timer of any kind. Other values have no effect.", ""),
				function("queueMicrotask", "queueMicrotask(fn: () => void): void", "Calls a function after the running code has ended, before any timer.", ""),
			}
		},
	}
}

func instantiate(e *lang.Engine) (*goja.Object, error) {
	// itself returns a method that returns its receiver, for chaining.
	itself := func(name string, do func(*loop.Timer)) lang.Method[*loop.Timer] {
		return lang.Method[*loop.Timer]{Name: name, Call: func(t *loop.Timer, call goja.FunctionCall) (goja.Value, error) {
			do(t)
			return call.This, nil
		}}
	}
	class := lang.NewClass(e, lang.ClassSpec[*loop.Timer]{
		Name: "Timer",
		Methods: []lang.Method[*loop.Timer]{
			itself("ref", func(t *loop.Timer) { t.KeepAlive(true) }),
			itself("unref", func(t *loop.Timer) { t.KeepAlive(false) }),
			itself("refresh", (*loop.Timer).Restart),
			{Name: "hasRef", Call: func(t *loop.Timer, _ goja.FunctionCall) (goja.Value, error) {
				return e.VM().ToValue(t.KeepsAlive()), nil
			}},
		},
		Dispose: func(t *loop.Timer) error { t.Stop(); return nil },
		Inspect: func(*loop.Timer, inspect.Options) string { return "Timer {}" },
	})
	x := bindings.NewExports(e)
	// set defines a function (fn, delay?, ...args) that starts a timer. The callback's arguments start at index rest.
	set := func(name string, rest int, start func(time.Duration, loop.Callback) *loop.Timer) {
		x.Add(name, func(call goja.FunctionCall) (goja.Value, error) {
			a := e.Args(name, call)
			fn := a.Function(0, "fn")
			delay := time.Duration(0)
			if rest == 2 && a.Has(1) {
				delay = milliseconds(a.Float(1, "delay"))
			}
			if a.Err() != nil {
				return nil, a.Err()
			}
			var args []goja.Value
			if len(call.Arguments) > rest {
				args = append(args, call.Arguments[rest:]...)
			}
			return class.New(start(delay, func() error { _, err := fn(nil, args...); return err })), nil
		})
	}
	clearTimer := func(name string) {
		x.Add(name, func(call goja.FunctionCall) (goja.Value, error) {
			if t, ok := class.Of(call.Argument(0)); ok {
				t.Stop()
			}
			return nil, nil
		})
	}
	l := e.Loop()
	set("setTimeout", 2, l.After)
	set("setInterval", 2, l.Every)
	set("setImmediate", 1, l.After)
	clearTimer("clearTimeout")
	clearTimer("clearInterval")
	clearTimer("clearImmediate")
	x.Add("queueMicrotask", func(call goja.FunctionCall) (goja.Value, error) {
		a := e.Args("queueMicrotask", call)
		a.Function(0, "fn")
		if a.Err() != nil {
			return nil, a.Err()
		}
		return nil, e.Microtask(call.Argument(0).(*goja.Object))
	})
	return x.Done()
}

// milliseconds converts a script's delay to a duration, of at most 2^53 nanoseconds. Invalid delays become 0, as in browsers.
func milliseconds(ms float64) time.Duration {
	const most = float64(1<<53) / 1e6
	if !(ms > 0) {
		return 0
	}
	return time.Duration(min(ms, most) * float64(time.Millisecond))
}
