package repl

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang/later"
)

// completionTime bounds the wait for an engine that runs background tasks.
const completionTime = 300 * time.Millisecond

// complete returns the completions of text at the offset of the cursor. The words replace the text from start to the cursor. It
// runs on the engine's loop, since the engine serves background tasks meanwhile. It returns none if the loop is busy for
// completionTime.
func (p *prompt) complete(text string, at int) (start int, words []string) {
	type answer struct {
		word  string
		words []string
	}
	done := make(chan answer, 1)
	c := &completion{resolver: resolver{p, p.engine.VM()}, left: text[:at], right: text[at:]}
	p.engine.Post(func() error {
		var a answer
		a.word, a.words = c.words()
		done <- a
		return nil
	})
	select {
	case a := <-done:
		return at - len(a.word), beginning(a.words, a.word)
	case <-time.After(completionTime):
		return at, nil
	}
}

// beginning returns the words with a prefix, sorted and each once.
func beginning(words []string, prefix string) []string {
	var list []string
	for _, w := range words {
		if strings.HasPrefix(w, prefix) {
			list = append(list, w)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// completion is one press of Tab.
type completion struct {
	resolver
	left, right string
	kernel      *kernelText // kernel around the cursor, or nil
}

// words returns the word before the cursor and candidates for its completion, which may begin otherwise.
func (c *completion) words() (word string, words []string) {
	text := strings.TrimLeft(c.left, "? \t")
	if asked := strings.HasPrefix(strings.TrimLeft(c.left, " \t"), "?"); asked && isPathOfNames(strings.TrimSuffix(text, ".")) {
		defer func() { words = append(words, c.documented(text)...) }()
	}
	if isCommand(text) || text == "." {
		name, args, found := strings.Cut(text, " ")
		switch {
		case !found:
			for _, cmd := range commands() {
				words = append(words, cmd.name)
			}
			return name, words
		case name == ".load" || name == ".save":
			path := args[strings.LastIndexByte(args, ' ')+1:]
			return path, c.paths(path)
		case name == ".help":
			for _, cmd := range commands() {
				words = append(words, cmd.name)
			}
			return args, words
		case name == ".explain":
			return c.explained(args)
		}
		c.left = args
	}
	at := locate(c.left)
	switch {
	case at.comment:
		return "", nil
	case at.quote != 0:
		return c.inString(&at, c.left[:at.text-1], c.left[at.text:])
	}
	if word, words, ok := c.importNames(); ok {
		return word, words
	}
	c.kernel = kernelAround(c.left, &at)
	chain, word, dotted := chainBefore(c.left)
	if dotted {
		words := c.memberNames(chain, word)
		if len(chain) == 1 && chain[0].text == "Math" && at.inKernel(c.left) {
			words = slices.DeleteFunc(words, func(name string) bool { return name == "random" }) // random is available only on the host
		}
		return word, words
	}
	if words := c.optionWords(&at, word); len(words) > 0 {
		return word, words
	}
	if words := c.argumentWords(&at, word); len(words) > 0 {
		return word, words
	}
	return word, c.globals(word)
}

// explainable returns the names that help accepts: those of documented, and for a path without a dot the members of all
// modules.
func (c *completion) explainable(path string) []string {
	words := c.documented(path)
	if !strings.Contains(path, ".") {
		for _, m := range c.p.Registry.Modules() {
			for _, e := range m.Entries() {
				words = append(words, e.Name)
			}
		}
	}
	return words
}

// documented returns the names that ? accepts and that begin with path up to its last dot. It returns the component behind that
// dot.
func (c *completion) documented(path string) []string {
	parent := path[:strings.LastIndexByte(path, '.')+1]
	var words []string
	for _, name := range c.p.Registry.Names() {
		if rest, ok := strings.CutPrefix(name, parent); ok {
			word, _, _ := strings.Cut(rest, ".")
			words = append(words, word)
		}
	}
	return words
}

func (c *completion) memberNames(chain []step, prefix string) []string {
	if chain == nil {
		return nil
	}
	if c.kernel != nil {
		if words, ok := c.kernelMembers(chain); ok {
			return words
		}
	}
	s, ok := c.chain(chain)
	if !ok { // a parameter in the registry, such as g in kernels
		if len(chain) != 1 {
			return nil
		}
		if s.entry, _, ok = c.p.Registry.Lookup(chain[0].text); !ok {
			return nil
		}
	}
	return slices.DeleteFunc(c.names(s, prefix), func(name string) bool { return !isName(name) })
}

var keywords = strings.Fields("async await break case catch class const continue debugger default delete do else export " +
	"extends false finally for function if import in instanceof let new null of return super switch this throw true try " +
	"typeof undefined using var void while yield")

// globals returns keywords and global names; the caller selects those with the prefix. In a kernel it returns the names that
// the kernel can use. For an empty prefix it returns only names that were declared, at the prompt or in the kernel.
func (c *completion) globals(prefix string) []string {
	global := c.vm.GlobalObject()
	if c.kernel != nil {
		words := c.kernel.names()
		if prefix != "" {
			words = append(append(append(words, "Math", "Atomics", "bits", "fromBits"), keywords...), global.Keys()...)
		}
		return words
	}
	if prefix == "" {
		return global.Keys()
	}
	return append(global.GetOwnPropertyNames(), keywords...)
}

// explained returns completions of .explain's arguments: a kernel, then a form, then a file.
func (c *completion) explained(args string) (word string, words []string) {
	_, form, second := strings.Cut(args, " ")
	if _, file, third := strings.Cut(form, " "); third {
		return file, c.paths(file)
	}
	if second {
		return form, slices.Collect(maps.Keys(c.p.Emit))
	}
	c.p.compiledMu.Lock()
	defer c.p.compiledMu.Unlock()
	for _, k := range c.p.compiled {
		words = append(words, k.Name)
	}
	return args, words
}

var (
	importsFrom   = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\b(?:from|import)\s*\(?\s*$`) }}
	asksForHelp   = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\bhelp\s*\(\s*$`) }}
	asksForDevice = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\bdevice\s*[(:]\s*$`) }}
	importBraces  = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^\s*import\b[^'"]*\{([^}'"]*)$`) }}
	fromModule    = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^[^'"]*\}\s*from\s*['"]([^'"]+)['"]`) }}
)

