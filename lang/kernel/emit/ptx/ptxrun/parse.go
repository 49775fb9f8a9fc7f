package ptxrun

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unsafe"
)

// Module is a parsed text.
type Module struct {
	kernels []*Kernel
	globals map[string]uint64 // addresses of variables
	memory  []segment         // memory of variables
	files   []string          // names of source files
}

// segment is a range of memory at an address.
type segment struct {
	address uint64
	data    []uint64 // owns the memory
	size    uint64
}

// Kernel is an entry of a module.
type Kernel struct {
	Name      string
	Params    []Param
	ParamSize int // bytes of the argument block
	MaxGroup  int // maximum number of items per group; 0 if the text has no limit

	module   *Module
	code     []instr
	initial  []uint64       // initial register contents of an item
	shared   int            // bytes of shared memory
	local    int            // bytes of an item's local memory
	sharedAt map[string]int // offsets of shared arrays
	localAt  map[string]int // offsets of local arrays
	places   []Place        // source position of each instruction
	readOnly bool           // the kernel contains ld.global.nc
}

// Place is a source position.
type Place struct {
	File         string
	Line, Column int
}

// Param is a parameter of an entry.
type Param struct {
	Name         string
	Offset, Size int // byte offset and size in the argument block
}

// kind is a type of registers and instructions. Its class is b, s, u, f, or p for predicates.
type kind struct {
	class byte
	size  int
}

var kinds = func() map[string]kind {
	m := map[string]kind{"pred": {'p', 1}, "f32": {'f', 4}, "f64": {'f', 8}}
	for _, class := range "bsu" {
		for _, size := range []int{1, 2, 4, 8} {
			m[fmt.Sprintf("%c%d", class, 8*size)] = kind{byte(class), size}
		}
	}
	return m
}()

// holds reports whether a register of type r is valid for an instruction of type t. If wider is set, as for loads, stores and
// conversions, the register of an integer may be wider.
func (r kind) holds(t kind, wider bool) bool {
	if t.class == 'p' || r.class == 'p' {
		return t.class == r.class
	}
	if wider && t.class != 'f' && r.class != 'f' && r.size > t.size {
		return true
	}
	return r.size == t.size && (r.class == t.class || r.class == 'b' || t.class == 'b' || r.class != 'f' && t.class != 'f')
}

// register is a declared register.
type register struct {
	number int
	kind   kind
}

// parser parses one kernel.
type parser struct {
	k         *Kernel
	registers map[string]register
	constants map[uint64]int // registers that hold constants
	labels    map[string]int
	jumps     map[int]string // labels by jump instruction
	place     Place          // source position of the next instructions
}

var (
	entryLine  = regexp.MustCompile(`^\.visible \.entry (\w+)\($`)
	paramLine  = regexp.MustCompile(`^\.param \.(\w+) (\w+),?$`)
	globalLine = regexp.MustCompile(`^\.global \.align 8 \.b8 (\w+)\[(\d+)\] = \{([\d, ]*)\};$`)
	arrayLine  = regexp.MustCompile(`^\.(shared|local) \.align 8 \.b8 (\w+)\[(\d+)\];$`)
	fileLine   = regexp.MustCompile(`^\.file (\d+) "([^"\\]+)"$`)
	placeLine  = regexp.MustCompile(`^\.loc (\d+) (\d+) (\d+)(?: //.*)?$`)
	regLine    = regexp.MustCompile(`^\.reg \.(\w+) (%\w+);$`)
	labelLine  = regexp.MustCompile(`^(\w+):$`)
	codeLine   = regexp.MustCompile(`^(?:@(!?)(%\w+) )?([\w.]+)(?: (.*))?;$`)
)

