package inspect

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/columns"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/lang/spelling"
)

func (p *printer) object(o *goja.Object, depth int) string {
	for _, outer := range p.path {
		if outer.SameAs(o) {
			if p.circular == nil {
				p.circular = map[*goja.Object]int{}
			}
			if p.circular[outer] == 0 {
				p.circular[outer] = len(p.circular) + 1
			}
			return p.paint(cyan, fmt.Sprintf("[Circular *%d]", p.circular[outer]))
		}
	}
	if o.ExportType() == typeProxy { // any access would run code of the script
		if target := proxied(o); target != nil && target.ClassName() == "Function" {
			return p.function(target, depth)
		}
		return p.paint(cyan, "[Proxy]")
	}
	if p.in.hook != nil {
		opts := p.o
		opts.Nested = opts.Nested || depth > 0
		if s, ok := p.in.hook(o, opts); ok {
			return s
		}
	}
	p.path = append(p.path, o)
	s, ok := p.ownWay(o, depth)
	if !ok {
		s = p.kind(o, depth)
	}
	p.path = p.path[:len(p.path)-1]
	if n := p.circular[o]; n > 0 {
		s = p.paint(cyan, fmt.Sprintf("<ref *%d> ", n)) + s
	}
	p.printed += len(s)
	return s
}

// ownWay formats an object with its method [Symbol.for('nodejs.util.inspect.custom')]. It prints a string result without
// quotes, and formats any other result in place of the object. It returns false if the default format applies: without the
// method, if it throws, below the depth limit, or in passive mode.
func (p *printer) ownWay(o *goja.Object, depth int) (string, bool) {
	if p.o.Passive {
		return "", false
	}
	method, ok := goja.AssertFunction(p.in.inherited(o, p.in.custom))
	if !ok || p.tooDeep(depth) {
		return "", false
	}
	shown, err := method(o, p.in.vm.ToValue(p.o.Depth-depth), p.in.vm.NewObject())
	if err != nil { // falls back to the default format
		return "", false
	}
	switch shown := shown.(type) {
	case *goja.Object:
		return p.kind(shown, depth), true
	case goja.String:
		return shown.String(), true
	default:
		return p.value(shown, depth), true
	}
}

// tooDeep reports whether an object must be abbreviated: it is below the depth limit, or nested and more than mostPrinted bytes
// are printed.
func (p *printer) tooDeep(depth int) bool {
	if p.printed > mostPrinted {
		return depth > 0
	}
	switch p.o.Depth {
	case Unlimited:
		return depth > mostDepth
	case TopOnly:
		return depth > 0
	}
	return depth > min(p.o.Depth, mostDepth)
}

// Limits of the printed text for all options; objects beyond them are abbreviated. Nested text counts once for each enclosing object,
// which copies it.
const (
	mostDepth   = 200
	mostPrinted = 4 << 20 // bytes
)

func (p *printer) kind(o *goja.Object, depth int) string {
	class := o.ClassName()
	switch class {
	case "Function":
		return p.function(o, depth)
	case "Error":
		return p.err(o, depth)
	case "Date":
		if v := p.in.method("Date.toISOString", o); v != nil {
			return p.paint(magenta, v.String())
		}
		return p.paint(magenta, "Invalid Date")
	case "RegExp":
		if text := p.in.regexp(o); text != "" {
			return p.paint(magenta, text)
		}
	case "Array":
		return p.array(o, "", depth)
	case "Arguments":
		return "[Arguments] " + p.braces("{", "}", p.properties(o, depth, nil), depth)
	case "Object":
		if name := p.in.className(o); name == "BigInt" || name == "Symbol" { // the interpreter has no class for these
			class = name
		}
	}
	if p.in.own[class+".valueOf"] != nil {
		if v := p.in.method(class+".valueOf", o); v != nil {
			return p.paint(cyan, "["+class+": ") + p.value(v, depth) + p.paint(cyan, "]")
		}
	}
	switch t := o.ExportType(); {
	case t == nil:
	case t.Kind() == reflect.Func: // asynchronous functions report no class
		return p.function(o, depth)
	case t == reflect.TypeFor[goja.ArrayBuffer]():
		return p.arrayBuffer(o, depth)
	case t == reflect.TypeFor[*goja.Promise]():
		return p.promise(o, depth)
	case t == reflect.TypeFor[[][2]any]():
		return p.mapping(o, depth)
	case t == reflect.TypeFor[[]any]():
		return p.set(o, depth)
	case t.Kind() == reflect.Slice:
		return p.array(o, p.in.className(o), depth)
	}
	if p.in.className(o) == "DataView" {
		if s, ok := p.dataView(o, depth); ok {
			return s
		}
	}
	return p.record(o, depth)
}

