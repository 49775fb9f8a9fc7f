package fs

import (
	"bufio"
	"context"
	"encoding/binary"
	"math"
	"math/big"
	"os"
	"strconv"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/fs/table"
	"github.com/orepl/orepl/bindings/offloadjs/buffers"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/runtime/memory"
)

// A written column formats its rows as CSV fields.
type written struct {
	name   string
	rows   int
	texts  []string          // fields of an array, else nil
	data   []byte            // elements of a typed array, or of the buffer after its copy
	typ    ir.Type           // element type of data
	buffer *buffers.Contents // the pending copy of a buffer, else nil
}

// field appends the text of a row's element.
func (c *written) field(to []byte, row int) []byte {
	size := c.typ.Size()
	var element [8]byte
	copy(element[:], c.data[row*size:(row+1)*size])
	bits := binary.LittleEndian.Uint64(element[:])
	switch c.typ {
	case ir.F64, ir.F32, ir.F16, ir.BF16:
		return table.AppendFloat(to, c.typ, bits)
	case ir.I8:
		return strconv.AppendInt(to, int64(int8(bits)), 10)
	case ir.I16:
		return strconv.AppendInt(to, int64(int16(bits)), 10)
	case ir.I32:
		return strconv.AppendInt(to, int64(int32(bits)), 10)
	case ir.I64:
		return strconv.AppendInt(to, int64(bits), 10)
	}
	return strconv.AppendUint(to, bits, 10)
}

// elementTypes maps the classes of typed arrays to element types.
var elementTypes = later.Value[map[string]ir.Type]{Make: func() map[string]ir.Type {
	return map[string]ir.Type{
		"Int8Array": ir.I8, "Uint8Array": ir.U8, "Int16Array": ir.I16, "Uint16Array": ir.U16, "Int32Array": ir.I32, "Uint32Array": ir.U32,
		"BigInt64Array": ir.I64, "BigUint64Array": ir.U64, "Float32Array": ir.F32, "Float64Array": ir.F64,
	}
}}

func writeCSV(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.writePath(a)
	separator, header := ',', true
	if o := a.Options(2, "options", "separator", "header"); o != nil {
		separator = csvSeparator(a, o)
		if v := o.Get("header"); v != nil && !goja.IsUndefined(v) {
			header = v.ToBoolean()
		}
	}
	columns := columnsToWrite(f, a)
	if a.Err() != nil {
		return nil
	}
	return func(ctx context.Context) (result, error) {
		for _, c := range columns {
			if c.buffer == nil {
				continue
			}
			var err error
			if c.data, err = c.buffer.Wait(ctx); err != nil {
				return func() (goja.Value, error) { return nil, c.buffer.Explain(err) }, nil
			}
		}
		if err := writeRows(ctx, path, columns, separator, header); err != nil {
			return nil, lang.FileError("write", name, err)
		}
		return nil, nil
	}
}

// csvSeparator parses the option separator.
func csvSeparator(a *lang.Args, o *goja.Object) rune {
	v := o.Get("separator")
	if v == nil || goja.IsUndefined(v) {
		return ','
	}
	r, size := utf8.DecodeRuneInString(v.String())
	if size == 0 || size != len(v.String()) || r == '\n' || r == '\r' || r == '"' {
		a.Fail("separator", "must be one character, not %q", v.String())
	}
	return r
}

// columnsToWrite parses the argument columns and starts the copies of buffers to the host. After an error, which the
// arguments then have, it returns nil.
func columnsToWrite(f *files, a *lang.Args) []*written {
	o := a.Object(1, "columns")
	if o != nil && o.ClassName() == "Array" {
		return recordsToWrite(a, o)
	}
	if o == nil || len(o.Keys()) == 0 {
		a.Fail("columns", "must be an object with a typed array, array or buffer for each column, as in { price: buffer }, or an array of records")
		return nil
	}
	var list []*written
	for _, name := range o.Keys() {
		c := columnToWrite(f, a, name, o.Get(name))
		if a.Err() != nil {
			return nil
		}
		if list = append(list, c); c.rows != list[0].rows {
			a.Fail("columns", "has %d rows for %q and %d for %q", list[0].rows, list[0].name, c.rows, name)
			return nil
		}
	}
	return list
}

