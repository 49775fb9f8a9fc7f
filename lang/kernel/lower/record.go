package lower

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// Offsets in the buffer of records, in words. Before a launch the host sets CapacityWord and clears the other words before
// [Kernel.PrintStart].
const (
	StopWord     = 0 // nonzero: the host requests the end of the launch
	FaultWord    = 1 // 0, or 1 + the index of the fault's message
	CursorWord   = 2 // words requested for prints
	CapacityWord = 3 // words available for prints, set by the host
	LostWord     = 4 // number of prints without space
	FaultStart   = 8 // item coordinates and operands of the fault
)

// Message describes a kind of record: a print, a call of a service, or a fault of an instruction.
type Message struct {
	Site  int
	Kind  string // name of the [interp.FaultKind]; "" for a print or a call
	Array *ir.Array
	Axis  int       // position in the access of the index that is out of bounds, from 0
	Text  []string  // text between the operands
	Types []ir.Type // types of the operands

	Service string  // name of the called service
	Result  ir.Type // result type of the call
}

// Words returns the length of the record in words: the message index, the item's coordinates, and the operands.
func (m *Message) Words() int {
	n := 4
	for _, t := range m.Types {
		n += max(t.Size(), 4) / 4
	}
	return n
}

// faultOf returns the name of the fault of an instruction.
func faultOf(in *ir.Instr) string {
	switch in.Op {
	case ir.Div, ir.Rem:
		return interp.DivisionByZero.String()
	case ir.Uniform:
		return interp.DivergentUniform.String()
	case ir.Assert:
		return interp.OfAssert(in).String()
	}
	return interp.OutOfBounds.String()
}

// word returns the byte offset of a word of the records.
func (l *lowering) word(n int) *ir.Value { return l.int(ir.I64, int64(4*n)) }

// message adds a message for operands and returns its index.
func (l *lowering) message(m Message, operands []*ir.Value) int {
	m.Site = l.Site
	m.Types = typesOf(operands)
	l.out.Messages = append(l.out.Messages, m)
	return len(l.out.Messages) - 1
}

// words returns the words of a record after the message index: the coordinates of the item and the operands.
func (l *lowering) words(operands []*ir.Value) (out []*ir.Value) {
	for _, v := range l.global {
		out = append(out, l.wrap(ir.U32, v))
	}
	for _, v := range operands {
		b := bitsType(v.Type)
		switch {
		case v.Type == ir.Bool:
			v = l.wrap(b, v)
		default:
			v = l.cast(b, v)
		}
		if b == ir.U64 {
			out = append(out, l.wrap(ir.U32, v))
			v = l.wrap(ir.U32, l.shr(v, 32))
		}
		out = append(out, v)
	}
	return out
}

// recordFault emits the record of a fault, which is kept if it is the launch's first.
func (l *lowering) recordFault(m Message, operands ...*ir.Value) {
	n := l.message(m, operands)
	old := l.atomic(ir.AtomicCompareExchange, ir.U32, l.out.Records, l.word(FaultWord), l.zero(ir.U32), l.konst(ir.U32, uint64(n+1)))
	l.when(l.eq(old, l.zero(ir.U32)), func() {
		for i, w := range l.words(operands) {
			l.store(ir.U32, l.out.Records, l.word(FaultStart+i), w)
		}
	})
}

// endOfRecords takes the place of a message's index where a record did not fit. Words behind it may be those of an earlier launch.
const endOfRecords = math.MaxUint32

// print emits the record of a Print if there is room, and otherwise counts it as lost. The cursor stays near the capacity, so that
// it cannot wrap.
func (l *lowering) print(in *ir.Instr) {
	args := l.all(in.Args)
	n := l.message(Message{Text: in.Text}, args)
	size := l.konst(ir.U32, uint64(l.out.Messages[n].Words()))
	put := func() {
		capacity := l.atomic(ir.AtomicLoad, ir.U32, l.out.Records, l.word(CapacityWord))
		lost := func() []*ir.Value {
			l.bump(LostWord, l.int(ir.U32, 1))
			return nil
		}
		fits := func(at *ir.Value) *ir.Value { return l.and(l.le(size, capacity), l.le(at, l.sub(capacity, size))) }
		l.choose(fits(l.atomic(ir.AtomicLoad, ir.U32, l.out.Records, l.word(CursorWord))), func() []*ir.Value {
			at := l.bump(CursorWord, size)
			write := func(words ...*ir.Value) {
				start := l.plus(l.convert(ir.I64, at), int64(l.out.PrintStart()))
				for i, w := range words {
					l.store(ir.U32, l.out.Records, l.shl(l.plus(start, int64(i)), 2), w)
				}
			}
			l.choose(fits(at), func() []*ir.Value {
				write(append([]*ir.Value{l.konst(ir.U32, uint64(n))}, l.words(args)...)...)
				return nil
			}, func() []*ir.Value { // another item has taken words since the first look
				l.when(l.lt(at, capacity), func() { write(l.konst(ir.U32, endOfRecords)) })
				return lost()
			})
			return nil
		}, lost)
	}
	if l.meets {
		l.when(l.isAlive(), put)
	} else {
		put()
	}
}