// asyncGenerator matches the text of an asynchronous generator function, and generator that of any other one.
var asyncGenerator = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^async\s*(function)?\s*\*`) }}

var generator = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^(function\s*)?\*`) }}

// heritage returns the first word after extends in the head of a class's text, or "".
func heritage(text string) string {
	head, _, _ := strings.Cut(text, "{")
	words := strings.Fields(head)
	for i, w := range words {
		if w == "extends" && i+1 < len(words) {
			return words[i+1]
		}
	}
	return ""
}

func (p *printer) function(o *goja.Object, depth int) string {
	name := p.in.text(o, "name")
	label := "Function"
	text := p.in.FunctionText(o)
	switch {
	case strings.HasPrefix(text, "class"):
		label = "class"
		if name == "" {
			name = "(anonymous)"
		}
		if base := heritage(text); base != "" {
			name += " extends " + base
		}
		return p.withProperties(p.paint(cyan, "["+label+" "+name+"]"), o, depth)
	case asyncGenerator.Get().MatchString(text):
		label = "AsyncGeneratorFunction"
	case strings.HasPrefix(text, "async"):
		label = "AsyncFunction"
	case generator.Get().MatchString(text):
		label = "GeneratorFunction"
	}
	if name == "" {
		return p.withProperties(p.paint(cyan, "["+label+" (anonymous)]"), o, depth)
	}
	return p.withProperties(p.paint(cyan, "["+label+": "+name+"]"), o, depth)
}

// withProperties appends the additional properties of a function to its head.
func (p *printer) withProperties(head string, o *goja.Object, depth int) string {
	return p.besides(head, p.properties(o, depth, functionOwn), depth)
}

// besides appends entries to a head, on separate lines if the head has several.
func (p *printer) besides(head string, entries []string, depth int) string {
	switch {
	case len(entries) == 0:
		return head
	case strings.Contains(head, "\n"):
		return head + " " + p.lines("{", "}", entries, depth)
	}
	return head + " " + p.braces("{", "}", entries, depth)
}

// Properties of a function or error that are not listed after its head. Most of them are in the head, and err prints cause and errors
// itself.
var (
	functionOwn = []string{"prototype", "name", "length"}
	errorOwn    = []string{"stack", "message", "name", "cause", "errors"}
)

func (p *printer) err(o *goja.Object, depth int) string {
	stack := p.in.text(o, "stack")
	if stack == "" {
		stack = p.in.text(o, "name")
		if m := p.in.text(o, "message"); m != "" {
			stack += ": " + m
		}
		if _, own := p.in.data(o, "stack").(goja.String); !own && p.in.Calls != nil {
			stack += p.in.Calls(o)
		}
	}
	head, frames, _ := strings.Cut(stack, "\n")
	s := p.paint(red, head)
	switch {
	case frames != "":
		s += "\n" + indent(depth) + p.paint(gray, strings.ReplaceAll(frames, "\n", "\n"+indent(depth)))
	case depth > 0:
		s = "[" + s + "]"
	}
	entries := p.properties(o, depth, errorOwn)
	for _, name := range []string{"cause", "errors"} { // not enumerable, but worth printing
		if held := p.in.property(o, p.in.vm.ToValue(name)); held.exists {
			entries = append(entries, "["+name+"]: "+p.content(held, depth))
		}
	}
	return p.besides(s, entries, depth)
}

