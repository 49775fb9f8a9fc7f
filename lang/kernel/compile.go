package kernel

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// Limits of a compilation. All but maxPasses bound the growth by inlined helpers.
const (
	maxPasses  = 16     // walks over the tree; assumptions settle in a few
	maxInlined = 1000   // nested inlined calls
	maxCalls   = 50000  // inlined calls in total; those that fold to constants use no registers
	maxValues  = 200000 // registers per kernel
)

// compiler types and lowers a kernel in one walk over its syntax tree. It repeats the walk, at most maxPasses times, until the
// assumed types match the inferred ones. These are the joined types of assigned variables, and which inferred parameters are
// integers. It keeps only the last walk's IR.
type compiler struct {
	f    *Function
	opts Options
	real ir.Type

	inference
	walk
}

// An inference holds the assumptions about types, which each walk refines.
type inference struct {
	root     *frameInfo
	params   []*param
	sure     uint64               // bits, as param.bit, of the parameters proved to be integers
	careful  bool                 // joins only grow; set if they did not settle
	captures map[captureKey]value // captured variables of the script, and fields of these
}

// A walk is the state of one walk over the tree.
type walk struct {
	dirty    bool       // an assumption was contradicted
	b        ir.Builder // appends to the current block
	k        *ir.Kernel
	frame    *frame
	depth    int       // number of inlined calls around the current statement
	calls    int       // calls inlined so far
	dead     bool      // unreachable: code is typed but not kept
	targets  []*target // targets of break and continue around the current statement
	errs     diag.List
	warnings diag.List
	sites    map[siteKey]int // indices in k.Sites
	siteKeys []siteKey       // by site; entry 0 is the kernel
	nesting  int             // number of enclosing blocks
	module   *ir.Module
	files    map[string]int            // indices in module.Files
	tables   map[captureKey]*place     // tables of this kernel
	records  map[*ir.Record]*ir.Record // the module's record for each record of the script
	tooBig   bool                      // the error that the kernel is too big was reported
	unnamed  *ir.Array                 // the last created array, until a name is bound to it
	marks    []Mark
	places   map[*ir.Instr]Place // source expressions; see note
	inlined  []InlinedCall
	recorded map[inlineKey]bool // keys of the calls in inlined
	updating bool               // the current sum or product belongs to a compound assignment such as +=
}

type siteKey struct {
	fn   *syntax.Func
	span syntax.Span
}

// param is a parameter of the kernel.
type param struct {
	arg      Arg
	name     *syntax.Name
	typ      ir.Type // type of a scalar
	inferred bool    // the argument is a Number: its uses decide the type, but from parameter 64 on it is the real type
	bit      uint64  // bit in value.taint while the parameter is assumed to be an integer
	reals    bool    // the inferred type is the real type

	mustInt, withInt, withFloat evidence // uses in this walk
	asReal, asInt               evidence // withFloat and withInt at the decision for the real type
	reason                      string   // as Param.Reason
}

// evidence is the first use of a parameter that indicates an integer or a real, if a walk found one.
type evidence struct {
	found bool
	why   string
	at    diag.Position
}

// frameInfo holds what the walks have inferred for one instance of a function: the kernel, or a helper inlined at a call.
type frameInfo struct {
	vars     []varInfo
	results  []varInfo
	children map[*syntax.Call]*frameInfo
}

type varInfo struct {
	known bool
	typ   ir.Type
	taint uint64
	join  joined
}

// frame is one instance of a function in one walk: the kernel, or a helper inlined at a call.
type frame struct {
	fn     *syntax.Func
	info   *frameInfo
	vars   []variable
	outer  *frame // frame of the enclosing function
	caller *frame
	call   syntax.Span // position in the caller

	exit    *exit // region of a helper with early returns; nil if returns are at the end or end the item
	results results
	kernel  bool
}

// initState is the initialization state of a variable.
type initState uint8

const (
	undeclared initState = iota
	unset
	maybeSet
	set
)

