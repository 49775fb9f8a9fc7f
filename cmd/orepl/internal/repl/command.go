package repl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/bench"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/session"
)

// command is a command of the prompt.
type command struct {
	name  string
	args  string
	about string
	run   func(p *prompt, args string) error // errors are printed, except errLeave and exits, which end the session
}

func commands() []command {
	return []command{
		{".help", "[COMMAND]", "explain the prompt, or a command", (*prompt).helpCommand},
		{".load", "FILE", "evaluate a file as if it had been typed here", (*prompt).load},
		{".save", "[-f] FILE", "write what was entered without an error to a file; -f replaces the file", (*prompt).save},
		{".time", "[N] CODE", "evaluate, once or N times, and print how long it took; promises and launches are awaited", (*prompt).time},
		{".explain", "[-f] [KERNEL [ir|opt|js|asm|warnings [FILE]]]", "list compiled kernels, or tell how one was typed and accesses memory, or what it became; FILE takes the whole of a long text, and -f replaces it", (*prompt).explain},
		{".devices", "", "list the devices and their memory", (*prompt).devices},
		{".live", "", "list what was made and not freed", (*prompt).live},
		{".clear", "", "start anew: end timers, forget names, release buffers", (*prompt).clear},
		{".exit", "", "leave; also Ctrl-D", func(*prompt, string) error { return errLeave }},
	}
}

// isCommand reports whether a text begins like a command, such as .help, or is a dot. A number such as .5 is none.
func isCommand(text string) bool {
	return len(text) > 1 && text[0] == '.' && unicode.IsLetter(rune(text[1])) || text == "."
}

// command runs a command and prints its error. It returns only errors that end the session.
func (p *prompt) command(line string) error {
	name, args := line, ""
	if i := strings.IndexFunc(line, unicode.IsSpace); i >= 0 {
		name, args = line[:i], strings.TrimSpace(line[i:])
	}
	c, err := findCommand(name)
	if err == nil {
		if c.args == "" && args != "" {
			err = usage(c, "%s takes no arguments", c.name)
		} else {
			err = c.run(p, args)
		}
	}
	if err == nil || isEnd(err) {
		return err
	}
	p.report(err)
	return nil
}

// otherPrompts maps words that leave or clear other prompts to commands.
var otherPrompts = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{"exit": ".exit", "quit": ".exit", "q": ".exit", "clear": ".clear", "reset": ".clear"}
}}

// meant returns the command for a word of other prompts, unless the script has defined the name.
func (p *prompt) meant(text string) (c command, ok bool) {
	word := strings.TrimSuffix(strings.TrimSuffix(text, ";"), "()")
	c, err := findCommand(otherPrompts.Get()[word])
	if err != nil {
		return c, false
	}
	err = p.do(func(vm *goja.Runtime) error {
		ok = resolver{p, vm}.data(vm.GlobalObject(), word) == nil
		return nil
	})
	return c, ok && err == nil
}

// isEnd reports whether an error ends the session.
func isEnd(err error) bool {
	var exit interface{ ExitCode() int }
	return errors.Is(err, errLeave) || errors.As(err, &exit)
}

func findCommand(name string) (command, error) {
	var names []string
	for _, c := range commands() {
		if c.name == name {
			return c, nil
		}
		names = append(names, c.name)
	}
	if other := otherPrompts.Get()[strings.TrimPrefix(name, ".")]; other != "" {
		return command{}, diag.New("not-found", "there is no command %s", name).WithHint("did you mean %s? .help lists the commands", other)
	}
	d := diag.New("not-found", "there is no command %s", name)
	if near := spelling.Nearest(name, names); near != "" {
		return command{}, d.WithHint("did you mean %s? .help lists the commands", near)
	}
	return command{}, d.WithHint(".help lists the commands; an expression goes on in the next line if this one ends with the dot")
}

func usage(c command, format string, args ...any) error {
	return diag.New("invalid-argument", format, args...).WithHint("write: %s", strings.TrimSpace(c.name+" "+c.args))
}

// wrongUse returns an error with the usage of a command.
func wrongUse(name, format string, args ...any) error {
	c, err := findCommand(name)
	if err != nil {
		return err
	}
	return usage(c, format, args...)
}

const keysHelp = `
?NAME      what a name or value is; also NAME?
??NAME     its source; of a buffer, a histogram
_          the last value; _error is the last error
await      works everywhere
;          at the end of a block prints no value
Tab        completes; Ctrl-R searches the history
Alt-Enter  begins a line; Ctrl-_ undoes; Ctrl-X Ctrl-E opens your editor
Ctrl-C     stops what runs; Ctrl-D leaves

A block that is not complete goes on in the next line.
`

func (p *prompt) helpCommand(args string) error {
	if args != "" {
		c, err := findCommand("." + strings.TrimPrefix(args, "."))
		if err != nil {
			return err
		}
		p.printf("%s\n  %s\n", strings.TrimSpace(p.paint(bold, c.name)+" "+c.args), c.about)
		return nil
	}
	return p.flow(func(b *bytes.Buffer) error {
		for _, c := range commands() {
			fmt.Fprintf(b, "%s %s\n", p.paint(bold, fmt.Sprintf("%-10s", c.name)), c.about)
		}
		b.WriteString(keysHelp)
		return nil
	})
}