func (p *printer) promise(o *goja.Object, depth int) string {
	promise, ok := o.Export().(*goja.Promise)
	if !ok {
		return p.record(o, depth)
	}
	state := p.paint(cyan, "<pending>")
	switch promise.State() {
	case goja.PromiseStateFulfilled:
		state = p.value(promise.Result(), depth+1)
	case goja.PromiseStateRejected:
		state = p.paint(red, "<rejected> ") + p.value(promise.Result(), depth+1)
	}
	return p.className(o) + p.braces("{", "}", []string{state}, depth)
}

func (p *printer) className(o *goja.Object) string { return p.in.className(o) + " " }

func (p *printer) arrayBuffer(o *goja.Object, depth int) string {
	buf, _ := o.Export().(goja.ArrayBuffer)
	b := buf.Bytes()
	if buf.Detached() {
		return "ArrayBuffer { (detached), byteLength: " + p.paint(yellow, "0") + " }"
	}
	if p.tooDeep(depth) {
		return p.paint(cyan, "[ArrayBuffer]")
	}
	bytes := fmt.Sprintf("% x", b[:min(len(b), p.o.Items)])
	if more := len(b) - p.o.Items; more > 0 {
		bytes += fmt.Sprintf(" … %d more bytes", more)
	}
	return "ArrayBuffer " + p.braces("{", "}", []string{
		p.paint(cyan, "[Uint8Contents]") + ": <" + bytes + ">", "byteLength: " + p.paint(yellow, strconv.Itoa(len(b))),
	}, depth)
}

// dataView formats the range of a view, unless its buffer is detached, and the buffer. ok is false for an object that only has the name,
// and below the depth limit.
func (p *printer) dataView(o *goja.Object, depth int) (s string, ok bool) {
	view, ok := internals.ViewOf(o)
	if !ok || !view.IsDataView() || p.tooDeep(depth) {
		return "", false
	}
	var entries []string
	if !view.Buffer().IsDetached() {
		number := func(n int) string { return p.paint(yellow, strconv.Itoa(n)) }
		entries = []string{"byteLength: " + number(view.Length()), "byteOffset: " + number(view.Offset())}
	}
	entries = append(entries, "buffer: "+p.value(view.Buffer().Object(), depth+1))
	return p.className(o) + p.braces("{", "}", entries, depth), true
}

func (p *printer) array(o *goja.Object, class string, depth int) string {
	n := 0
	if class != "" { // typed arrays: scripts may redefine their property length
		n = reflect.ValueOf(internals.Export(o)).Len()
	} else if v := p.in.data(o, "length"); v != nil {
		n = int(v.ToInteger())
	}
	head := ""
	if c := p.in.className(o); class != "" || c != "Array" {
		head = c + "(" + strconv.Itoa(n) + ") "
	}
	if p.tooDeep(depth) {
		return p.paint(cyan, "["+strings.TrimSpace(head+"Array")+"]")
	}
	var text string
	if class != "" {
		entries := make([]string, min(n, p.o.Items))
		for i := range entries {
			entries[i] = p.element(o, i, depth)
		}
		text = p.brackets(p.limited(entries, n), depth)
	} else {
		entries, shown := p.elements(o, n, depth)
		if shown < n {
			entries = append(entries, p.more(n-shown))
		} else {
			entries = append(entries, p.properties(o, depth, nil)...)
		}
		text = p.brackets(entries, depth)
	}
	if p.o.Brief && n > 2*briefEnd {
		if ends, ok := p.ends(o, n, strings.Count(text, "\n")+1, depth); ok {
			return cmp.Or(head, "Array("+strconv.Itoa(n)+") ") + ends
		}
	}
	return head + text
}