// variable is a declared name in a frame, or a part of a helper's result, which has no decl.
type variable struct {
	decl  *syntax.Decl
	info  *varInfo // results of the earlier walks
	state initState
	fixed value     // value of a variable that is never assigned
	slot  bool      // the variable is assigned after its declaration; typ, cur and join are valid
	typ   ir.Type   // type that this walk assumes
	cur   *ir.Value // nil if state is unset
	join  joined    // types assigned in this walk
	taint uint64    // as value.taint
}

func newCompiler(f *Function, args []Arg, opts Options) *compiler {
	c := &compiler{f: f, opts: opts, inference: inference{root: &frameInfo{}, captures: map[captureKey]value{}}}
	c.real = opts.Real
	if c.real == ir.Void {
		c.real = ir.F32
		for _, a := range args {
			if a.Kind == Scalar && a.Type == ir.F64 || a.Kind == Buffer && hasF64(a.Elem) {
				c.real = ir.F64
			}
		}
	}
	for i, a := range args {
		p := &param{arg: a, name: f.fn.Params[i+1].(*syntax.Name)}
		switch a.Kind {
		case Number:
			p.inferred, p.typ, p.bit = true, ir.I32, 1<<(uint(i)%64)
			if i >= 64 {
				p.reals, p.typ, p.bit = true, c.real, 0
			}
		case BigInt:
			p.typ, p.reason = ir.I64, "i64 because a BigInt is given"
		case Bool:
			p.typ, p.reason = ir.Bool, "bool because a boolean is given"
		case Scalar:
			p.typ, p.reason = a.Type.Value(), a.Type.String()+" by signature"
		}
		c.params = append(c.params, p)
	}
	return c
}

func hasF64(e ir.Elem) bool {
	if e.Record == nil {
		return e.Scalar == ir.F64
	}
	for i := range e.Record.Fields {
		if hasF64(e.Record.Fields[i].Elem) {
			return true
		}
	}
	return false
}

func (c *compiler) compile() (*Compiled, error) {
	if err := c.checkArgs(); err != nil {
		return nil, err
	}
	for pass := 1; ; pass++ {
		c.careful = pass > maxPasses/2
		c.walkKernel()
		c.decideParams(pass)
		if !c.dirty || c.tooBig || pass == maxPasses {
			break
		}
	}
	if len(c.errs) > 0 {
		return nil, c.errs.Sort()
	}
	return c.finish()
}

func (c *compiler) checkArgs() error {
	var errs diag.List
	for i, p := range c.params {
		a := p.arg
		wrong := ""
		switch {
		case a.Kind == Scalar && (a.Type == ir.Void || a.Type.Value() == ir.Void):
			wrong = "has no scalar type"
		case a.Kind == Buffer && (a.Rank < 1 || a.Rank > 3):
			wrong = fmt.Sprintf("has rank %d; a buffer has 1 to 3 dimensions", a.Rank)
		case a.Kind == Buffer && a.Elem.Size() == 0:
			wrong = "has no element type"
		case a.Kind > Buffer:
			wrong = "is neither scalar nor buffer"
		}
		if wrong != "" {
			errs = append(errs, c.f.fn.Source.Diagnostic(c.f.fn.Params[i+1].Range(), diag.ArgumentType, "", "parameter "+p.name.Name+" "+wrong))
		}
	}
	if c.real != ir.F32 && c.real != ir.F64 {
		errs = append(errs, c.f.fn.Source.Diagnostic(c.f.fn.Span, diag.BadOption, "write {real: f32} or {real: f64}", "the real type must be f32 or f64, not "+c.real.String()))
	}
	if len(errs) > 0 {
		return errs
	}
	return nil
}

// newWalk returns the initial state of a walk that compiles a kernel called name.
func newWalk(name string, real ir.Type) walk {
	k := &ir.Kernel{Name: name, Real: real, Body: &ir.Block{}, Sites: []ir.Site{{}}}
	return walk{
		k: k, module: &ir.Module{Kernels: []*ir.Kernel{k}}, b: ir.Builder{Kernel: k, Block: k.Body},
		sites: map[siteKey]int{}, files: map[string]int{}, tables: map[captureKey]*place{}, records: map[*ir.Record]*ir.Record{},
		places: map[*ir.Instr]Place{},
	}
}

