package lang

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/stopwatch"
)

// TestMatchesEndWithTheCall checks that backtracking matches end with the call's time in every builtin, and never report a
// failed match.
func TestMatchesEndWithTheCall(t *testing.T) {
	const text = "const a = 'a'.repeat(40) + 'b', x = 'é' + a;"
	for _, match := range []string{
		"/(?:(a+)+)\\1$/.test(a)", "/(?:(a+)+)\\1$/.exec(a)", "a.match(/(?:(a+)+)\\1$/)", "[...a.matchAll(/(?:(a+)+)\\1$/g)]", "a.search(/(?:(a+)+)\\1$/)",
		"a.split(/(?:(a+)+)\\1$/)", "a.replace(/(?:(a+)+)\\1$/, '')", "a.replaceAll(/(?:(a+)+)\\1$/g, '')", "/(?=(a+)+$)/.test(a)",
		"{ const r = /(a+)+\\1$/y; r.lastIndex = 1; r.exec(a) }", "x.match(/(a+)+\\1$/g)", "[...x.matchAll(/é|(a+)+\\1$/g)]",
		"eval('/(a+)+\\\\1$/.test(a)')", "new RegExp('(a+)+\\\\1$').test(a)", "new (class extends RegExp {})('(a+)+\\\\1$').test(a)",
		"'b'.replace(/(?=b)b/, () => String(/(a+)+\\1$/.test(a)))",
	} {
		e, _ := testEngine(t, Options{Limits: Limits{Time: 100 * time.Millisecond}})
		start := stopwatch.Start()
		_, err := e.Run(t.Context(), "t.js", text+match+"; globalThis.wentOn = true")
		if err == nil || !strings.Contains(err.Error(), "ran longer") {
			t.Errorf("%s: %v", match, err)
		}
		if d := start.Elapsed(); d > time.Minute {
			t.Errorf("%s: %v", match, d)
		}
		if e.VM().Get("wentOn") != nil {
			t.Errorf("%s: the script goes on without a match", match)
		}
	}
	e, _ := testEngine(t, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := e.Eval(ctx, "t.js", text+"/(a+)+\\1$/.test(a)"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a deadline of the context: %v", err)
	}
}

// TestBoundMatchesKeepResults checks that limits do not change the results of matches, also after a call that timed out.
func TestBoundMatchesKeepResults(t *testing.T) {
	free, _ := testEngine(t, Options{})
	bounded, _ := testEngine(t, Options{Limits: Limits{Time: time.Minute}})
	_, _ = bounded.Eval(t.Context(), "t.js", "throw 1")
	for _, text := range []string{
		"'aXbXc'.split(/(?=X)/).join()", "'äXbXc'.split(/X/).join()", "[...'äbä'.matchAll(/ä/g)].map(m => m.index).join()", "'aab'.replace(/(a)\\1/, '<$1>')",
		"(() => { const r = /\\w(?=b)/g, s = 'ab cb db', l = []; let m; while ((m = r.exec(s))) l.push(m.index, r.lastIndex); return l.join() })()",
		"(() => { const r = /b/y; r.lastIndex = 1; return [r.test('ab'), r.lastIndex, r.test('ab')].join() })()",
		"'x😀y'.match(/./gu).length + 'x😀y'.match(/./g).length", "'A\\nb'.match(/^(?=B)./im)[0] + 'a\\nb'.match(/a.(?=b)/s)[0].length",
		"RegExp.prototype.exec.length + RegExp.prototype[Symbol.replace].name", "(() => { try { return RegExp.prototype.exec.call({}, '') } catch (e) { return e.name } })()",
		"Array.from({ length: 600 }, (_, i) => RegExp('(?=a)a{' + i % 300 + '}').test('a'.repeat(299))).filter(x => x).length",
	} {
		want, err := free.Eval(t.Context(), "p", "String("+text+")")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got, err := bounded.Eval(t.Context(), "p", "String("+text+")"); err != nil || !got.SameAs(want) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
}