// elements formats the first elements of an array as at most Options.Items entries, and returns how many elements they cover. A run of
// holes is one entry.
func (p *printer) elements(o *goja.Object, n, depth int) (entries []string, shown int) {
	for shown < n && len(entries) < p.o.Items {
		if prop := p.in.property(o, p.in.vm.ToValue(shown)); prop.exists {
			entries = append(entries, p.content(prop, depth))
			shown++
			continue
		}
		next := p.nextElement(o, shown, n)
		entries = append(entries, p.paint(gray, "<"+spelling.Count(next-shown, "empty item")+">"))
		shown = next
	}
	return entries, shown
}

// nextElement returns the index of the element after a run of holes, or the array's length.
func (p *printer) nextElement(o *goja.Object, i, n int) int {
	const look = 1000 // for longer runs, listing the keys is faster
	for end := min(n, i+look); i < end; i++ {
		if p.in.property(o, p.in.vm.ToValue(i)).exists {
			return i
		}
	}
	next := n
	for _, key := range o.Keys() {
		if at, err := strconv.Atoi(key); err == nil && at >= i && at < next {
			next = at
		}
	}
	return next
}

// more returns the entry for omitted elements.
func (p *printer) more(n int) string { return p.paint(gray, "... "+spelling.Count(n, "more item")) }

func (p *printer) mapping(o *goja.Object, depth int) string {
	if p.tooDeep(depth) {
		return p.paint(cyan, "[Map]")
	}
	var entries []string
	n := 0
	p.in.method("Map.forEach", o, p.in.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		if n++; n <= p.o.Items {
			entries = append(entries, p.value(c.Argument(1), depth+1)+" => "+p.value(c.Argument(0), depth+1))
		}
		return nil
	}))
	return p.collection(o, "Map", n) + p.braces("{", "}", append(p.limited(entries, n), p.properties(o, depth, nil)...), depth)
}

func (p *printer) set(o *goja.Object, depth int) string {
	if p.tooDeep(depth) {
		return p.paint(cyan, "[Set]")
	}
	var entries []string
	n := 0
	p.in.method("Set.forEach", o, p.in.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		if n++; n <= p.o.Items {
			entries = append(entries, p.value(c.Argument(0), depth+1))
		}
		return nil
	}))
	return p.collection(o, "Set", n) + p.braces("{", "}", append(p.limited(entries, n), p.properties(o, depth, nil)...), depth)
}

// collection returns the head of a map or set: its class and size, and the builtin's name if the class has another name.
func (p *printer) collection(o *goja.Object, kind string, n int) string {
	name := p.in.className(o)
	if name == "" || name == kind {
		return fmt.Sprintf("%s(%d) ", kind, n)
	}
	return fmt.Sprintf("%s(%d) [%s] ", name, n, kind)
}

func (p *printer) limited(entries []string, n int) []string {
	if n > len(entries) {
		return append(entries, p.more(n-len(entries)))
	}
	return entries
}

func (p *printer) record(o *goja.Object, depth int) string {
	name := p.in.className(o)
	head := ""
	switch name {
	case "Object":
	case "":
		head = "[Object: null prototype] "
	default:
		head = name + " "
	}
	if tag, ok := p.tag(o); ok && tag != name {
		head = strings.TrimLeft(name+" ["+tag+"] ", " ")
	}
	if p.tooDeep(depth) {
		return p.paint(cyan, "["+strings.TrimSpace(head+"Object")+"]")
	}
	if name == "WeakMap" || name == "WeakSet" {
		return head + "{ " + p.paint(cyan, "<items unknown>") + " }"
	}
	return head + p.braces("{", "}", p.properties(o, depth, nil), depth)
}

// tag returns the Symbol.toStringTag of the object or its class, or false if there is none or it is empty.
func (p *printer) tag(o *goja.Object) (string, bool) {
	s, ok := p.in.inherited(o, goja.SymToStringTag).(goja.String)
	if !ok || s.String() == "" {
		return "", false
	}
	return s.String(), true
}