// recordsToWrite converts an array of objects, one for each row. The columns are all their properties, in the order of their
// first appearance; a property that a record lacks is an empty field.
func recordsToWrite(a *lang.Args, array *goja.Object) []*written {
	var list []*written
	columns := map[string]*written{}
	rows := int(array.Get("length").ToInteger())
	for i := range rows {
		record, ok := array.Get(strconv.Itoa(i)).(*goja.Object)
		if !ok || record.ClassName() != "Object" {
			a.Fail("columns", "has %s as record %d; a record is an object such as { price: 2 }", convert.Describe(array.Get(strconv.Itoa(i))), i+1)
			return nil
		}
		for _, name := range record.Keys() {
			c := columns[name]
			if c == nil {
				c = &written{name: name, rows: rows}
				columns[name], list = c, append(list, c)
			}
			text, ok := fieldText(record.Get(name))
			if !ok {
				a.Fail("columns", "has %s in record %d for %q; fields are text, numbers, BigInts, booleans or null", convert.Describe(record.Get(name)), i+1, name)
				return nil
			}
			for len(c.texts) < i { // earlier records lack it
				c.texts = append(c.texts, "")
			}
			c.texts = append(c.texts, text)
		}
	}
	for _, c := range list {
		for len(c.texts) < rows {
			c.texts = append(c.texts, "")
		}
	}
	if len(list) == 0 {
		a.Fail("columns", "has no records with properties, so that the names of the columns are not known")
	}
	return list
}

func columnToWrite(f *files, a *lang.Args, name string, v goja.Value) *written {
	c := &written{name: name}
	buffer, err := buffers.Fetch(f.Engine, v)
	switch {
	case err != nil:
		a.Reject(err)
	case buffer != nil:
		c.buffer, c.typ, c.rows = buffer, buffer.Type, 1
		for _, n := range buffer.Shape {
			c.rows *= n
		}
		if len(buffer.Shape) > 1 {
			a.Fail("columns", "has a buffer of %d dimensions for %q; a view has one: buffer.view(0)", len(buffer.Shape), name)
		}
	default:
		if t, ok := numericOf(v); ok {
			values, _ := f.Bytes(v)
			c.data, c.typ, c.rows = memory.Clone(values), elementTypes.Get()[t.class], len(values)/t.size
			return c
		}
		array, ok := v.(*goja.Object)
		if !ok || array.ClassName() != "Array" {
			a.Fail("columns", "has %s for %q; a typed array, an array or a buffer is needed", convert.Describe(v), name)
			return c
		}
		c.rows = int(array.Get("length").ToInteger())
		c.texts = make([]string, 0, min(c.rows, 1<<16))
		for i := range c.rows {
			text, ok := fieldText(array.Get(strconv.Itoa(i)))
			if !ok {
				a.Fail("columns", "has %s in row %d of %q; fields are text, numbers, BigInts, booleans or null", convert.Describe(array.Get(strconv.Itoa(i))), i+1, name)
				return c
			}
			c.texts = append(c.texts, text)
		}
	}
	return c
}

// fieldText formats an array element as a field; undefined and null are empty. It reports false for values other than these,
// strings, numbers, BigInts and booleans.
func fieldText(v goja.Value) (text string, ok bool) {
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return "", true
	}
	switch x := internals.Export(v).(type) {
	case float64:
		return string(table.AppendFloat(nil, ir.F64, math.Float64bits(x))), true
	case string, int64, bool:
		return v.String(), true
	case *big.Int:
		return x.String(), true
	}
	return "", false
}

// writeRows writes the file row by row. Memory use is bounded by the columns and some rows.
func writeRows(ctx context.Context, path string, columns []*written, separator rune, header bool) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := file.Close(); err == nil {
			err = cerr
		}
	}()
	buffered := bufio.NewWriterSize(file, 1<<16)
	record := make([]string, len(columns))
	first := true
	var line []byte
	write := func() error {
		line = table.AppendRow(line[:0], record, separator, first)
		first = false
		_, err := buffered.Write(line)
		return err
	}
	if header {
		for i, c := range columns {
			record[i] = c.name
		}
		if err := write(); err != nil {
			return err
		}
	}
	var text []byte
	for row := range columns[0].rows {
		if row&0xfff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for i, c := range columns {
			if c.texts != nil {
				record[i] = c.texts[row]
				continue
			}
			text = c.field(text[:0], row)
			record[i] = string(text)
		}
		if err := write(); err != nil {
			return err
		}
	}
	return buffered.Flush()
}