// inString returns completions in a string: names for help, devices, modules, paths, and values of options.
func (c *completion) inString(at *place, before, text string) (word string, words []string) {
	for _, v := range bindings.Values(c.optionType(at, before)) {
		words = append(words, strings.Trim(v, "'"))
	}
	switch {
	case words != nil:
		return text, words
	case asksForDevice.Get().MatchString(before):
		return text, c.deviceIDs()
	case asksForHelp.Get().MatchString(before):
		return text[strings.LastIndexByte(text, '.')+1:], c.explainable(text)
	case importsFrom.Get().MatchString(before) && !isPath(text):
		return text, append(c.p.engine.ModuleNames(), "./", "../")
	case isPath(text):
		return text, c.paths(text)
	}
	return "", nil
}

func (c *completion) deviceIDs() []string {
	ids := []string{"gpu"}
	for _, d := range c.p.Session.Devices(c.p.ctx) {
		ids = append(ids, d.ID())
	}
	return ids
}

func isPath(text string) bool {
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || strings.HasPrefix(text, "~/")
}

// paths returns the paths of the files in the folder of path; those of folders end with a slash. It leaves out hidden files if
// path is only a folder. It returns nil for a folder that scripts cannot read.
func (c *completion) paths(path string) []string {
	dir, base := filepath.Split(path)
	full, err := c.p.engine.ReadPath(home(dir))
	if err != nil {
		return nil
	}
	files, err := os.ReadDir(full)
	if err != nil {
		return nil
	}
	var list []string
	for _, f := range files {
		if name := f.Name(); base != "" || !strings.HasPrefix(name, ".") {
			if f.IsDir() {
				name += "/"
			}
			list = append(list, dir+name)
		}
	}
	return list
}

// importNames returns completions between the braces of an import: the names of the module behind them, or of all modules if
// there is none yet. It returns false elsewhere.
func (c *completion) importNames() (word string, words []string, ok bool) {
	m := importBraces.Get().FindStringSubmatch(c.left)
	if m == nil {
		return "", nil, false
	}
	module := ""
	if from := fromModule.Get().FindStringSubmatch(c.right); from != nil {
		module = from[1]
	}
	for _, m := range c.p.Registry.Modules() {
		if m.Importable() && (module == "" || m.Name == module) {
			for _, e := range m.Entries() {
				words = append(words, e.Name)
			}
		}
	}
	return trailingName(m[1]), words, true
}

