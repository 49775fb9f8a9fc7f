package syntax

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/diag"
)

// scope holds the names declared in a block.
type scope struct {
	outer *scope
	fn    *Func
	names map[string]*Decl
}

func (p *parse) push() { p.scope = &scope{outer: p.scope, fn: p.fn} }
func (p *parse) pop()  { p.scope = p.scope.outer }

// declare adds a name to the innermost scope. It records an error if the scope has the name.
func (p *parse) declare(name string, kind DeclKind, at Span) *Decl {
	d := &Decl{Name: name, Kind: kind, Span: at, Func: p.fn, Index: len(p.fn.Decls), level: len(p.sets)}
	p.fn.Decls = append(p.fn.Decls, d)
	if p.scope.names == nil {
		p.scope.names = map[string]*Decl{}
	}
	if old := p.scope.names[name]; old != nil {
		p.errorf(at, diag.DuplicateName, "give one of them another name", "%s is declared twice", name)
	}
	p.scope.names[name] = d
	return d
}

func (p *parse) lookup(name string) *Decl {
	for s := p.scope; s != nil; s = s.outer {
		if d := s.names[name]; d != nil {
			return d
		}
	}
	return nil
}

// openSet holds the variables that a construct assigns, as far as the construct has been parsed.
type openSet struct {
	list  Sets
	level int // number of enclosing open sets
	fn    *Func
}

// pendingCall is a use of a function inside constructs, such as loops, whose assigned variables are being collected. The variables
// that the function assigns are known only after parsing. settleCalls then adds them to the sets of the constructs.
type pendingCall struct {
	decl *Decl // declaration of the function, if its body is not yet parsed
	fn   *Func
	into []*openSet
}

// collect runs body and stores in *into the variables, declared outside, that it assigns directly. settleCalls adds those that
// its calls assign.
func (p *parse) collect(into *Sets, body func()) {
	s := &openSet{level: len(p.sets), fn: p.fn}
	p.sets = append(p.sets, s)
	body()
	p.sets = p.sets[:len(p.sets)-1]
	*into = s.list
	p.finish(s, into)
}

// finish registers s, so that pending calls update *into.
func (p *parse) finish(s *openSet, into *Sets) { p.settled = append(p.settled, settledSet{s, into}) }

type settledSet struct {
	set  *openSet
	into *Sets
}

// assigned records an assignment to d in the sets that were opened after the declaration of d. Sets of outer functions are left out.
func (p *parse) assigned(d *Decl) {
	d.Assigned = true
	for i := len(p.sets) - 1; i >= d.level; i-- {
		p.sets[i].add(d)
		if p.sets[i].fn != p.fn {
			break // calls of this function determine the assignments of outer constructs
		}
	}
}

// add adds a declaration. It returns false if the set has it already, or was opened before the declaration.
func (s *openSet) add(d *Decl) bool {
	if s.level < d.level || slices.Contains(s.list, d) {
		return false
	}
	s.list = append(s.list, d)
	return true
}

// uses records a use of a function: fn, or the function named by decl.
func (p *parse) uses(decl *Decl, fn *Func) {
	var into []*openSet
	for i := len(p.sets) - 1; i >= 0; i-- {
		into = append(into, p.sets[i])
		if p.sets[i].fn != p.fn {
			break
		}
	}
	p.calls = append(p.calls, pendingCall{decl, fn, into})
}

// settleCalls adds the variables that a used function assigns to the sets of the constructs around the use.
func (p *parse) settleCalls() {
	for changed := true; changed; {
		changed = false
		for _, c := range p.calls {
			if c.fn == nil {
				c.fn = c.decl.Fn
			}
			if c.fn == nil {
				continue
			}
			for _, d := range c.fn.Sets {
				for _, s := range c.into {
					changed = s.add(d) || changed
				}
			}
		}
		for _, s := range p.settled {
			*s.into = s.set.list
		}
	}
}
