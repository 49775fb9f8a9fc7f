package ir

// define creates the value named by the current token.
func (p *parser) define(def *Instr) *Value {
	if p.tok.kind != tokValue {
		p.failHere("expected a value, found %v", p.tok)
	}
	id := p.tok.id
	if p.values[id] != nil {
		p.failHere("the number %d is already that of %v", id, p.values[id])
	}
	v := &Value{ID: id, Name: p.tok.text, Def: def}
	p.values[id] = v
	p.k.numValues = max(p.k.numValues, id+1)
	p.advance()
	return v
}

// use returns the value named by the current token.
func (p *parser) use() *Value {
	if p.tok.kind != tokValue {
		p.failHere("expected a value, found %v", p.tok)
	}
	v := p.values[p.tok.id]
	if v == nil || v.Name != p.tok.text {
		p.failHere("there is no value %v", p.tok)
	}
	p.advance()
	return v
}

func (p *parser) uses(in *Instr) {
	if p.tok.kind != tokValue {
		return
	}
	for {
		in.Args = append(in.Args, p.use())
		if !p.accept(",") {
			return
		}
	}
}

func (p *parser) block(b *Block) {
	if p.depth++; p.depth > MaxDepth+1 {
		p.failHere("blocks nest deeper than %d", MaxDepth)
	}
	p.skipLines()
	for !p.is("}") && p.tok.kind != tokEOF {
		b.Instrs = append(b.Instrs, p.instr())
		p.endLine()
	}
	p.depth--
}

func opByName(name string) (Op, bool) {
	for op, n := range opNames {
		if n == name && Op(op) != Invalid {
			return Op(op), true
		}
	}
	return Invalid, false
}

func (p *parser) instr() *Instr {
	in := &Instr{}
	if p.tok.kind == tokValue {
		for {
			in.Results = append(in.Results, p.result(in))
			if !p.accept(",") {
				break
			}
		}
		p.expect("=")
	}
	op, ok := opByName(p.tok.text)
	if p.tok.kind != tokIdent || !ok {
		p.failHere("expected an operation, found %v", p.tok)
	}
	in.Op = op
	p.advance()
	switch op {
	case Const:
		in.Bits = p.constant(in.Type())
	case Quant:
		p.expect(".")
		in.Elem = p.typ()
		p.uses(in)
	case Math, Call:
		p.expect(".")
		in.Fn = p.name("the function's name")
		p.uses(in)
	case Load, Store:
		p.access(in)
	case Atomic:
		in.Atomic = modifier[AtomicKind](p, atomicNames[:], "an atomic operation")
		p.access(in)
	case Zero:
		in.Array = p.array()
	case Extent:
		p.expect(".")
		in.Axis = p.number("the number of the extent")
		in.Array = p.array()
	case Item:
		in.Item = modifier[ItemKind](p, itemNames[:], "a coordinate")
		if in.Item.HasAxis() {
			in.Axis = modifier[int](p, []string{"x", "y", "z"}, "an axis")
		}
	case Reduce, Scan:
		in.Combine = modifier[Combine](p, combineNames[:], "a combining operation")
		if p.accept(".") {
			p.word("exclusive")
			in.Exclusive = true
		}
		p.uses(in)
	case Subgroup:
		in.Subgroup = modifier[SubgroupKind](p, subgroupNames[:], "a subgroup operation")
		p.uses(in)
	case Print:
		p.pieces(in)
	case Assert:
		if p.accept(".") {
			p.word(AssertOverflow.String())
			in.Assert = AssertOverflow
		}
		in.Args = append(in.Args, p.use())
		p.expect(",")
		p.pieces(in)
	case Fence:
		in.Order = modifier[FenceOrder](p, fenceOrders[:], "the order of a fence")
		in.Reach = modifier[FenceReach](p, fenceReaches[:], "the reach of a fence")
	case Lib:
		p.expect(".")
		in.Fn = p.name("the function's name")
		if p.accept("[") {
			for {
				in.Arrays = append(in.Arrays, p.array())
				if !p.accept(",") {
					break
				}
			}
			p.expect("]")
		}
		p.uses(in)
	case Region, If, Loop:
		p.structured(in)
		return in
	case Break, Continue:
		in.Target = p.target()
		p.uses(in)
	default:
		p.uses(in)
	}
	p.site(in)
	return in
}