// walkKernel types and lowers the whole kernel once.
func (c *compiler) walkKernel() {
	fn := c.f.fn
	name := c.opts.Name
	if name == "" {
		name = fn.Name
	}
	if name == "" {
		name = "kernel"
	}
	c.walk = newWalk(name, c.real)
	c.siteKeys = []siteKey{{fn, fn.Params[0].Range()}}
	c.k.Sites[0] = c.newSite(fn, fn.Params[0].Range(), name)

	c.frame = c.newFrame(fn, c.root, nil, nil)
	c.frame.kernel = true
	c.bindItem(fn.Params[0].(*syntax.Name))
	for i, p := range c.params {
		c.bindParam(p, fn.Params[i+1].(*syntax.Name))
	}
	if fn.Result != nil {
		c.step(fn.Result.Range(), func() { c.effect(fn.Result) })
		if !mayAct(fn.Result) {
			c.errorf(fn.Result.Range(), diag.HelperReturn, "store it in a buffer: `y[g.x] = …`", "a kernel returns no value, and `%s` does nothing else", c.text(fn.Result.Range()))
		}
	} else {
		c.stmts(fn.Body)
	}
	if !c.dead {
		c.mark(Mark{Kind: MarkExit}, fn.Span)
		c.terminate(&ir.Instr{Op: ir.Return})
	}
	c.settle(c.frame)
}

func (c *compiler) bindItem(n *syntax.Name) {
	v := c.declare(n.Decl)
	v.fixed, v.state, v.slot = builtin(itemObject, ""), set, false
}

func (c *compiler) bindParam(p *param, n *syntax.Name) {
	p.mustInt, p.withInt, p.withFloat = evidence{}, evidence{}, evidence{}
	if p.arg.Kind == Buffer {
		arr := &ir.Array{Name: n.Name, Space: ir.Global, Elem: p.arg.Elem, Rank: p.arg.Rank, ID: len(c.k.Arrays)}
		arr.Elem.Record = c.record(arr.Elem.Record)
		c.k.Arrays = append(c.k.Arrays, arr)
		c.k.Params = append(c.k.Params, ir.Param{Name: n.Name, Array: arr})
		v := c.declare(n.Decl)
		v.fixed, v.state, v.slot = value{kind: kPlace, place: wholeArray(arr)}, set, false
		return
	}
	c.k.Params = append(c.k.Params, ir.Param{Name: n.Name, Type: p.typ})
	r := c.k.NewValue(p.typ, nil)
	r.Name = n.Name
	c.k.Body.Params = append(c.k.Body.Params, r)
	v := register(r)
	if p.inferred && !p.reals {
		v.taint = p.bit
	}
	c.bind(n.Decl, v, n.Span)
}

// decideParams assigns the real type to inferred parameters that their uses do not prove to be integers, and records the
// reasons of all inferred types. It waits until a walk proves no further integers. In the first passes it also waits until the
// walks agree, since only then are uses through variables known. It sets c.dirty if another walk must follow.
func (c *compiler) decideParams(pass int) {
	if c.moreSure() || c.dirty && pass < maxPasses/4 {
		c.dirty = true // the next walk may find more parameters that are combined with integers
		return
	}
	for _, p := range c.params {
		if !p.inferred {
			continue
		}
		switch {
		case p.reals:
			if p.reason == "" {
				p.reason = fmt.Sprintf("%s, the kernel's real type, because no use needs an integer", c.real)
			}
		case p.mustInt.found:
			p.reason = fmt.Sprintf("i32 because it is %s at %s", p.mustInt.why, p.mustInt.at)
		case p.withInt.found && !p.withFloat.found:
			p.reason = fmt.Sprintf("i32 because it is %s at %s", p.withInt.why, p.withInt.at)
		default:
			p.reals, p.typ, p.bit = true, c.real, 0
			p.asReal, p.asInt = p.withFloat, p.withInt
			if p.withFloat.found {
				p.reason = fmt.Sprintf("%s, the kernel's real type, because of %s at %s", c.real, p.withFloat.why, p.withFloat.at)
			}
			c.dirty = true
		}
	}
}

