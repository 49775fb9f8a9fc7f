package source

import (
	"maps"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/lang/nesting"
	"github.com/orepl/orepl/runtime/stopwatch"
)

// deep lists ways to nest. A text is head, repeated part, middle, repeated close, and tail.
var deep = map[string][5]string{
	"parentheses":    {"", "(", "1", ")", ""},
	"arrays":         {"x=", "[", "1", "]", ""},
	"objects":        {"x=", "{a:", "1", "}", ""},
	"blocks":         {"", "{", "", "}", ""},
	"calls in":       {"", "f(", "1", ")", ""},
	"indices in":     {"", "f[", "1", "]", ""},
	"functions":      {"", "function f(){", "", "}", ""},
	"expressions":    {"x=", "function(){return ", "", "}", ""},
	"arrow bodies":   {"x=", "()=>{return ", "1", "}", ""},
	"arrows":         {"x=", "a=>", "1", "", ""},
	"async arrows":   {"x=", "async a=>", "1", "", ""},
	"arrows()":       {"x=", "()=>", "1", "", ""},
	"classes":        {"", "class A{m(){", "", "}}", ""},
	"class fields":   {"x=", "class{a=", "1", "}", ""},
	"heritage":       {"x=", "class extends ", "A", "{}", ""},
	"methods":        {"x=", "{m(){return ", "1", "}}", ""},
	"getters":        {"x=", "{get m(){return ", "1", "}}", ""},
	"computed names": {"x=", "{[", "1", "]:1}", ""},
	"templates":      {"", "`${", "1", "}`", ""},
	"tagged":         {"x", "`a`", "", "", ""},
	"tagged lines":   {"x", "\n`a`", "", "", ""},
	"tagged deep":    {"", "x`${", "1", "}`", ""},
	"assignments":    {"", "x=", "1", "", ""},
	"logical assign": {"", "x??=", "1", "", ""},
	"sums":           {"1", "+a", "", "", ""},
	"constant sums":  {"1", "+1", "", "", ""},
	"strings":        {"x='a'", "+'a'", "", "", ""},
	"lines of sums":  {"1", "\n+a", "", "", ""},
	"products":       {"1", "*a", "", "", ""},
	"powers":         {"", "2**", "2", "", ""},
	"and":            {"1", "&&a", "", "", ""},
	"or":             {"1", "||a", "", "", ""},
	"coalesce":       {"1", "??a", "", "", ""},
	"comparisons":    {"1", "<a", "", "", ""},
	"in":             {"1", " in a", "", "", ""},
	"conditional":    {"x=", "a?1:", "1", "", ""},
	"conditional 2":  {"x=", "a?", "1", ":1", ""},
	"not":            {"", "!", "1", "", ""},
	"minus":          {"", "- ", "1", "", ""},
	"typeof":         {"", "typeof ", "1", "", ""},
	"void lines":     {"", "void\n", "1", "", ""},
	"delete":         {"", "delete ", "a", "", ""},
	"await":          {"", "await ", "1", "", ""},
	"yield":          {"function*g(){", "yield ", "1", "", "}"},
	"new":            {"", "new ", "A", "", ""},
	"new()":          {"", "new ", "A", "()", ""},
	"members":        {"a", ".a", "", "", ""},
	"member lines":   {"a", "\n.a", "", "", ""},
	"number members": {"1.", ".a", "", "", ""},
	"optional":       {"a", "?.a", "", "", ""},
	"indices":        {"a", "[0]", "", "", ""},
	"calls":          {"a", "()", "", "", ""},
	"method calls":   {"a", ".a()", "", "", ""},
	"optional calls": {"a", "?.()", "", "", ""},
	"else if":        {"", "if(0);else ", ";", "", ""},
	"else if 2":      {"", "if(0){a=1}else ", ";", "", ""},
	"else comma":     {"", "if(0)a,b;else ", ";", "", ""},
	"else do":        {"", "if(0)do;while(0);else ", ";", "", ""},
	"for comma":      {"", "for(;;)for(;;)a,function(){", "", "}", ""},
	"else lines":     {"", "if(0)\na\nelse ", ";", "", ""},
	"if":             {"", "if(1)", ";", "", ""},
	"if else":        {"", "if(1)", ";", "else;", ""},
	"for":            {"", "for(;;)", ";", "", ""},
	"for of":         {"", "for(a of b)", ";", "", ""},
	"for await":      {"", "for await(a of b)\n", ";", "", ""},
	"while":          {"", "while(1)\n", ";", "", ""},
	"do":             {"", "do ", ";", "while(0)", ""},
	"labels":         {"", "l#:", ";", "", ""},
	"switch":         {"", "switch(1){case 1:", "", "}", ""},
	"try":            {"", "try{", "", "}catch{}", ""},
	"finally":        {"", "try{}finally{", "", "}", ""},
	"spread":         {"x=", "[...", "[]", "]", ""},
	"patterns":       {"let ", "[", "a", "]", "=1"},
	"patterns {}":    {"let ", "{a:", "a", "}", "=1"},
	"assigned []":    {"", "[", "a", "]", "=1"},
	"assigned {}":    {"(", "{a:", "a", "}", "=1)"},
	"defaults":       {"", "[a=", "1", "]=1", ""},
	"parameters":     {"x=(", "[", "a", "]", ")=>1"},
	"default arrows": {"x=", "(a=>", "1", ")", ""},
	"import":         {"", "import(", "'a'", ")", ""},
	"comma":          {"(1", ",1", "", "", ")"},
	"comma of sums":  {"(1", ",1+1", "", "", ")"},
	"BigInt powers":  {"x=1n", "*2n", "", "", ""},

	"types":            {"let x:", "A<", "1", ">", ""},
	"types comma":      {"let x:", "A<B,", "1", ">", ""},
	"type arrays":      {"let x:A", "[]", "", "", ""},
	"type unions":      {"let x:A", "|A", "", "", ""},
	"type functions":   {"let x:", "()=>", "A", "", ""},
	"type objects":     {"let x:", "{a:", "A", "}", ""},
	"type conditional": {"type X=", "A extends B?1:", "1", "", ""},
	"type keyof":       {"type X=", "keyof\n", "A", "", ""},
	"type infer":       {"type X=", "readonly ", "A", "", ""},
	"casts":            {"let x:any=", "<A>", "1", "", ""},
	"as":               {"let x:any=1", " as A", "", "", ""},
	"not null":         {"let x:any=a", "!", "", "", ""},
	"type arguments":   {"let x:any=", "f<", "A", ">()", ""},
	"decorators":       {"", "@a(class{", "", "})class A{}", ""},
	"namespaces":       {"", "namespace a{", "", "}", ""},
	"namespace names":  {"namespace a", ".a", "", "", "{}"},
	"type queries":     {"let x:typeof a", ".a", "", "", ""},
	"type templates":   {"type X=", "`${", "A", "}`", ""},
	"type tuples":      {"type X=", "[", "A", "]", ""},
}