// operator matches an operator at the start of a text. A number before it is an operand, not the number of runs of .time.
var operator = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^\s*([*%<>=&|^?,;.]|[-+/]\s|in\b|instanceof\b)`) }}

func (p *prompt) time(args string) error {
	first, code, _ := strings.Cut(args, " ")
	n, err := strconv.Atoi(first)
	if err != nil || strings.TrimSpace(code) == "" || operator.Get().MatchString(code) {
		n, code = 1, args
	}
	if strings.TrimSpace(code) == "" {
		return wrongUse(".time", ".time needs code")
	}
	if n < 1 {
		return wrongUse(".time", ".time cannot evaluate %d times", n)
	}
	r, err := p.timed(code, n)
	if err != nil {
		return p.failed(err)
	}
	if err := p.show(r.value, silent(code)); err != nil {
		return err
	}
	if n == 1 {
		p.printf("%s\n", p.paint(gray, "took "+duration(r.times[0])))
		return nil
	}
	p.printf("%s\n", p.paint(gray, fmt.Sprintf("%d times: median %s, fastest %s, slowest %s",
		n, duration(r.times[len(r.times)/2]), duration(r.times[0]), duration(r.times[len(r.times)-1]))))
	others := ""
	if r.clock == "device" {
		others = "; the others are timed on the device's clock"
	}
	p.printf("%s\n", p.paint(gray, "the first took "+duration(r.first)+others))
	return nil
}

// timing is the result of timed.
type timing struct {
	value goja.Value
	times []time.Duration // times of each call, sorted; without the first if there are several
	first time.Duration
	clock string // "host" or "device"
}

// timed compiles code once and times n calls, like bench.
func (p *prompt) timed(code string, n int) (r timing, err error) {
	name := p.name()
	var result goja.Value
	p.run(func(ctx context.Context) {
		var fn goja.Value
		if fn, err = p.engine.Prepare(ctx, name, code); err != nil {
			return
		}
		result, err = p.engine.Await(ctx, func(vm *goja.Runtime) (goja.Value, error) {
			timer, err := bench.Timer(p.engine)
			if err != nil {
				return nil, err
			}
			return timer(nil, fn, vm.ToValue(n))
		})
	})
	if err != nil {
		return r, err
	}
	err = p.do(func(vm *goja.Runtime) error {
		o := result.(*goja.Object)
		r.value, r.clock = o.Get("value"), o.Get("clock").String()
		milliseconds := func(v goja.Value) time.Duration { return time.Duration(v.ToFloat() * float64(time.Millisecond)) }
		r.first = milliseconds(o.Get("first"))
		times := o.Get("times").(*goja.Object)
		for i := range times.Get("length").ToInteger() {
			r.times = append(r.times, milliseconds(times.Get(strconv.FormatInt(i, 10))))
		}
		return nil
	})
	return r, err
}

func duration(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d)
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f µs", float64(d)/float64(time.Microsecond))
	case d < time.Second:
		return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

func (p *prompt) devices(string) error {
	t := tabwriter.NewWriter(p.term, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tTYPE\tUNITS\tMEMORY\tIN USE\tNAME")
	for _, d := range p.Session.Devices(p.ctx) {
		info := d.Info()
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\n", d.ID(), info.Type, info.ComputeUnits,
			bytesText(info.MemoryBytes), bytesText(d.Memory().Allocated), info.Name)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, s := range p.Session.Platforms(p.ctx) {
		if !s.Opened {
			p.printf("%s\n", p.paint(gray, fmt.Sprintf("%s: not available: %v", s.Plugin, s.Err)))
		}
		for _, part := range s.Missing {
			p.printf("%s\n", p.paint(gray, fmt.Sprintf("%s:%s: not available: %v", s.Plugin, part.Name, part.Err)))
		}
	}
	return nil
}

func (p *prompt) live(string) error {
	list := p.Session.Live()
	if len(list) == 0 {
		p.printf("nothing is alive\n")
		return nil
	}
	if err := session.WriteObjects(p.term, list); err != nil {
		return err
	}
	total := int64(0)
	for _, o := range list {
		total += o.Bytes
	}
	noun := "objects"
	if len(list) == 1 {
		noun = "object"
	}
	p.printf("%s\n", p.paint(gray, fmt.Sprintf("%d %s, %s", len(list), noun, bytesText(total))))
	return nil
}

func bytesText(n int64) string {
	const units = "KMGTPE"
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n)/(1<<10), 0
	for f >= 1<<10 {
		f, unit = f/(1<<10), unit+1
	}
	return fmt.Sprintf("%.1f %ciB", f, units[unit])
}

func (p *prompt) clear(string) error {
	next, err := p.newEngine()
	if err != nil {
		return err
	}
	old := p.engine
	p.engine, p.kept, p.entered = next, map[string]goja.Value{}, nil
	p.compiledMu.Lock()
	p.compiled = nil
	p.compiledMu.Unlock()
	err = old.Close()
	runtime.GC() // frees buffers that only the old engine referenced
	p.printf("a new session\n")
	return errors.Join(err, p.begin())
}
