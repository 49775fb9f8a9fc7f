package progen_test

import (
	"errors"
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/advice"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/tests/kernlang/progen"
)

var spliced = flag.Int("spliced", 2000, "wrong programs to compile")

// TestSplicedPrograms compiles programs with spliced parts of others, most of them invalid. Each must compile or fail with a
// diagnostic that has a position, without a panic or a compiler fault.
func TestSplicedPrograms(t *testing.T) {
	var texts [][]string
	for _, pattern := range []string{"../../../lang/kernel/testdata/*/*.js", "../testdata/*/*.js"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("no texts", err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range strings.Split(string(data), "\n---\n") {
				texts = append(texts, tokens(regexp.MustCompile(`(?m)//.*$`).ReplaceAllString(text, "")))
			}
		}
	}
	for seed := range uint64(40) {
		texts = append(texts, tokens(progen.Generate(seed+1).Text))
	}
	compiled, refused, reasons := 0, 0, map[diag.ID]int{}
	for seed := *first; seed < *first+uint64(*spliced); seed++ {
		rng := rand.New(rand.NewPCG(seed, 5))
		text := splice(rng, texts)
		err := compileAny(rng, text)
		var list diag.List
		switch {
		case err == nil:
			compiled++
		case errors.As(err, &list) && list[0].ID != diag.Internal && list[0].Line > 0:
			refused++
			reasons[list[0].ID]++
		default:
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
	}
	t.Logf("%d compiled, %d refused: %v", compiled, refused, reasons)
	if compiled*20 < *spliced || len(reasons) < 25 {
		t.Errorf("too few are compiled, or refused for many reasons, to show anything")
	}
}

var token = regexp.MustCompile("[\\p{L}_$][\\p{L}\\d_$]*|\\d[\\w.]*|`[^`]*`|'[^']*'|=>|[-+*/%&|^<>=!]+=?|\\s+|.")

func tokens(text string) []string { return token.FindAllString(text, -1) }

// splice returns a text with a few random changes.
func splice(rng *rand.Rand, texts [][]string) string {
	text := slices.Clone(texts[rng.IntN(len(texts))])
	for range 1 + rng.IntN(3) {
		donor := texts[rng.IntN(len(texts))]
		a, b := part(rng, text)
		c, d := part(rng, donor)
		switch rng.IntN(16) {
		case 0: // remove a token
			i := rng.IntN(len(text))
			text = slices.Delete(text, i, i+1)
		case 1: // duplicate a part
			text = slices.Insert(text, b, text[a:b]...)
		case 2: // insert a part of another text
			text = slices.Insert(text, b, donor[c:d]...)
		case 3, 4, 5, 6: // replace a part by that of another text
			text = slices.Replace(text, a, b, donor[c:d]...)
		default: // replace a token by one of the same sort
			i, from := rng.IntN(len(text)), rng.IntN(len(donor))
			for k := range donor {
				if t := donor[(from+k)%len(donor)]; sort(t) == sort(text[i]) && t != text[i] {
					text[i] = t
					break
				}
			}
		}
		if len(text) == 0 {
			text = []string{";"}
		}
	}
	return strings.Join(text, "")
}

var keyword = regexp.MustCompile(`^(const|let|if|else|for|while|do|switch|case|default|break|continue|return|function)$`)

// sort returns the sort of a token: name, number, operator, or the token itself.
func sort(t string) string {
	switch c := t[0]; {
	case t == "=>" || t == "=" || t == "!" || keyword.MatchString(t):
	case strings.HasSuffix(t, "=") && !strings.ContainsRune("=!<>", rune(c)):
		return "assignment"
	case strings.ContainsRune("-+*/%&|^<>=!", rune(c)):
		return "operator"
	case c >= '0' && c <= '9':
		return "number"
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_':
		return "name"
	}
	return t
}

// part returns a random bracketed range, or the tokens up to the next comma, semicolon or bracket.
func part(rng *rand.Rand, text []string) (from, to int) {
	from = rng.IntN(len(text))
	depth := 0
	for to = from; to < len(text); to++ {
		switch text[to] {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return from, to + 1
			}
		case ",", ";":
			if depth == 0 && to > from {
				return from, to
			}
		}
		if depth < 0 {
			return from, to
		}
	}
	return from, to
}

var kinds = []kernel.Arg{
	{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.F32}, Rank: 1}, {Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.I32}, Rank: 1},
	{Kind: kernel.Number}, {Kind: kernel.Buffer, Elem: ir.Elem{Record: particle}, Rank: 1}, {Kind: kernel.BigInt}, {Kind: kernel.Bool},
	{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.F64}, Rank: 2}, {Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.I64}, Rank: 1},
	{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.U8}, Rank: 3}, {Kind: kernel.Scalar, Type: ir.U64}, {Kind: kernel.Buffer, Elem: ir.Elem{Record: particle}, Rank: 2},
}

var particle = ir.NewRecord("Particle", []ir.Field{
	{Name: "x", Elem: ir.Elem{Scalar: ir.F32}},
	{Name: "v", Elem: ir.Elem{Scalar: ir.F32}, Dims: []int{3}},
	{Name: "id", Elem: ir.Elem{Scalar: ir.U32}},
})

// kindOf returns a type for an argument that matches the uses of its name, or sometimes any type.
func kindOf(rng *rand.Rand, text, name string) kernel.Arg {
	uses := regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`((?:\[[^\]]*\]+)*)(\.?)`).FindAllStringSubmatch(text, -1)
	rank, record := 0, false
	for _, u := range uses[min(1, len(uses)):] { // the first use is the declaration
		rank = max(rank, strings.Count(u[1], "][")+min(strings.Count(u[1], "["), 1))
		record = record || u[1] != "" && u[2] != ""
	}
	scalars := []ir.Type{ir.F32, ir.I32, ir.F32, ir.I32, ir.U32, ir.F64, ir.I64, ir.U64, ir.U8, ir.F16, ir.Bool}
	switch {
	case rng.IntN(8) == 0:
		return kinds[rng.IntN(len(kinds))]
	case rank == 0:
		return []kernel.Arg{{Kind: kernel.Number}, {Kind: kernel.Number}, {Kind: kernel.Bool}, {Kind: kernel.BigInt}, {Kind: kernel.Scalar, Type: ir.U32}}[rng.IntN(5)]
	case record:
		return kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Record: particle}, Rank: min(rank, 3)}
	}
	return kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: scalars[rng.IntN(len(scalars))]}, Rank: min(rank, 3)}
}

// compileAny compiles a text for random arguments and computes its warnings. It returns a panic as an error.
func compileAny(rng *rand.Rand, text string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	scope := map[string]any{"K": 2.0, "list": []float64{1, 2}, "Particle": particle, "B": big.NewInt(5), "T": true,
		"twice": &kernel.Source{Text: "(v) => 2 * v"}, "bytes": kernel.Table{Elem: ir.U8, Data: []byte{200, 3}}}
	fn, err := kernel.Parse(&kernel.Source{Text: text, Capture: func(name string) (any, error) { return scope[name], nil }})
	if err != nil {
		return err
	}
	args := make([]kernel.Arg, len(fn.Params()))
	for i := range args {
		args[i] = kindOf(rng, text, fn.Params()[i])
	}
	c, err := fn.Compile(args, kernel.Options{Warnings: true, Trace: rng.IntN(4) == 0})
	if err != nil {
		return err
	}
	_ = advice.Warnings(c).Error()
	return nil
}