func nest(shape [5]string, n int) string {
	var b strings.Builder
	b.WriteString(shape[0])
	for i := range n {
		b.WriteString(strings.ReplaceAll(shape[1], "#", itoaLabel(i)))
	}
	b.WriteString(shape[2])
	for range n {
		b.WriteString(shape[3])
	}
	b.WriteString(shape[4])
	return b.String()
}

func itoaLabel(i int) string {
	var b []byte
	for ; i > 0; i /= 26 {
		b = append(b, byte('a'+i%26))
	}
	return string(b)
}

// TestLevelsFitTheStack checks that the deepest accepted text does not exhaust the stack, and is compiled or rejected in
// bounded time.
func TestLevelsFitTheStack(t *testing.T) {
	const limit = nesting.Max / 4 // the stack is linear in the depth, the time quadratic
	defer debug.SetMaxStack(debug.SetMaxStack(40e6))
	const most = 50000
	for _, name := range slices.Sorted(maps.Keys(deep)) {

		shape := deep[name]
		t.Run(name, func(t *testing.T) {
			n := sort.Search(most, func(n int) bool { return nesting.Check(nest(shape, n), limit) != nil }) - 1
			text := nest(shape, n)
			began := stopwatch.Start()
			_, err := Compile("deep.ts", text, Options{TypeScript: strings.Contains(shape[0]+shape[1], ":") && strings.Contains(name, "type")})
			message := "compiled"
			if err != nil {
				message = err.Error()
			}
			t.Logf("%6d levels, %v: %.100s", n, began.Elapsed().Round(time.Millisecond), message)
			if n == most-1 && !strings.Contains(name, "comma") {
				t.Errorf("the check passes any number of levels")
			}
			if took := began.Elapsed(); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
