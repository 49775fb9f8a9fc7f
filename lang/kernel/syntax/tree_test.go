package syntax

import (
	"flag"
	"fmt"
	"math/big"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/orepl/orepl/tests/golden"
)

var update = flag.Bool("update", false, "write the trees into testdata/tree.txt")

// TestTrees compares the trees of the functions in testdata/tree.js, with each node's range, with testdata/tree.txt.
func TestTrees(t *testing.T) {
	text, err := os.ReadFile("testdata/tree.js")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for i, text := range strings.Split(string(text), "---\n") {
		fn, err := Parse(&Source{Text: text})
		if err != nil {
			fmt.Fprintf(&got, "%v\n\n", err)
			continue
		}
		p := &printer{out: &got, text: text, numbers: map[*Decl]int{}}
		p.print(0, fmt.Sprint("function ", i+1), reflect.ValueOf(fn))
		got.WriteString("\n")
	}
	const file = "testdata/tree.txt"
	golden.Compare(t, file, got.String(), *update)
}

// printer prints trees, one node per line.
type printer struct {
	out     *strings.Builder
	text    string
	numbers map[*Decl]int // in order of appearance
}

func (p *printer) line(depth int, format string, args ...any) {
	p.out.WriteString(strings.Repeat(" ", depth))
	fmt.Fprintf(p.out, format+"\n", args...)
}

func (p *printer) decl(d *Decl) string {
	if d == nil {
		return "a free name"
	}
	if p.numbers[d] == 0 {
		p.numbers[d] = len(p.numbers) + 1
	}
	return fmt.Sprintf("%s#%d", d.Name, p.numbers[d])
}

// span returns a range with its text, shortened in the middle if long.
func (p *printer) span(s Span) string {
	text := p.text[s.Pos:s.End]
	if len(text) > 24 {
		text = text[:10] + "…" + text[len(text)-10:]
	}
	return fmt.Sprintf("%d-%d %q", s.Pos, s.End, text)
}

// print prints a node's name and range, then its nonzero fields.
func (p *printer) print(depth int, name string, v reflect.Value) {
	if v.IsZero() && v.Kind() != reflect.Struct {
		return
	}
	switch x := v.Interface().(type) {
	case *Source:
		return
	case *Name:
		p.line(depth, "%s: %d-%d %s", name, x.Pos, x.End, p.decl(x.Decl)+strings.TrimPrefix(x.Name, p.text[x.Pos:x.End]))
		return
	case *big.Int, Op, DeclKind, string, float64, bool, int:
		p.line(depth, "%s: %v", name, x)
		return
	case Sets:
		var names []string
		for _, d := range x {
			names = append(names, p.decl(d))
		}
		p.line(depth, "%s: %s", name, strings.Join(names, " "))
		return
	case *Decl:
		p.line(depth, "%s: %s", name, p.decl(x))
		return
	case []*Decl:
		for i, d := range x {
			p.line(depth, "%s %s: kind %d, index %d, level %d, assigned %v, its own function %v, at %s", name, p.decl(d), d.Kind, d.Index, d.level, d.Assigned, d.Fn != nil, p.span(d.Span))
			if d.Index != i {
				p.line(depth, "wrong index")
			}
		}
		return
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if name == "Outer" {
			return
		}
		p.print(depth, name, v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			if e := v.Index(i); e.Kind() == reflect.Interface && e.IsNil() {
				p.line(depth, "%s[%d]: hole", name, i)
			} else {
				p.print(depth, fmt.Sprintf("%s[%d]", name, i), e)
			}
		}
	case reflect.Struct:
		span := v.FieldByName("Span").Interface().(Span)
		p.line(depth, "%s: %s %s", name, v.Type().Name(), p.span(span))
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Name != "Span" {
				p.print(depth+1, f.Name, v.Field(i))
			}
		}
	default:
		p.line(depth, "%s: unknown %v", name, v.Type())
	}
}
