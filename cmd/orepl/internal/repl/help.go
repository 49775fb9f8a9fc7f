package repl

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/help"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/runtime/session"
)

// buffer is the part of host buffers that the prompt uses.
type buffer interface {
	Label() string
	Dims() []int
	ElementSize() int
	Len() int64
	Size() int64
	Freed() bool
	Device() *session.Device
}

// help handles ?x: it prints help for a name or value.
func (p *prompt) help(text string) error {
	if text == "" {
		return p.helpCommand("")
	}
	if strings.HasPrefix(text, ".") {
		if err := p.helpCommand(text); err != nil {
			p.report(err)
		}
		return nil
	}
	if help.IsDiagnostic(text) || p.looksLikeCode(text) {
		p.print(p.flow(func(b *bytes.Buffer) error { return help.Write(b, p.Registry, text) }))
		return nil
	}
	first, _, _ := strings.Cut(text, ".")
	if _, _, global := p.Registry.Global(first, true); global && isPathOfNames(text) {
		p.print(p.flow(func(b *bytes.Buffer) error { return help.Write(b, p.Registry, text) }))
		return nil
	}
	if severalWords.Get().MatchString(text) {
		p.print(p.flow(func(b *bytes.Buffer) error { return help.Write(b, p.Registry, text) }))
		return nil
	}
	v, known, err := p.subject(text)
	switch {
	case err != nil:
		return p.failed(err)
	case !known:
		p.print(p.flow(func(b *bytes.Buffer) error { return help.Write(b, p.Registry, text) }))
		return nil
	}
	if help.IsJavaScript(p.Registry, text) && p.isOfJavaScript(v) {
		p.print(p.flow(func(b *bytes.Buffer) error { return help.Write(b, p.Registry, text) }))
		return nil
	}
	return p.do(func(*goja.Runtime) error {
		p.describe(v)
		return nil
	})
}

// severalWords matches words to search for, which are no expression.
var severalWords = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^[\p{L}\d-]+(?:\s+[\p{L}\d-]+)+$`) }}

// isOfJavaScript reports whether a value is a built-in function or class, or the namespace JSON or Reflect. A script may have
// redefined their names.
func (p *prompt) isOfJavaScript(v goja.Value) (own bool) {
	p.print(p.do(func(*goja.Runtime) error {
		info, err := p.engine.FunctionInfo(v)
		own = err == nil && info.Native
		if o, ok := v.(*goja.Object); ok && err != nil {
			tag := o.GetSymbol(goja.SymToStringTag)
			own = tag != nil && (tag.String() == "JSON" || tag.String() == "Reflect")
		}
		return nil
	}))
	return own
}

func (p *prompt) print(err error) {
	if err != nil {
		p.report(err)
	}
}

func isPathOfNames(text string) bool {
	for _, part := range strings.Split(text, ".") {
		if !isName(part) {
			return false
		}
	}
	return true
}

// subject returns the value of a text: without running code if it is a chain of names, otherwise by evaluation. known is false
// if the chain has no value, or the evaluation failed.
func (p *prompt) subject(text string) (v goja.Value, known bool, err error) {
	if chain, ok := parseChain(text); ok && isPathOfNames(text) {
		err = p.do(func(vm *goja.Runtime) error {
			r := resolver{p, vm}
			s, found := r.chain(chain)
			v, known = s.value, found && s.value != nil
			return nil
		})
		return v, known, err
	}
	v, err = p.eval(p.name(), "("+text+"\n)")
	return v, err == nil, err
}

// looksLikeCode reports whether a text is an error code, as in a message, rather than a difference or an array of variables.
func (p *prompt) looksLikeCode(text string) bool {
	m := codeShape.Get().FindStringSubmatch(text)
	if m == nil || !strings.ContainsAny(text, "[-") {
		return false
	}
	_, known, err := p.subject(m[1])
	return err == nil && !known
}

var codeShape = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^\[?([a-z]+)(?:-[a-z]+)*\]?$`) }}

// describe prints properties of a value. It runs on the engine's goroutine.
func (p *prompt) describe(v goja.Value) {
	o := p.inspection()
	host, _ := p.engine.HostValue(v)
	switch h := host.(type) {
	case buffer:
		p.printf("%s\n", p.engine.InspectValue(v, o))
		if !h.Freed() {
			p.facts("shape", strings.ReplaceAll(strings.Trim(fmt.Sprint(h.Dims()), "[]"), " ", "×"),
				"element", fmt.Sprintf("%s, %d bytes", p.text(v, "type"), h.ElementSize()),
				"size", bytesText(h.Size()), "memory", p.text(v, "kind"), "device", h.Device().ID()+", "+h.Device().Info().Name)
		}
		return
	case interface{ Params() []string }:
		p.printf("%s\n", p.engine.InspectValue(v, o))
		p.facts("launch", fmt.Sprintf("%s.launch({ size: n }%s)", p.text(v, "name"), strings.Join(append([]string{""}, h.Params()...), ", ")),
			"more", fmt.Sprintf(".explain %s, ??%s", p.text(v, "name"), p.text(v, "name")))
		return
	}
	path := help.Find(p.engine, p.Registry, v)
	info, err := p.engine.FunctionInfo(v)
	if _, module := p.Registry.Module(path); !module && (err != nil || path == "") { // help for a module lists its members
		p.printf("%s\n", p.engine.InspectValue(v, o))
	}
	if err == nil && !info.Native {
		p.describeFunction(info)
	}
	if path != "" {
		p.print(p.flow(func(b *bytes.Buffer) error { return help.Write(b, p.Registry, path) }))
	}
}