// Parse parses a PTX text. An error in a line contains the line number.
func Parse(text string) (*Module, error) {
	m := &Module{globals: map[string]uint64{}}
	var p *parser
	parameters := false // inside the parameters of an entry
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		var err error
		switch {
		case line == "" || strings.HasPrefix(line, "//") || strings.HasPrefix(line, ".version ") || strings.HasPrefix(line, ".target ") || line == ".address_size 64":
		case strings.HasPrefix(line, ".file "):
			err = m.file(line)
		case parameters:
			if line == ")" {
				parameters = false
			} else {
				err = p.param(line)
			}
		case p == nil:
			if match := entryLine.FindStringSubmatch(line); match != nil {
				p, parameters = newParser(m, match[1]), true
			} else {
				err = m.global(line)
			}
		case line == ".minnctapersm 2": // changes no result
		case strings.HasPrefix(line, ".maxntid "):
			_, err = fmt.Sscanf(line, ".maxntid %d, 1, 1", &p.k.MaxGroup)
		case line == "{":
		case line == "}":
			if err = p.finish(); err == nil {
				m.kernels = append(m.kernels, p.k)
			}
			p = nil
		default:
			err = p.line(line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d, %q: %w", n+1, line, err)
		}
	}
	if p != nil {
		return nil, errors.New("the last kernel has no end")
	}
	return m, nil
}