// plainKey reports whether a key needs no quotes: it is an identifier of letters, digits, _ and $.
func plainKey(key string) bool {
	for i, r := range key {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return key != ""
}

// properties formats the own enumerable properties except hidden ones; for an array, those other than its elements. After
// Options.Items properties, one entry counts the rest.
func (p *printer) properties(o *goja.Object, depth int, hidden []string) []string {
	isArray := o.ClassName() == "Array"
	var entries []string
	n := 0
	for _, key := range o.Keys() {
		if slices.Contains(hidden, key) || isArray && isIndex(key) {
			continue
		}
		if n++; n > p.o.Items {
			continue
		}
		name := key
		if !plainKey(key) {
			name = p.paint(green, quote(key, p.o.MaxString))
		}
		prop := p.in.property(o, p.in.vm.ToValue(key))
		entries = append(entries, name+": "+p.content(prop, depth))
	}
	if n > p.o.Items {
		entries = append(entries, p.more(n-p.o.Items))
	}
	return entries
}

func isIndex(key string) bool {
	_, err := strconv.ParseUint(key, 10, 32)
	return err == nil
}

// content formats the value of a property, or the accessors that it has instead.
func (p *printer) content(prop property, depth int) string {
	switch {
	case prop.get && prop.set:
		return p.paint(cyan, "[Getter/Setter]")
	case prop.get:
		return p.paint(cyan, "[Getter]")
	case prop.set:
		return p.paint(cyan, "[Setter]")
	}
	return p.value(prop.value, depth+1)
}

func indent(depth int) string { return strings.Repeat("  ", depth) }

// braces joins entries on one line if they fit, otherwise with one entry per line.
func (p *printer) braces(open, closing string, entries []string, depth int) string {
	if len(entries) == 0 {
		return open + closing
	}
	if p.fits(entries, depth) {
		return open + " " + strings.Join(entries, ", ") + " " + closing
	}
	return p.lines(open, closing, entries, depth)
}

// lines formats one entry per line.
func (p *printer) lines(open, closing string, entries []string, depth int) string {
	pad := indent(depth + 1)
	return open + "\n" + pad + strings.Join(entries, ",\n"+pad) + "\n" + indent(depth) + closing
}

// brackets joins the entries of an array like braces, but many short entries share lines. They are aligned in columns,
// numbers at the right.
func (p *printer) brackets(entries []string, depth int) string {
	const packFrom = 7
	if len(entries) < packFrom || p.fits(entries, depth) || !short(entries) {
		return p.braces("[", "]", entries, depth)
	}
	rest := ""
	if last := len(entries) - 1; strings.Contains(entries[last], " more item") {
		entries, rest = entries[:last], ",\n"+indent(depth+1)+entries[last]
	}
	wide, numbers := 0, true
	for _, e := range entries {
		wide = max(wide, columns.Of(e))
		numbers = numbers && number.Get().MatchString(e)
	}
	perLine := max(1, min(16, (p.o.Width-2*depth-4)/(wide+2)))
	var b strings.Builder
	b.WriteString("[")
	for i, e := range entries {
		if i%perLine == 0 {
			b.WriteString("\n" + indent(depth+1))
		} else {
			b.WriteByte(' ')
		}
		blanks := strings.Repeat(" ", wide-columns.Of(e))
		if numbers {
			e = blanks + e
		}
		if b.WriteString(e); i < len(entries)-1 {
			b.WriteByte(',')
			if !numbers && (i+1)%perLine != 0 {
				b.WriteString(blanks)
			}
		}
	}
	b.WriteString(rest + "\n" + indent(depth) + "]")
	return b.String()
}

// number matches a formatted number, including its colours.
var number = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^(\x1b\[33m)?-?(\d|NaN|Infinity)[^'"]*$`) }}

// short reports whether all entries are short enough to be printed in columns.
func short(entries []string) bool {
	for _, e := range entries {
		if columns.Of(e) > 24 || strings.Contains(e, "\n") {
			return false
		}
	}
	return true
}

// fits reports whether all entries fit in one line at a depth.
func (p *printer) fits(entries []string, depth int) bool {
	total := 2*depth + 4
	for _, e := range entries {
		if strings.Contains(e, "\n") {
			return false
		}
		total += columns.Of(e) + 2
	}
	return total <= p.o.Width
}