// moreSure adds to c.sure the parameters that their uses prove to be integers, and reports whether it added any.
func (c *compiler) moreSure() bool {
	before := c.sure
	for _, p := range c.params {
		if p.inferred && !p.reals && (p.mustInt.found || p.withInt.found && !p.withFloat.found) {
			c.sure |= p.bit
		}
	}
	return c.sure != before
}

// newFrame returns a frame for an instance of a function.
func (c *compiler) newFrame(fn *syntax.Func, info *frameInfo, outer, caller *frame) *frame {
	if info.vars == nil {
		info.vars = make([]varInfo, len(fn.Decls))
	}
	return &frame{fn: fn, info: info, vars: make([]variable, len(fn.Decls)), outer: outer, caller: caller}
}

// settle compares the joined types of a frame's variables and results with the assumed ones, and keeps them for the next walk.
// It sets c.dirty if a type differs, or if a variable depends on further parameters. It reports variables without a joined type.
func (c *compiler) settle(f *frame) {
	for i := range f.vars {
		c.settleVar(&f.vars[i])
	}
	for i := range f.results.vars {
		c.settleVar(&f.results.vars[i])
	}
}

func (c *compiler) settleVar(v *variable) {
	if !v.slot || v.state == undeclared {
		return
	}
	if c.careful {
		v.join |= v.info.join
	}
	v.info.join = v.join
	typ, ok := v.join.typ(c.real)
	if !ok && v.decl != nil {
		c.frameErrorf(v.decl.Func, v.decl.Span, diag.JoinFailed, "convert what is assigned: `i64(x)`",
			"%s is assigned both 64-bit integers and other numbers", v.decl.Name)
	}
	if typ != v.typ {
		c.dirty = true
	}
	if v.taint&^v.info.taint != 0 {
		v.info.taint |= v.taint
		c.dirty = true
	}
	v.info.known, v.info.typ = true, typ
}

// find returns the variable of a declaration, or nil if neither the current function nor one around it in the text declares it.
func (c *compiler) find(d *syntax.Decl) *variable {
	for f := c.frame; f != nil; f = f.outer {
		if f.fn == d.Func {
			return &f.vars[d.Index]
		}
	}
	return nil
}

// helperCache holds the parsed helper functions of a kernel.
type helperCache struct {
	mu     sync.Mutex
	parsed map[*Source]*syntax.Func
}

// parse returns the parsed function of a source and caches it. A function without a name gets name. The error is that of
// [syntax.Parse].
func (h *helperCache) parse(src *Source, name string) (*syntax.Func, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if fn := h.parsed[src]; fn != nil {
		return fn, nil
	}
	fn, err := syntax.Parse(src)
	if err != nil {
		return nil, err
	}
	if fn.Name == "" {
		fn.Name = name
	}
	if h.parsed == nil {
		h.parsed = map[*Source]*syntax.Func{}
	}
	h.parsed[src] = fn
	return fn, nil
}

func (c *compiler) text(s syntax.Span) string { return c.frame.fn.Source.Excerpt(s) }

func (c *compiler) errorf(at syntax.Span, id diag.ID, rewrite, format string, args ...any) {
	d := c.frameErrorf(c.frame.fn, at, id, rewrite, format, args...)
	for f := c.frame; f.caller != nil && len(d.Notes) < 4; f = f.caller {
		name := f.fn.Name
		if name == "" {
			name = "a helper"
		}
		at := f.caller.fn.Source.At(f.call.Pos)
		if d.Line == 0 { // the text is in no file, such as a class's method; use the call's position
			d.Position, d.End, d.Excerpt = at, f.caller.fn.Source.At(f.call.End), f.caller.fn.Source.Excerpt(f.call)
		}
		d.Notes = append(d.Notes, diag.Note{Position: at, Message: "in the call of " + name})
	}
}

func (c *compiler) frameErrorf(fn *syntax.Func, at syntax.Span, id diag.ID, rewrite, format string, args ...any) *diag.Diagnostic {
	d := fn.Source.Diagnostic(at, id, rewrite, fmt.Sprintf(format, args...))
	c.errs = append(c.errs, d)
	return d
}