func (p *prompt) describeFunction(info *lang.FunctionInfo) {
	head, _, arrow := strings.Cut(info.Text, "=>")
	if !arrow || strings.Contains(head, "{") {
		head, _, _ = strings.Cut(info.Text, "{")
	}
	p.facts("head", strings.TrimSpace(head))
	if info.Known {
		p.facts("written at", info.Position(0).String())
	}
}

// facts prints pairs of name and value in columns.
func (p *prompt) facts(pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		p.printf("  %s %s\n", p.paint(gray, fmt.Sprintf("%-10s", pairs[i])), pairs[i+1])
	}
}

// text returns a property of a host object as text, or "" if there is none.
func (p *prompt) text(v goja.Value, name string) string {
	r := resolver{p, p.engine.VM()}
	if t := r.data(v.(*goja.Object), name); t != nil {
		if s, ok := t.(goja.String); ok {
			return s.String()
		}
		return p.engine.InspectValue(t, p.inspection())
	}
	return ""
}

// source handles ??x: it prints the source of a function or kernel, or the histogram of a buffer.
func (p *prompt) source(text string) error {
	if text == "" {
		return p.helpCommand("")
	}
	v, known, err := p.subject(text)
	switch {
	case err != nil:
		return p.failed(err)
	case !known:
		p.report(diag.New("not-found", "there is no %s", text).WithHint("?? shows the source of a function or kernel, and the histogram of a buffer"))
		return nil
	}
	host, _ := p.engine.HostValue(v)
	if b, ok := host.(buffer); ok {
		p.print(p.histogram(v, b))
		return nil
	}
	err = p.do(func(*goja.Runtime) error {
		source, at := "", diag.Position{}
		if kernelParams(p, v) != nil {
			source = p.text(v, "source")
		} else if info, err := p.engine.FunctionInfo(v); err == nil && !info.Native {
			source = info.Text
			if info.Known {
				at = info.Position(0)
			}
		}
		if source == "" {
			return diag.New("not-found", "%s has no source", text).WithHint("only functions and kernels of scripts have source; ?%s shows the help", text)
		}
		if at.IsValid() {
			p.printf("%s\n", p.paint(gray, "// "+at.String()))
		}
		p.printf("%s\n", source)
		return nil
	})
	p.print(err)
	return nil
}

// Constants of histograms. Of a buffer with more than sampleMost elements, that number is read, in samplePieces pieces that are
// spread evenly. A histogram has up to bins bars.
const (
	samplePieces = 64
	sampleMost   = 1 << 18
	bins         = 16
	narrow       = 40 // columns below which a histogram has short labels
)

func (p *prompt) histogram(v goja.Value, b buffer) error {
	if b.Freed() {
		return diag.New("closed", "the buffer %s is freed", b.Label())
	}
	values, err := p.sample(v, b.Len())
	if err != nil {
		return err
	}
	if len(values) == 0 {
		return diag.New("invalid-argument", "the elements are no numbers").WithHint("printing the buffer shows the first and last")
	}
	finite := slices.DeleteFunc(slices.Clone(values), func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
	of := fmt.Sprintf("%d elements", b.Len())
	if int64(len(values)) < b.Len() {
		of = fmt.Sprintf("%d of %d elements", len(values), b.Len())
	}
	if odd := len(values) - len(finite); odd > 0 {
		of += fmt.Sprintf(", %d not finite", odd)
	}
	if len(finite) == 0 {
		p.printf("%s\n", of)
		return nil
	}
	low, high, mean := slices.Min(finite), slices.Max(finite), 0.0
	for _, x := range finite {
		mean += x / float64(len(finite))
	}
	p.printf("%s: min %.6g, mean %.6g, max %.6g\n", of, low, mean, high)
	p.bars(finite, low, high)
	return nil
}

// bars prints a bar and the number of values for each of several equal parts of the range from low to high.
func (p *prompt) bars(values []float64, low, high float64) {
	n := bins
	if low == high {
		n = 1
	}
	counts := make([]int, n)
	step := (high - low) / float64(n)
	for _, x := range values {
		i := 0
		if step > 0 {
			i = min(int((x-low)/step), n-1)
		}
		counts[i]++
	}
	columns, _ := p.term.Size()
	most := slices.Max(counts)
	label, digits := 12, 5
	if columns < narrow {
		label, digits = 8, 3
	}
	room := min(max(columns-label-len(fmt.Sprint(most))-4, 1), 60)
	for i, c := range counts {
		bar := strings.Repeat("█", (c*room+most-1)/most)
		p.printf("%*.*g %s %d\n", label, digits, low+float64(i)*step, p.paint(cyan, bar), c)
	}
}

// sample reads numbers of a buffer v with n elements by its method read. It returns none for elements that are no numbers.
func (p *prompt) sample(v goja.Value, n int64) ([]float64, error) {
	o := v.(*goja.Object)
	pieces, size := int64(1), n
	if n > sampleMost {
		pieces, size = samplePieces, sampleMost/samplePieces
	}
	var values []float64
	var failed error
	for i := range pieces {
		p.run(func(ctx context.Context) {
			var data goja.Value
			data, failed = p.engine.Await(ctx, func(vm *goja.Runtime) (goja.Value, error) {
				read, ok := goja.AssertFunction(o.Get("read"))
				if !ok {
					return goja.Undefined(), nil
				}
				start := int64(0)
				if pieces > 1 {
					start = i * (n - size) / (pieces - 1)
				}
				return read(o, vm.ToValue(start), vm.ToValue(size))
			})
			if failed == nil {
				failed = p.engine.Do(ctx, func(*goja.Runtime) error {
					list, _ := convert.Numbers(data)
					values = append(values, list...)
					return nil
				})
			}
		})
		if failed != nil {
			return nil, failed
		}
	}
	return values, nil
}
