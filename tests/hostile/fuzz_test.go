package hostile

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/isolate"
)

// Environment variables of a process that runs random texts: the seed and the duration.
const (
	fuzzSeed = "OREPL_HOSTILE_FUZZ"
	fuzzTime = "OREPL_HOSTILE_FUZZ_TIME"
)

// fuzzLimit is the time limit of a text. fuzzBound adds time for the engine to detect it, and for a busy machine.
const (
	fuzzLimit = 500 * time.Millisecond
	fuzzBound = 15 * time.Second
)

var fragments = strings.Fields("( ) [ ] { } , ; : = => + - ! ~ ++ ** ?? || && ? . ?. ... ` `${ ' \" / /* */ // \n \\ < > @ # " +
	"a 1 1n 'x' /a/ null this new typeof void delete await yield async function class extends super if(0) else for(;;) for(a~of~b) while(0) do " +
	"switch(1){ case~1: default: try{ }catch{} }finally{} return throw with(a) l: let const var in instanceof of get set static import import( export " +
	"a=> ()=> (a=1)=> ({a})=> async~a=> function(){ class{ m(){ {a: [a, [...a {[a]:1}= f( f` a. a[0] a?.b new~A a=b= a?1: 1??a 0||a x**=y 2**2** " +
	"A<A<A :A as~A satisfies~A enum~E{ namespace~N{ type~T= keyof~ interface~I{ <A>a @d() /(?:/ /(a)/ " +
	"JSON.parse('[ Array( Array(9**9) .flat(Infinity) .repeat(9) .concat( Object.create( new~Proxy( Symbol( eval(' Function(' [...Array(99)] structuredClone(")

// contexts are pairs of text before and after a fragment.
var contexts = [][2]string{
	{"", ""}, {"(", ")"}, {"x=", ""}, {"function f(){", "}"}, {"async()=>{", "}"}, {"function*g(){", "}"}, {"class A{", "}"}, {"let x:", ""}, {"`${", "}`"}, {"//", ""},
	{"if(0)", ";else a"}, {"[", "]"}, {"({a:", "})"}, {"'use strict';", ""}, {"x=/", "/"}, {"import{a}from'a';", ""},
}

func fuzzText(r *rand.Rand) string {
	piece := func() string {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteString(strings.ReplaceAll(fragments[r.IntN(len(fragments))], "~", " "))
			if r.IntN(3) == 0 {
				b.WriteByte(" \n"[r.IntN(2)])
			}
		}
		return b.String()
	}
	counts := []int{1, 2, 7, 30, 100, 1000, 5000, 30000, 100000}
	var b strings.Builder
	context := contexts[r.IntN(len(contexts))]
	b.WriteString(context[0])
	for range 1 + r.IntN(3) {
		p := piece()
		b.WriteString(strings.Repeat(p, min(counts[r.IntN(len(counts))], 1<<20/len(p)+1)))
		if r.IntN(2) == 0 {
			b.WriteString(piece())
		}
	}
	b.WriteString(context[1])
	return b.String()
}

// fuzzScript returns a file name and a script that evaluates a text in one of several ways.
func fuzzScript(r *rand.Rand, text string) (name, script string) {
	quoted := strconv.QuoteToASCII(text)
	quoted = strings.NewReplacer(`\U000`, `\u{`, `\a`, `\x07`).Replace(quoted)
	name = "t.js"
	try := func(s string) string { return "try { " + s + " } catch (e) { String(e.message).length }" }
	switch r.IntN(10) {
	case 0, 1, 2:
		script = text
	case 3:
		name, script = "t.ts", text
	case 4:
		script = try("eval(" + quoted + ")")
	case 5:
		script = try("new Function(" + quoted + ")")
	case 6:
		script = try("new Function('a'," + quoted + ", '')")
	case 7:
		script = try("new RegExp(" + quoted + ").test('aaaaaaaaaaaaaaaaaaaaaaaa')")
	case 8:
		script = try("JSON.parse(" + quoted + ")")
	case 9:
		script = "import { kernel } from 'offload'\n" + try("kernel((g, x) => { "+strings.ReplaceAll(text, "`", "'")+" })")
	}
	return name, script
}

// runFuzz runs random texts for a duration. It writes each text to a file before it runs it.
func runFuzz(seed uint64, duration time.Duration) int {
	if err := isolate.BoundMemory(2 << 30); err != nil {
		fmt.Println(err)
		return 1
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for end := time.Now().Add(duration); time.Now().Before(end); {
		name, script := fuzzScript(r, fuzzText(r))
		if err := os.WriteFile("case", []byte(script), 0o600); err != nil {
			fmt.Println(err)
			return 1
		}
		began := time.Now()
		e, closeRest, err := open(lang.Options{Stdout: io.Discard, Stderr: io.Discard, Limits: lang.Limits{Time: fuzzLimit, Memory: 64 << 20}})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		if r.IntN(4) == 0 {
			_, _ = e.Eval(context.Background(), name, script)
		} else {
			_, _ = e.Run(context.Background(), name, script)
		}
		_, _ = e.Close(), closeRest()
		fmt.Println("tried", name, len(script), time.Since(began).Milliseconds())
	}
	fmt.Println("done")
	return 0
}

// TestRandomTexts runs random texts of repeated and nested fragments: none may end the process or exceed its time. It runs
// ten minutes with OREPL_TEST_LONG.
func TestRandomTexts(t *testing.T) {
	t.Parallel()
	duration := 10 * time.Second
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		duration = 10 * time.Minute
	}
	seed := uint64(1)
	if text := os.Getenv("OREPL_FUZZ_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tried, slowest := 0, ""
	for end := time.Now().Add(duration); time.Now().Before(end); seed++ {
		dir := t.TempDir()
		cmd := exec.Command(program)
		cmd.Dir = dir
		cmd.Env = []string{fuzzSeed + "=" + strconv.FormatUint(seed, 10), fuzzTime + "=" + min(time.Until(end), time.Minute).String(), "HOME=" + dir}
		var words bytes.Buffer
		cmd.Stderr = &words
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		overdue := time.AfterFunc(fuzzBound, func() { _ = cmd.Process.Kill() })
		last, most := "", 0
		for lines := bufio.NewScanner(out); lines.Scan(); {
			overdue.Reset(fuzzBound)
			last = lines.Text()
			var name string
			var size, took int
			if n, _ := fmt.Sscanf(last, "tried %s %d %d", &name, &size, &took); n == 3 {
				if tried++; took > most {
					most, slowest = took, last
				}
			}
		}
		overdue.Stop()
		if err := cmd.Wait(); err != nil || last != "done" {
			text, _ := os.ReadFile(dir + "/case")
			t.Errorf("seed %d: %v\n%.300s\n%d bytes: %.500q …", seed, err, words.Bytes(), len(text), text)
			if keep := os.Getenv("OREPL_FUZZ_KEEP"); keep != "" {
				_ = os.WriteFile(fmt.Sprintf("%s/case-%d", keep, seed), text, 0o600)
			}
		}
	}
	t.Logf("%d texts, the slowest: %s ms", tried, slowest)
}