func (c *compiler) warnf(at syntax.Span, id diag.ID, rewrite, format string, args ...any) {
	if c.opts.Warnings && !c.dead {
		c.warnings = append(c.warnings, c.frame.fn.Source.Diagnostic(at, id, rewrite, fmt.Sprintf(format, args...)))
	}
}

// at sets the site of later instructions to that of a span in the current function, and returns the site to restore.
func (c *compiler) at(s syntax.Span) (before int) {
	before = c.b.Site
	key := siteKey{c.frame.fn, s}
	id, ok := c.sites[key]
	if !ok {
		id = len(c.k.Sites)
		c.k.Sites = append(c.k.Sites, c.newSite(c.frame.fn, s, c.text(s)))
		c.sites[key] = id
		c.siteKeys = append(c.siteKeys, key)
	}
	c.b.Site = id
	return before
}

func (c *compiler) newSite(fn *syntax.Func, s syntax.Span, text string) ir.Site {
	p := fn.Source.At(s.Pos)
	file, ok := c.files[p.File]
	if !ok {
		file = len(c.module.Files)
		c.module.Files = append(c.module.Files, p.File)
		c.files[p.File] = file
	}
	return ir.Site{File: file, Line: p.Line, Col: p.Column, Text: text}
}

// record returns the module's record for r, or nil for nil. This is r itself, or a declared record with the same name and fields.
// If a different record has r's name, or r has none, it is a copy with a new name. If the module has other records for r's
// fields, the copy has these. record declares the result in the module.
func (c *compiler) record(r *ir.Record) *ir.Record {
	if r == nil || c.records[r] != nil {
		return c.records[r]
	}
	fields := append([]ir.Field(nil), r.Fields...)
	same := true
	for i := range fields {
		inner := c.record(fields[i].Elem.Record)
		same = same && inner == fields[i].Elem.Record
		fields[i].Elem.Record = inner
	}
	name := r.Name
	if name == "" {
		name = "record"
	}
	unique := name
	for i := 2; ; i++ {
		other := c.recordNamed(unique)
		if other == nil {
			break
		}
		if reflect.DeepEqual(other.Fields, fields) {
			c.records[r] = other
			return other
		}
		unique = fmt.Sprintf("%s_%d", name, i)
	}
	out := r
	if !same || unique != r.Name {
		out = ir.NewRecord(unique, fields)
	}
	c.records[r] = out
	c.module.Records = append(c.module.Records, out)
	return out
}

func (c *compiler) recordNamed(name string) *ir.Record {
	for _, r := range c.module.Records {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// finish removes the unused arrays of the last walk, other than buffers, and canonicalizes NaNs. It verifies the module and
// returns the compiled kernel.
func (c *compiler) finish() (*Compiled, error) {
	used := map[*ir.Array]bool{}
	c.k.Body.Walk(func(in *ir.Instr) { used[in.Array] = true })
	arrays := c.k.Arrays[:0]
	for _, a := range c.k.Arrays {
		if a.Space == ir.Global || used[a] {
			a.ID = len(arrays)
			arrays = append(arrays, a)
		}
	}
	c.k.Arrays = arrays
	opt.CanonicalizeNaNs(c.k)
	if err := c.verify(); err != nil {
		return nil, err
	}
	out := &Compiled{Module: c.module, Kernel: c.k, Warnings: c.warnings.Sort(), Marks: c.marks, Inlined: c.inlined, places: c.places}
	for _, p := range c.params {
		info := Param{Name: p.name.Name, Reason: p.reason, decl: c.f.fn.Source.At(p.name.Pos)}
		if p.inferred {
			info.signature = c.signatureWith(p)
			info.asReal, info.asInt = p.asReal, p.asInt
		}
		if p.arg.Kind == Buffer {
			info.Elem, info.Rank = p.arg.Elem, p.arg.Rank
		} else {
			info.Type = p.typ
			if p.arg.Kind == Scalar {
				info.Type = p.arg.Type
			}
		}
		out.Params = append(out.Params, info)
	}
	return out, nil
}