// Kernel returns the kernel with a name, or nil.
func (m *Module) Kernel(name string) *Kernel {
	for _, k := range m.kernels {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Kernels returns all kernels in source order.
func (m *Module) Kernels() []*Kernel { return m.kernels }

// file parses a .file directive. Files have consecutive numbers.
func (m *Module) file(line string) error {
	match := fileLine.FindStringSubmatch(line)
	if match == nil || match[1] != strconv.Itoa(len(m.files)+1) {
		return errors.New("unknown declaration of a file")
	}
	m.files = append(m.files, match[2])
	return nil
}

// locate parses a .loc directive, the source position of the next instructions.
func (p *parser) locate(match []string) error {
	file, _ := strconv.Atoi(match[1])
	if file < 1 || file > len(p.k.module.files) {
		return fmt.Errorf("file %d is missing", file)
	}
	p.place.File = p.k.module.files[file-1]
	p.place.Line, _ = strconv.Atoi(match[2])
	p.place.Column, _ = strconv.Atoi(match[3])
	return nil
}

// Places returns the source positions of a kernel's instructions, in text order.
func (k *Kernel) Places() []Place { return k.places }

func (m *Module) global(line string) error {
	match := globalLine.FindStringSubmatch(line)
	if match == nil {
		return errors.New("unknown declaration")
	}
	size, _ := strconv.Atoi(match[2])
	data := make([]uint64, size/8+1)
	for i, text := range strings.Split(match[3], ", ") {
		b, err := strconv.ParseUint(text, 10, 8)
		if err != nil || i >= size {
			return fmt.Errorf("byte %d is wrong", i)
		}
		data[i/8] |= b << (8 * (i % 8))
	}
	at := uint64(uintptr(unsafe.Pointer(&data[0])))
	m.globals[match[1]] = at
	m.memory = append(m.memory, segment{at, data, uint64(size)})
	return nil
}

// special lists the predefined registers of every item. They are its first registers, in this order.
var special = []string{"%tid.x", "%tid.y", "%tid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid"}

func newParser(m *Module, name string) *parser {
	p := &parser{k: &Kernel{Name: name, module: m, sharedAt: map[string]int{}, localAt: map[string]int{}}, registers: map[string]register{},
		constants: map[uint64]int{}, labels: map[string]int{}, jumps: map[int]string{}}
	for i, name := range special {
		p.registers[name] = register{i, kind{'u', 4}}
	}
	p.k.initial = make([]uint64, len(special))
	return p
}

func (p *parser) param(line string) error {
	match := paramLine.FindStringSubmatch(line)
	if match == nil || kinds[match[1]].size == 0 {
		return errors.New("unknown parameter")
	}
	size := kinds[match[1]].size
	at := (p.k.ParamSize + size - 1) / size * size
	p.k.Params = append(p.k.Params, Param{match[2], at, size})
	p.k.ParamSize = at + size
	return nil
}

func (p *parser) line(line string) error {
	if match := regLine.FindStringSubmatch(line); match != nil {
		t, ok := kinds[match[1]]
		if _, twice := p.registers[match[2]]; twice || !ok {
			return errors.New("a register of an unknown type, or declared twice")
		}
		p.registers[match[2]] = register{len(p.k.initial), t}
		bits := uint64(0xa5c3_96e1_5a3c_691e) // not zero, to expose reads of unwritten registers
		switch t.size {
		case 1:
			bits = 1
		case 4:
			bits = uint64(uint32(bits))
		}
		p.k.initial = append(p.k.initial, bits)
		return nil
	}
	if match := arrayLine.FindStringSubmatch(line); match != nil {
		size, _ := strconv.Atoi(match[3])
		if match[1] == "shared" {
			p.k.sharedAt[match[2]] = p.k.shared
			p.k.shared += (size + 7) / 8 * 8
		} else {
			p.k.localAt[match[2]] = p.k.local
			p.k.local += (size + 7) / 8 * 8
		}
		return nil
	}
	if match := labelLine.FindStringSubmatch(line); match != nil {
		if _, twice := p.labels[match[1]]; twice {
			return errors.New("the label is there twice")
		}
		p.labels[match[1]] = len(p.k.code)
		return nil
	}
	if match := placeLine.FindStringSubmatch(line); match != nil {
		return p.locate(match)
	}
	match := codeLine.FindStringSubmatch(line)
	if match == nil {
		return errors.New("unknown syntax")
	}
	in := instr{text: line, guard: -1}
	if match[2] != "" {
		g, ok := p.registers[match[2]]
		if !ok || g.kind.class != 'p' {
			return fmt.Errorf("%s is no predicate", match[2])
		}
		in.guard, in.unless = g.number, match[1] == "!"
	}
	var operands []string
	if match[4] != "" {
		operands = strings.Split(match[4], ", ")
	}
	if err := p.decode(&in, match[3], operands); err != nil {
		return err
	}
	p.k.code, p.k.places = append(p.k.code, in), append(p.k.places, p.place)
	return nil
}

// finish resolves labels and appends the end of the kernel.
func (p *parser) finish() error {
	for at, name := range p.jumps {
		to, ok := p.labels[name]
		if !ok {
			return fmt.Errorf("label %s is missing", name)
		}
		p.k.code[at].target = to
	}
	p.k.code = append(p.k.code, instr{text: "the end", guard: -1, class: ends})
	return nil
}

// write returns the register of a result operand.
func (p *parser) write(operand string, t kind, wider bool) (int, error) {
	r, ok := p.registers[operand]
	switch {
	case !ok || r.number < len(special):
		return 0, fmt.Errorf("%s is no register", operand)
	case !r.kind.holds(t, wider):
		return 0, fmt.Errorf("%s has another type than the instruction", operand)
	}
	return r.number, nil
}

// read returns the register of an operand, which may be a constant.
func (p *parser) read(operand string, t kind, wider bool) (int, error) {
	if r, ok := p.registers[operand]; ok {
		if !r.kind.holds(t, wider) {
			return 0, fmt.Errorf("%s has another type than the instruction", operand)
		}
		return r.number, nil
	}
	var bits uint64
	var err error
	switch {
	case strings.HasPrefix(operand, "0f") && len(operand) == 10 && t.class != 's' && t.class != 'u' && t.size == 4,
		strings.HasPrefix(operand, "0d") && len(operand) == 18 && t.class != 's' && t.class != 'u' && t.size == 8:
		bits, err = strconv.ParseUint(operand[2:], 16, 64)
	case t.class == 'f' || t.class == 'p':
		err = errors.New("no number of the type")
	default:
		var n int64
		if n, err = strconv.ParseInt(operand, 0, 64); err == nil {
			bits = uint64(n)
		} else {
			bits, err = strconv.ParseUint(operand, 0, 64)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("operand %s: %w", operand, err)
	}
	return p.constant(low(bits, t.size)), nil
}

// constant returns the register that holds a constant.
func (p *parser) constant(bits uint64) int {
	n, ok := p.constants[bits]
	if !ok {
		n = len(p.k.initial)
		p.constants[bits] = n
		p.k.initial = append(p.k.initial, bits)
	}
	return n
}

var addressOperand = regexp.MustCompile(`^\[([%\w]+)(?:\+(\d+))?\]$`)

// address returns the register and the offset of a memory address.
func (p *parser) address(operand string) (r int, offset uint64, err error) {
	match := addressOperand.FindStringSubmatch(operand)
	if match == nil {
		return 0, 0, fmt.Errorf("%s is no address", operand)
	}
	if match[2] != "" {
		if offset, err = strconv.ParseUint(match[2], 10, 31); err != nil {
			return 0, 0, err
		}
	}
	r, err = p.read(match[1], kind{'u', 8}, false)
	return r, offset, err
}
