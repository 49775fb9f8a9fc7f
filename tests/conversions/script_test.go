package conversions

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// run runs a script in a folder and returns its output.
func run(t *testing.T, dir, script string) string {
	t.Helper()
	var out bytes.Buffer
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	e, err := rt.Engine(orepl.EngineOptions{Policy: lang.AllowAll, Dir: dir, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Run(t.Context(), "conversions.js", head+script); err != nil {
		t.Fatal(diag.Format(err, false))
	}
	return strings.TrimSpace(out.String())
}

// head has functions of the scripts: of(type, bits) makes a typed array, bits(buffer) gives the bits of its elements.
const head = `import fs from 'fs'
import * as offload from 'offload'
const dev = offload.device('cpu')
const classes = { i8: Int8Array, u8: Uint8Array, i16: Int16Array, u16: Uint16Array, i32: Int32Array, u32: Uint32Array, i64: BigInt64Array, u64: BigUint64Array, f32: Float32Array, f64: Float64Array }
const unsigned = { 1: 'u8', 2: 'u16', 4: 'u32', 8: 'u64' }
const of = (type, bits) => {
  const c = classes[type], size = c.BYTES_PER_ELEMENT, raw = new classes[unsigned[size]](bits.map(size === 8 ? BigInt : Number))
  return new c(raw.buffer)
}
const bits = async b => {
  return Array.from(await b.view(0, [b.length], offload[unsigned[b.type.size]]).read(), String)
}
let wrong = 0
const compare = (what, got, want) => {
  for (let i = 0; i < Math.max(got.length, want.length); i++) if (got[i] !== want[i] && wrong++ < 10) console.log(what, i, 'is', got[i], 'want', want[i])
}
`

func texts(list []uint64) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = strconv.FormatUint(b, 10)
	}
	return out
}

func writeJSON(t *testing.T, dir, name string, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// scripted are the element types that scripts have typed arrays of.
var scripted = []ir.Type{ir.I8, ir.U8, ir.I16, ir.U16, ir.I32, ir.U32, ir.I64, ir.U64, ir.F32, ir.F64}

// accepted reports whether a buffer takes a value of a script: integers exactly and within their range, BigInts only where
// elements have 64 bits.
func accepted(from, to ir.Type, x number) bool {
	switch {
	case to == ir.Bool:
		return false
	case is64(from) && !is64(to):
		return false
	case to.IsFloat():
		return true
	case x.r == nil || !x.r.IsInt():
		return false
	}
	least, most := limits(to)
	return x.r.Num().Cmp(least) >= 0 && x.r.Num().Cmp(most) <= 0
}

// TestHost writes elements of each typed array to buffers of each type, and fills buffers and passes arguments with them.
func TestHost(t *testing.T) {
	type job struct {
		From, To     string
		Values, Want []string
		Refused      []string
		Scalar       bool
	}
	dir, rng, n := t.TempDir(), rand.New(rand.NewPCG(11, 12)), 0
	var jobs []job
	for _, from := range scripted {
		for _, to := range elements {
			j := job{From: from.String(), To: to.String(), Scalar: to == ir.F32 || to == ir.F64}
			for range count(85, 1000) {
				b := element(rng, from)
				if x := decode(from, b); accepted(from, to, x) {
					j.Values, j.Want = append(j.Values, strconv.FormatUint(b, 10)), append(j.Want, strconv.FormatUint(stored(to, x), 10))
				} else if len(j.Refused) < 4 && !(from == ir.U8 && to == ir.Bool) {
					j.Refused = append(j.Refused, strconv.FormatUint(b, 10))
				}
				n++
			}
			jobs = append(jobs, j)
		}
	}
	if n < 10000 {
		t.Errorf("only %d conversions", n)
	}
	writeJSON(t, dir, "jobs.json", jobs)
	out := run(t, dir, `
for (const j of fs.readJSONSync('jobs.json')) {
  const type = offload[j.To], what = j.From + ' to ' + j.To, values = j.Values ?? [], want = j.Want ?? []
  const array = of(j.From, values), n = array.length
  if (n > 0) {
    compare(what, await bits(dev.buffer(type, array)), want)
    const b = dev.buffer(type, n)
    b.write(array)
    compare(what + ' by write', await bits(b), want)
    b.fill(type === offload.bool ? true : array[0])
    b.write(Array.from(array))
    compare(what + ' of an array', await bits(b), want)
    for (let i = 0; i < n; i += 9) {
      b.fill(array[i])
      compare(what + ' by fill', (await bits(b)).slice(-1), [want[i]])
    }
    if (j.Scalar) {
      const one = dev.buffer(type, 1), k = offload.kernel({ y: [type], v: type }, (g, y, v) => { y[0] = v })
      for (let i = 0; i < n; i += 17) {
        await k.launch({ size: 1 }, one, array[i])
        compare(what + ' by launch', await bits(one), [want[i]])
      }
    }
  }
  for (const x of of(j.From, j.Refused ?? [])) {
    let error = 'none'
    try { dev.buffer(type, 1).write([x]) } catch (e) { error = e.code }
    if (error === 'none' && wrong++ < 10) console.log(what, 'accepts', x)
  }
}
console.log(wrong)`)
	if out != "0" {
		t.Error(out)
	}
}

// digits returns a decimal number near a border between two elements of a type, with its exact value.
func digits(rng *rand.Rand, t ir.Type) (string, number) {
	if !t.IsFloat() {
		n := truncated(decode(t, element(rng, t)))
		return n.String(), number{r: new(big.Rat).SetInt(n)}
	}
	f := formats[t]
	bits := rng.Uint64() & (1<<(f.width-1) - 1)
	x := decode(t, bits)
	for x.r == nil || decode(t, bits+1).r == nil || t == ir.F64 && rng.IntN(4) > 0 && (bits>>52 < 923 || bits>>52 > 1123) {
		bits = rng.Uint64() & (1<<(f.width-1) - 1)
		x = decode(t, bits)
	}
	r := x.r
	if rng.IntN(4) > 0 { // halfway to the next one
		r.Add(r, decode(t, bits+1).r).Mul(r, big.NewRat(1, 2))
	}
	places, _ := r.FloatPrec()
	text := r.FloatString(places)
	switch rng.IntN(4) {
	case 0: // a little more
		if !strings.Contains(text, ".") {
			text += "."
		}
		text += strings.Repeat("0", rng.IntN(60)) + "1"
	case 1: // a little less
		text = new(big.Rat).Sub(r, new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places+rng.IntN(40))), nil))).FloatString(places + 40)
	}
	if rng.IntN(3) == 0 { // the same number with an exponent
		e := rng.IntN(50) - 25
		v, _ := new(big.Rat).SetString(text)
		p := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(e, -e))), nil))
		if e > 0 {
			v.Quo(v, p)
		} else {
			v.Mul(v, p)
		}
		places, _ := v.FloatPrec()
		text = fmt.Sprintf("%se%d", v.FloatString(places), e)
	}
	neg := rng.IntN(2) == 0
	if neg {
		text = "-" + text
	}
	v, _ := new(big.Rat).SetString(text)
	return text, number{r: v, neg: neg}
}