// longestFault returns the length of a kernel's longest fault record in words. It contains a 64-bit index and extent, or an
// assertion's operands.
func longestFault(k *ir.Kernel) int {
	longest := Message{Types: []ir.Type{ir.I64, ir.I64}}
	most := longest.Words()
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Assert {
			m := Message{Types: typesOf(in.Args[1:])}
			most = max(most, m.Words())
		}
	})
	return most
}

// bump emits an atomic addition to a word of the records and returns the old value.
func (l *lowering) bump(word int, by *ir.Value) *ir.Value {
	a := l.out.Records
	if l.target.Has("atomic.add", ir.U32) {
		return l.atomic(ir.AtomicAdd, ir.U32, a, l.word(word), by)
	}
	old := l.atomic(ir.AtomicLoad, ir.U32, a, l.word(word))
	return l.loop([]ir.Type{ir.U32}, []*ir.Value{old}, func(in *ir.Instr, p []*ir.Value) {
		got := l.atomic(ir.AtomicCompareExchange, ir.U32, a, l.word(word), p[0], l.add(p[0], by))
		l.leave(l.eq(got, p[0]), ir.Break, in, got)
		l.jump(ir.Continue, in, got)
	})[0]
}

// PrintStart returns the offset of the print records in words.
func (k *Kernel) PrintStart() int { return k.callStart() + k.callWords() }

// NewRecords returns the words of a launch's records, with printWords words for prints.
func (k *Kernel) NewRecords(printWords int) []uint32 {
	words := make([]uint32, k.PrintStart()+printWords)
	words[CapacityWord] = uint32(min(printWords, math.MaxInt32))
	return words
}

// Record is a print or a fault of an item.
type Record struct {
	*Message
	Item [3]int   // global coordinates of the item
	Text string   // text of a print or an assertion, including the operands
	Bits []uint64 // bits of the operands
}

// Geometry is the partition of a launch into groups.
type Geometry struct{ Size, GroupSize [3]int }

// Read decodes the records of a launch: the fault, if any, the prints in the language's order, and the number of lost prints.
func (k *Kernel) Read(words []uint32, g Geometry) (fault *Record, prints []Record, lost int) {
	if n := words[FaultWord]; n > 0 && int(n) <= len(k.Messages) {
		r := k.record(int(n)-1, words[FaultStart:])
		fault = &r
	}
	end := k.PrintStart() + int(min(words[CursorWord], words[CapacityWord]))
	for at := k.PrintStart(); at < min(end, len(words)); {
		n := words[at]
		if uint64(n) >= uint64(len(k.Messages)) || at+k.Messages[n].Words() > min(end, len(words)) {
			break // endOfRecords, or a damaged record
		}
		prints = append(prints, k.record(int(n), words[at+1:]))
		at += k.Messages[n].Words()
	}
	slices.SortStableFunc(prints, func(a, b Record) int {
		for axis := 2; axis >= 0 && k.observes; axis-- {
			if c := cmp.Compare(a.Item[axis]/g.GroupSize[axis], b.Item[axis]/g.GroupSize[axis]); c != 0 {
				return c
			}
		}
		for axis := 2; axis >= 0; axis-- {
			if c := cmp.Compare(a.Item[axis], b.Item[axis]); c != 0 {
				return c
			}
		}
		return 0
	})
	return fault, prints, int(words[LostWord])
}

// record decodes a record of message n. words begins behind the record's message index.
func (k *Kernel) record(n int, words []uint32) Record {
	m := &k.Messages[n]
	r := Record{Message: m}
	for axis := range r.Item {
		r.Item[axis] = int(int32(words[axis]))
	}
	words = words[3:]
	var text []byte
	for i, t := range m.Types {
		var bits uint64
		bits, words = takeBits(t, words)
		r.Bits = append(r.Bits, bits)
		if i < len(m.Text) {
			text = append(text, m.Text[i]...)
		}
		text = interp.AppendScalar(text, interp.Scalar{Type: t, Bits: bits})
	}
	if len(m.Text) > 0 {
		text = append(text, m.Text[len(m.Text)-1]...)
		r.Text = string(text)
	}
	return r
}

// Index returns the index and the extent of an out-of-bounds access as text. Both are "" for other records.
func (r *Record) Index() (index, extent string) {
	if r.Array == nil || len(r.Bits) < 2 {
		return "", ""
	}
	return strconv.FormatInt(int64(r.Bits[0]), 10), strconv.FormatInt(int64(r.Bits[1]), 10)
}
