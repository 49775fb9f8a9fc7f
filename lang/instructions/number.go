package instructions

import (
	"math"
	"math/big"
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
)

// A machine is the interpreter's virtual machine.
type machine struct{}

func (m *machine) stack() []goja.Value {
	return *(*[]goja.Value)(unsafe.Add(unsafe.Pointer(m), the.stack))
}
func (m *machine) top() *int  { return (*int)(unsafe.Add(unsafe.Pointer(m), the.top)) }
func (m *machine) next() *int { return (*int)(unsafe.Add(unsafe.Pointer(m), the.next)) }

// slot returns a value of the stack; 1 is the top.
func (m *machine) slot(n int) *goja.Value { return &m.stack()[*m.top()-n] }

// wide is the magnitude from which on the interpreter does not convert numbers to integers as ECMAScript defines.
const wide = 1 << 63

func isInteger(v *goja.Value) bool { return (*words)(unsafe.Pointer(v)).table == the.integer }

// isNarrow reports whether a value is a number that the interpreter converts to integers as it must.
func isNarrow(v *goja.Value) bool {
	w := (*words)(unsafe.Pointer(v))
	return w.table == the.integer || w.table == the.float && !(math.Abs(*(*float64)(w.data)) >= wide)
}

// numeric converts value n of the stack, counted from 1 at the top, like ToNumeric.
func (m *machine) numeric(n int) {
	switch wordsOf(*m.slot(n)).table {
	case the.integer, the.float, the.bigInt:
		return
	}
	m.swap(n)
	the.numeric.run(m)
	*m.next()-- // it counts as an instruction
	m.swap(n)
}

func (m *machine) swap(n int) {
	s, top := m.stack(), *m.top()
	s[top-1], s[top-n] = s[top-n], s[top-1]
}

// reduce replaces value n of the stack, if it is a wide number, by one with the same lowest 32 bits.
func (m *machine) reduce(n int) {
	v := m.slot(n)
	if w := wordsOf(*v); w.table == the.float {
		if f := *(*float64)(w.data); math.Abs(f) >= wide && !math.IsInf(f, 0) {
			f = math.Mod(f, 1<<32)
			*v = number(f)
		}
	}
}

// integers returns the operands if both have the interpreter's type of integers.
func (m *machine) integers() (x, y int64, ok bool) {
	s, top := m.stack(), *m.top()
	a, b := wordsOf(s[top-2]), wordsOf(s[top-1])
	if a.table != the.integer || b.table != the.integer {
		return 0, 0, false
	}
	return *(*int64)(a.data), *(*int64)(b.data), true
}

// numbers returns the operands if both are numbers.
func (m *machine) numbers() (x, y float64, ok bool) {
	s, top := m.stack(), *m.top()
	x, first := float(&s[top-2])
	y, second := float(&s[top-1])
	return x, y, first && second
}

func float(v *goja.Value) (float64, bool) {
	switch w := (*words)(unsafe.Pointer(v)); w.table {
	case the.float:
		return *(*float64)(w.data), true
	case the.integer:
		return float64(*(*int64)(w.data)), true
	}
	return 0, false
}

// result replaces the two operands of an instruction by v, and goes on to the next instruction.
func (m *machine) result(v goja.Value) {
	*m.slot(2) = v
	*m.top()--
	*m.next()++
}

// maxInt is the greatest magnitude of the interpreter's integers.
const maxInt = 1 << 53

// small are integers that need no memory of their own.
var small = func() (list [512]int64) {
	for i := range list {
		list[i] = int64(i) - 256
	}
	return list
}()

// integer returns an integer of a magnitude of at most maxInt.
func integer(i int64) (v goja.Value) {
	var p *int64
	if -256 <= i && i < 256 {
		p = &small[i+256]
	} else {
		p = new(int64)
		*p = i
	}
	*(*words)(unsafe.Pointer(&v)) = words{the.integer, unsafe.Pointer(p)}
	return v
}

// number returns f with the type of the interpreter's numbers that are no integers, even if f is an integer.
func number(f float64) (v goja.Value) {
	*(*words)(unsafe.Pointer(&v)) = words{the.float, unsafe.Pointer(&f)}
	return v
}

// product multiplies. The interpreter's product of the integers 0 and -2 is 0 instead of -0.
func product(r *replacement, m *machine) {
	for range 2 {
		if x, y, ok := m.integers(); ok {
			p := x * y
			switch {
			case p == 0 && (x == 0 || y == 0):
				if x|y < 0 {
					m.result(the.negativeZero)
				} else {
					m.result(integer(0))
				}
				return
			case x == int64(int32(x)) && y == int64(int32(y)) && -maxInt <= p && p <= maxInt:
				m.result(integer(p))
				return
			}
			break
		}
		if x, y, ok := m.numbers(); ok {
			if p := x * y; p != math.Trunc(p) && p == p {
				m.result(number(p))
				return
			}
			break
		}
		m.numeric(2)
		m.numeric(1)
	}
	r.run(m)
}

func and(r *replacement, m *machine) {
	if x, y, ok := m.integers(); ok {
		m.result(integer(int64(int32(x) & int32(y))))
		return
	}
	m.bits(r)
}

func or(r *replacement, m *machine) {
	if x, y, ok := m.integers(); ok {
		m.result(integer(int64(int32(x) | int32(y))))
		return
	}
	m.bits(r)
}

func xor(r *replacement, m *machine) {
	if x, y, ok := m.integers(); ok {
		m.result(integer(int64(int32(x) ^ int32(y))))
		return
	}
	m.bits(r)
}