// TestText reads decimal numbers to columns and buffers of each type, and writes elements that must be read as they were.
func TestText(t *testing.T) {
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(13, 14))
	want := map[string][]string{}
	have := map[string][]string{}
	columns := map[ir.Type][]uint64{}
	for _, to := range elements {
		if to == ir.Bool {
			continue
		}
		var file strings.Builder
		file.WriteString("x\n")
		var data []uint64
		for range count(900, 9000) {
			text, x := digits(rng, to)
			file.WriteString(text + "\n")
			want[to.String()] = append(want[to.String()], strconv.FormatUint(stored(to, x), 10))
			data = append(data, element(rng, to))
		}
		columns[to] = data
		have[to.String()] = texts(data)
		if err := os.WriteFile(filepath.Join(dir, to.String()+".csv"), []byte(file.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writeJSON(t, dir, "want.json", want)
	writeJSON(t, dir, "have.json", have)
	out := run(t, dir, `
const want = fs.readJSONSync('want.json'), have = fs.readJSONSync('have.json')
for (const [name, list] of Object.entries(want)) {
  const b = dev.buffer(offload[name], list.length)
  fs.readCSVSync(name + '.csv', { into: { x: b } })
  compare('text to ' + name, await bits(b), list)
  if (classes[name]) {
    const { columns } = fs.readCSVSync(name + '.csv', { types: { x: name } })
    compare('text to a column of ' + name, await bits(dev.buffer(offload[name], columns.x)), list)
  }
  const raw = dev.buffer(of(unsigned[offload[name].size], have[name]))
  fs.writeCSVSync(name + '.out.csv', { x: raw.view(0, [list.length], offload[name]) })
}
console.log(wrong)`)
	if out != "0" {
		t.Error(out)
	}
	for to, data := range columns {
		written, err := os.ReadFile(filepath.Join(dir, to.String()+".out.csv"))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSpace(string(written)), "\n")[1:] {
			x := number{neg: strings.HasPrefix(line, "-")}
			if line == `""` {
				x.nan = true
			} else if !strings.HasSuffix(line, "Infinity") {
				x.r, _ = new(big.Rat).SetString(line)
			}
			if got := stored(to, x); got != data[i] {
				t.Errorf("%v %#x is written as %s, which is %#x", to, data[i], line, got)
				break
			}
			if x.r != nil && to.IsFloat() && shorter(to, x, line, data[i]) {
				t.Errorf("%v %#x is written as %s, and fewer digits do", to, data[i], line)
				break
			}
		}
	}
}

// shorter reports whether a number with fewer digits than line is the same element.
func shorter(t ir.Type, x number, line string, bits uint64) bool {
	mantissa, _, _ := strings.Cut(strings.TrimLeft(line, "-"), "e")
	n := len(strings.Trim(strings.Replace(mantissa, ".", "", 1), "0"))
	if n < 2 {
		return false
	}
	exact := decode(t, bits)
	f, _ := exact.r.Float64()
	if exact.r.IsInt() && f < 1<<24 && f > -1<<24 {
		return false // all digits
	}
	text := strconv.FormatFloat(f, 'e', n-2, 64)
	r, _ := new(big.Rat).SetString(text)
	return round(t, number{r: r, neg: x.neg}) == bits
}

// TestNPY reads arrays of each type and byte order, and writes buffers of each type.
func TestNPY(t *testing.T) {
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(15, 16))
	type job struct {
		Name, To     string
		Values, Want []string // bits of the elements, and of what they are read as
	}
	var jobs []job
	columns := map[string][]uint64{}
	dtypes := map[ir.Type]string{ir.Bool: "b1", ir.I8: "i1", ir.U8: "u1", ir.I16: "i2", ir.U16: "u2", ir.I32: "i4", ir.U32: "u4", ir.I64: "i8", ir.U64: "u8", ir.F16: "f2", ir.F32: "f4", ir.F64: "f8"}
	for from, dtype := range dtypes {
		for _, order := range []string{"<", ">"} {
			var data []byte
			var values, want []uint64
			for range count(450, 4500) {
				b := element(rng, from)
				values = append(values, b)
				e := irgen.AppendElem(nil, from, b)
				if order == ">" {
					for i, j := 0, len(e)-1; i < j; i, j = i+1, j-1 {
						e[i], e[j] = e[j], e[i]
					}
				}
				data = append(data, e...)
				if from == ir.F16 {
					b = round(ir.F32, decode(from, b))
				}
				want = append(want, b)
			}
			header := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%d,), }\n", order, dtype, len(values))
			file := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
			name := from.String() + map[string]string{"<": "-little", ">": "-big"}[order]
			if err := os.WriteFile(filepath.Join(dir, name+".npy"), append(append(file, header...), data...), 0o600); err != nil {
				t.Fatal(err)
			}
			jobs = append(jobs, job{name, from.String(), texts(values), texts(want)})
			columns[name] = values
		}
	}
	writeJSON(t, dir, "jobs.json", jobs)
	out := run(t, dir, `
for (const j of fs.readJSONSync('jobs.json')) {
  const { data } = fs.readNPYSync(j.Name + '.npy')
  compare(j.Name, await bits(dev.buffer(data)), j.Want)
  const size = offload[j.To].size
  fs.writeNPYSync(j.Name + '.out.npy', dev.buffer(of(unsigned[size], j.Values)).view(0, [j.Values.length], offload[j.To]))
}
console.log(wrong)`)
	if out != "0" {
		t.Error(out)
	}
	for _, j := range jobs {
		written, err := os.ReadFile(filepath.Join(dir, j.Name+".out.npy"))
		if err != nil {
			t.Fatal(err)
		}
		from, _ := ir.ParseType(j.To)
		var want []byte
		for _, b := range columns[j.Name] {
			want = irgen.AppendElem(want, from, b)
		}
		length := int(binary.LittleEndian.Uint16(written[8:]))
		if header := string(written[10 : 10+length]); !strings.Contains(header, dtypes[from]+"'") || !bytes.Equal(written[10+length:], want) {
			t.Errorf("%s is written with other bytes, header %s", j.Name, header)
		}
	}
}

// TestJSON reads numbers next to the borders between floats.
func TestJSON(t *testing.T) {
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(17, 18))
	var list, want []string
	for range count(1000, 20000) {
		text, x := digits(rng, ir.F64)
		list = append(list, text)
		want = append(want, strconv.FormatUint(round(ir.F64, x), 10))
	}
	if err := os.WriteFile(filepath.Join(dir, "list.json"), []byte("["+strings.Join(list, ",")+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	writeJSON(t, dir, "texts.json", list)
	writeJSON(t, dir, "want.json", want)
	out := run(t, dir, `
const want = fs.readJSONSync('want.json'), texts = fs.readJSONSync('texts.json')
const raw = list => Array.from(new BigUint64Array(Float64Array.from(list).buffer), String)
compare('JSON', raw(fs.readJSONSync('list.json')), want)
compare('Number', raw(texts.map(Number)), want)
compare('parseFloat', raw(texts.map(parseFloat)), want)
compare('eval', raw(texts.map(x => (0, eval)(x))), want)
compare('text', raw(fs.readJSONSync('list.json').map(x => Number(Object.is(x, -0) ? '-0' : String(x)))), want)
console.log(wrong)`)
	if out != "0" {
		t.Error(out)
	}
}