func (p *parser) result(in *Instr) *Value {
	v := p.define(in)
	p.expect(":")
	v.Type = p.typ()
	return v
}

// modifier parses a dot and one of the names, and returns its index.
func modifier[T ~uint8 | ~int](p *parser, names []string, what string) T {
	p.expect(".")
	for i, n := range names {
		if p.isWord(n) {
			p.advance()
			return T(i)
		}
	}
	p.failHere("expected %s, found %v", what, p.tok)
	return 0
}

func (p *parser) array() *Array {
	at := p.tok.pos
	name := p.name("an array")
	a := p.arrays[name]
	if a == nil {
		p.fail(at, "there is no array %s", quoteName(name))
	}
	return a
}

// access parses an array, the path into it, and the remaining operands.
func (p *parser) access(in *Instr) {
	in.Array = p.array()
	elem := in.Array.Elem
	for {
		switch {
		case p.accept("["):
			s := Step{Kind: StepIndex}
			if p.isWord("flat") {
				p.advance()
				s.Kind = StepFlat
			}
			in.Args = append(in.Args, p.use())
			in.Path = append(in.Path, s)
			p.expect("]")
		case p.accept("."):
			at := p.tok.pos
			name := p.name("a field's name")
			field := -1
			if elem.Record != nil {
				field = elem.Record.Field(name)
			}
			if field < 0 {
				p.fail(at, "%s has no field %s", elem, quoteName(name))
			}
			elem = elem.Record.Fields[field].Elem
			in.Path = append(in.Path, Step{Kind: StepField, Field: field})
		default:
			if p.accept(",") {
				p.uses(in)
			}
			return
		}
	}
}

// pieces parses the strings of a message with the values between them.
func (p *parser) pieces(in *Instr) {
	in.Text = append(in.Text, p.quotedString("a piece of the message"))
	for p.tok.kind == tokValue {
		in.Args = append(in.Args, p.use())
		in.Text = append(in.Text, p.quotedString("a piece of the message"))
	}
}

func (p *parser) label() int {
	p.expect("@")
	return p.number("the number of a label")
}

func (p *parser) target() *Instr {
	at := p.tok.pos
	n := p.label()
	in := p.labels[n]
	if in == nil {
		p.fail(at, "there is no label @%d around this", n)
	}
	return in
}

func (p *parser) structured(in *Instr) {
	in.Then = &Block{}
	label := 0
	if in.Op == Region && p.accept(".") {
		in.Fn = p.name("the extension's name")
	}
	if in.Op != If {
		at := p.tok.pos
		if label = p.label(); p.labels[label] != nil {
			p.fail(at, "label @%d is already used", label)
		}
	}
	switch in.Op {
	case If, Region:
		p.uses(in)
	case Loop:
		p.expect("(")
		for !p.is(")") {
			v := p.result(nil)
			p.expect("=")
			in.Args = append(in.Args, p.use())
			in.Then.Params = append(in.Then.Params, v)
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
	}
	p.site(in)
	p.expect("{")
	if in.Op != If {
		p.labels[label] = in
	}
	p.block(in.Then)
	p.expect("}")
	if in.Op == If {
		in.Else = &Block{}
		if p.isWord("else") {
			p.advance()
			p.expect("{")
			p.block(in.Else)
			p.expect("}")
		} else {
			in.Else.Instrs = []*Instr{{Op: Yield}}
		}
	}
	if in.Op != If {
		delete(p.labels, label)
	}
}

func (p *parser) site(in *Instr) {
	if p.accept("!") {
		in.Site = p.number("the number of a site")
	}
}