func shiftLeft(r *replacement, m *machine) {
	if x, y, ok := m.integers(); ok {
		m.result(integer(int64(int32(x) << (uint32(y) & 31))))
		return
	}
	m.convert()
	m.shift(-1)
	r.run(m)
}

func shiftRight(r *replacement, m *machine) {
	if x, y, ok := m.integers(); ok {
		m.result(integer(int64(int32(x) >> (uint32(y) & 31))))
		return
	}
	m.convert()
	m.shift(1)
	r.run(m)
}

// shift prepares a shift of two BigInts, whose distance the interpreter takes modulo 2^64. sign is the sign that a distance to
// the right has in the instruction. It asks the watcher before a shift to the left by more than Large bits.
func (m *machine) shift(sign int) {
	a, b := wordsOf(*m.slot(2)), wordsOf(*m.slot(1))
	if a.table != the.bigInt || b.table != the.bigInt {
		return
	}
	x, y := (*big.Int)(a.data), (*big.Int)(b.data)
	if y.Sign() == sign || x.Sign() == 0 {
		if most := int64(x.BitLen()) + 1; y.CmpAbs(big.NewInt(most)) > 0 {
			*(*words)(unsafe.Pointer(m.slot(1))) = words{the.bigInt, unsafe.Pointer(big.NewInt(most * int64(sign)))}
		}
		return
	}
	if bits := new(big.Int).Abs(y); bits.Cmp(big.NewInt(Large)) > 0 {
		if w := m.watcher(); w != nil && w.Shift != nil {
			w.Shift(bits.Add(bits, big.NewInt(int64(x.BitLen()))))
		}
	}
}

func shiftUnsigned(r *replacement, m *machine) {
	if x, y, ok := m.integers(); ok {
		m.result(integer(int64(uint32(x) >> (uint32(y) & 31))))
		return
	}
	m.bits(r)
}

// bits executes an operation on the bits of two values that are not both integers.
func (m *machine) bits(r *replacement) {
	m.convert()
	r.run(m)
}

// convert converts the operands to BigInts and to numbers that the interpreter converts to integers as it must.
func (m *machine) convert() {
	if !isNarrow(m.slot(2)) || !isNarrow(m.slot(1)) {
		m.numeric(2)
		m.numeric(1)
		m.reduce(2)
		m.reduce(1)
	}
}

// not computes the bitwise complement of a number or a BigInt.
func not(r *replacement, m *machine) {
	if !isNarrow(m.slot(1)) {
		m.numeric(1)
		m.reduce(1)
	}
	r.run(m)
}

// store stores an element and keeps the value on the stack. For an array of integers, it first reduces the value to be stored
// as the conversion would.
func store(r *replacement, m *machine) {
	value := *m.slot(1)
	if !isNarrow(&value) && integers(wordsOf(*m.slot(3))) && isIndex(*m.slot(2)) {
		m.numeric(1)
		m.reduce(1)
		r.run(m)
		*m.slot(1) = value
		return
	}
	r.run(m)
}

// storeOnly is like store, but keeps no value.
func storeOnly(r *replacement, m *machine) {
	if value := m.slot(1); !isNarrow(value) && integers(wordsOf(*m.slot(3))) && isIndex(*m.slot(2)) {
		m.numeric(1)
		m.reduce(1)
	}
	r.run(m)
}

// assign assigns to a reference, such as one of a pattern, and keeps the value on the stack. It reduces the value to be stored
// like store.
func assign(r *replacement, m *machine) {
	value := *m.slot(1)
	if !isNarrow(&value) && m.refersToIntegers() {
		m.numeric(1)
		m.reduce(1)
		r.run(m)
		*m.slot(1) = value
		return
	}
	r.run(m)
}

// assignOnly is like assign, but keeps no value.
func assignOnly(r *replacement, m *machine) {
	if !isNarrow(m.slot(1)) && m.refersToIntegers() {
		m.numeric(1)
		m.reduce(1)
	}
	r.run(m)
}

// refersToIntegers reports whether the last reference is an element of an integer array.
func (m *machine) refersToIntegers() bool {
	list := reflect.NewAt(the.machine, unsafe.Pointer(m)).Elem().FieldByName("refStack")
	ref := list.Index(list.Len() - 1).Elem()
	if ref.Kind() != reflect.Pointer || ref.Type().Elem().Name() != "objRef" {
		return false
	}
	base, name := ref.Elem().FieldByName("base"), ref.Elem().FieldByName("name")
	return base.IsValid() && name.IsValid() && base.Type() == reflect.TypeFor[*goja.Object]() && name.Type() == reflect.TypeFor[goja.Value]() &&
		integers(words{the.object, base.UnsafePointer()}) && isIndex(*(*goja.Value)(unsafe.Pointer(name.UnsafeAddr())))
}

func selfOf(object words) words { return *(*words)(unsafe.Add(object.data, the.self)) }

// integers reports whether a value is a typed array of integers that keeps their lowest bits.
func integers(v words) bool {
	if v.table != the.object || v.data == nil {
		return false
	}
	self := selfOf(v)
	if self.table != the.typedArray {
		return false
	}
	return the.integers[(*words)(unsafe.Add(self.data, the.elements)).table]
}

// isIndex reports whether a key can name an element.
func isIndex(key goja.Value) bool {
	if isInteger(&key) {
		return true
	}
	s, ok := key.(goja.String)
	if !ok || s.Length() == 0 || s.Length() > 15 || s.CharAt(0) == '0' && s.Length() > 1 {
		return false
	}
	for i := range s.Length() {
		if c := s.CharAt(i); c < '0' || c > '9' {
			return false
		}
	}
	return true
}