// optionWords returns completions in an options object. Behind { or a comma these are the names that are not written yet.
// Behind a name and a colon they are the literal values of that option's type.
func (c *completion) optionWords(at *place, prefix string) []string {
	before := strings.TrimRight(c.left[:len(c.left)-len(prefix)], " \n")
	if strings.HasSuffix(before, "{") || strings.HasSuffix(before, ",") {
		var words []string
		for _, o := range c.options(at) {
			if !c.isWritten(at, o.Name) {
				words = append(words, o.Name+": ")
			}
		}
		return words
	}
	return bindings.Values(c.optionType(at, before))
}

// isWritten reports whether the innermost braces already have a property of this name, before or after the cursor.
func (c *completion) isWritten(at *place, name string) bool {
	braces, ok := at.inner(0)
	if !ok {
		return false
	}
	behind, _, _ := strings.Cut(c.right, "}")
	for _, text := range []string{c.left[braces.at+1:], behind} {
		if regexp.MustCompile(`(?:^|[,\s])` + name + `\s*[:,]`).MatchString(text) {
			return true
		}
	}
	return false
}

// optionType returns the type of the option whose name and colon end the text, or "".
func (c *completion) optionType(at *place, before string) string {
	before, isValue := strings.CutSuffix(strings.TrimRight(before, " \n"), ":")
	if !isValue {
		return ""
	}
	name := trailingName(before)
	for _, o := range c.options(at) {
		if o.Name == name {
			return o.Type()
		}
	}
	return ""
}

// options returns the documented options of the call with the innermost braces as argument, or nil elsewhere.
func (c *completion) options(at *place) []bindings.Entry {
	braces, ok := at.inner(0)
	call, inCall := at.inner(1)
	if !ok || !inCall || braces.char != '{' || call.char != '(' {
		return nil
	}
	chain, ok := parseChain(c.left[:call.at])
	if !ok {
		return nil
	}
	s, ok := c.chain(chain)
	if !ok || s.entry == nil {
		return nil
	}
	var list []bindings.Entry
	for _, typ := range s.entry.ParameterTypes(call.commas) {
		if strings.HasPrefix(typ, "{") {
			list = append(list, bindings.Fields(typ)...)
		} else if e, _, ok := c.p.Registry.Type(typ); ok && e.Kind == bindings.Interface {
			list = append(list, e.Members...)
		}
	}
	return list
}

// argumentWords returns completions in kernel.launch(…): options, then variables with values that kernels accept. A variable
// with the name of the kernel's parameter is the only completion. It returns nil elsewhere, and behind the last argument.
func (c *completion) argumentWords(at *place, prefix string) []string {
	inner, ok := at.inner(0)
	if !ok {
		return nil
	}
	params := c.launched(inner)
	if params == nil {
		return nil
	}
	if inner.commas == 0 {
		return []string{"{ size: "}
	}
	if inner.commas > len(params) {
		return nil
	}
	var fit []string
	for _, name := range c.vm.GlobalObject().Keys() {
		if v := c.data(c.vm.GlobalObject(), name); isArgument(c.p, v) && strings.HasPrefix(name, prefix) {
			if name == params[inner.commas-1] {
				return []string{name}
			}
			fit = append(fit, name)
		}
	}
	return fit
}

// launched returns the parameters of the kernel whose launch starts at a bracket, or nil.
func (c *completion) launched(at bracket) []string {
	if at.char != '(' {
		return nil
	}
	chain, ok := parseChain(c.left[:at.at])
	if !ok || len(chain) < 2 || chain[len(chain)-1] != (step{memberStep, "launch"}) {
		return nil
	}
	s, ok := c.chain(chain[:len(chain)-1])
	if !ok {
		return nil
	}
	return kernelParams(c.p, s.value)
}

// kernelParams returns the names of a kernel's parameters, nil if v is not a kernel.
func kernelParams(p *prompt, v goja.Value) []string {
	host, _ := p.engine.HostValue(v)
	if k, ok := host.(interface{ Params() []string }); ok {
		return append([]string{}, k.Params()...)
	}
	return nil
}

// isArgument reports whether a value can be passed to a kernel: a buffer, a number, a BigInt or a boolean.
func isArgument(p *prompt, v goja.Value) bool {
	if v == nil {
		return false
	}
	host, _ := p.engine.HostValue(v)
	_, isBuffer := host.(buffer)
	_, isObject := v.(*goja.Object)
	return isBuffer || !isObject && (goja.IsNumber(v) || goja.IsBigInt(v) || v.StrictEquals(p.engine.VM().ToValue(true)) || v.StrictEquals(p.engine.VM().ToValue(false)))
}
