package fs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/fs/table"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/lang/typedarray"
	"github.com/orepl/orepl/runtime/session"
)

// csvOptions holds the options of a readCSV call.
type csvOptions struct {
	separator rune
	header    bool
	assumed   bool // no option says whether the first line is a header, nor names a column
	types     map[string]string
	into      map[string]*session.Buffer // destination buffers by column; if set, further columns are read only if types lists them
}

// A column receives the fields of one column during parsing.
type column interface {
	add(ctx context.Context, field string) error
}

// A kept column is converted to a value of the script.
type kept interface {
	column
	value(e *lang.Engine) (goja.Value, error)
}

func readCSV(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.readPath(a)
	o := csvArguments(f, a)
	return func(ctx context.Context) (result, error) {
		file, err := f.Reader(ctx, path)
		if err != nil {
			return nil, f.ReadError("read", name, path, err)
		}
		defer file.Close()
		names, columns, rows, err := parseCSV(ctx, file, o)
		if err != nil {
			return nil, csvError(name, err)
		}
		return func() (goja.Value, error) {
			for _, d := range doubts(name, o, names, columns) {
				f.Engine.WarnOf(d)
			}
			byName := bindings.NewExports(f.Engine)
			list := make([]any, len(names))
			for i, name := range names {
				list[i] = name
			}
			for i, c := range columns {
				c, ok := c.(kept)
				if !ok {
					continue
				}
				v, err := c.value(f.Engine)
				if err != nil {
					return nil, err
				}
				// Unlike Set, DefineDataProperty creates a property even for the name __proto__.
				if err := byName.Object.DefineDataProperty(names[i], v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
					return nil, err
				}
				if alias := strings.TrimSpace(names[i]); !slices.Contains(names, alias) {
					if err := byName.Object.DefineDataProperty(alias, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
						return nil, err
					}
				}
			}
			o := bindings.NewExports(f.Engine)
			o.Set("rows", rows)
			o.Set("names", f.VM().NewArray(list...))
			o.Set("columns", byName.Object)
			return o.Done()
		}, nil
	}
}

func csvArguments(f *files, a *lang.Args) csvOptions {
	o := csvOptions{separator: ',', header: true, types: map[string]string{}}
	opts := a.Options(1, "options", "separator", "header", "types", "into")
	if opts == nil {
		o.assumed = true
		return o
	}
	o.separator = csvSeparator(a, opts)
	if v := opts.Get("header"); v != nil && !goja.IsUndefined(v) {
		o.header = v.ToBoolean()
	}
	if types, ok := opts.Get("types").(*goja.Object); ok {
		for _, name := range types.Keys() {
			kind := types.Get(name).String()
			if newColumn(kind) == nil {
				a.Fail("types", "says %q for column %q; the types are %s and string", kind, name, strings.Join(columnTypes, ", "))
			}
			o.types[name] = kind
		}
	}
	if into, ok := opts.Get("into").(*goja.Object); ok {
		o.into = map[string]*session.Buffer{}
		for _, name := range into.Keys() {
			host, _ := f.HostValue(into.Get(name))
			b, ok := host.(interface{ DeviceBuffer() *session.Buffer })
			if !ok {
				a.Fail("into", "has no buffer for column %q; write { into: { %[1]s: device().buffer(f32, rows) } }", name)
				continue
			}
			o.into[name] = b.DeviceBuffer()
		}
	} else if v := opts.Get("into"); v != nil && !goja.IsUndefined(v) {
		a.Fail("into", "must be an object with a buffer for each column, as in { price: buffer }")
	}
	header := opts.Get("header")
	o.assumed = (header == nil || goja.IsUndefined(header)) && len(o.types)+len(o.into) == 0
	return o
}

// doubts returns warnings of what may not be meant: numbers that name the columns, and integers that change as f64.
func doubts(file string, o csvOptions, names []string, columns []column) []*diag.Diagnostic {
	var list []*diag.Diagnostic
	if o.assumed && len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !table.IsNumber(name) }) {
		list = append(list, &diag.Diagnostic{
			Message:  "the first line has only numbers; they become the names of the columns",
			Position: diag.Position{File: file, Line: 1, Column: 1},
			Hint:     "if it is a row of data, write readCSV(path, { header: false }), else { header: true }",
		})
	}
	for i, c := range columns {
		c, ok := c.(*inferred)
		if !ok || c.changed == 0 {
			continue
		}
		kind := "i64"
		if c.beyond {
			kind = "string"
		}
		d := &diag.Diagnostic{Position: c.at, Hint: fmt.Sprintf("write readCSV(path, { types: { %s: '%s' } })", property(names[i]), kind)}
		d.Position.File = file
		d.Message = fmt.Sprintf("column %q: %s becomes %s, as f64 has 53 bits", names[i], c.first, c.became)
		if c.changed > 1 {
			d.Message += fmt.Sprintf("; %s of the column change", spelling.Count(c.changed, "integer"))
		}
		list = append(list, d)
	}
	return list
}

// parseCSV reads row by row. Memory use is bounded by the kept columns and one row.
func parseCSV(ctx context.Context, in io.Reader, o csvOptions) (names []string, columns []column, rows int, err error) {
	defer func() { // on all paths, wait for pending copies to the device
		for _, c := range columns {
			if s, ok := c.(sink); ok {
				err = cmp.Or(err, s.close(ctx))
			}
		}
	}()
	r := table.NewReader(stoppable{ctx, in}, o.separator)
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, columns, 0, err
		}
		if names == nil {
			names = columnNames(record, o.header)
			if err := o.known(names); err != nil {
				return nil, nil, 0, err
			}
			for _, name := range names {
				c, err := o.column(name)
				if err != nil {
					return nil, columns, 0, err
				}
				columns = append(columns, c)
			}
			if o.header {
				continue
			}
		}
		for i, c := range columns {
			err := c.add(ctx, record[i])
			if err == nil {
				if c, ok := c.(*inferred); ok && c.changed > 0 && c.at.Line == 0 {
					c.at.Line, c.at.Column = r.Position(i)
				}
				continue
			}
			if diag.Code(err) != "" || ctx.Err() != nil { // a device's error
				return nil, columns, 0, err
			}
			line, at := r.Position(i)
			e := &table.Error{Line: line, Column: at, Message: fmt.Sprintf("column %q: %v", names[i], err)}
			if c, ok := c.(*inferred); ok {
				e.Hint = c.hint(names[i])
			}
			return nil, columns, 0, e
		}
		rows++
	}
	for _, c := range columns {
		if s, ok := c.(sink); ok {
			if err := s.flush(ctx); err != nil {
				return nil, columns, 0, err
			}
		}
	}
	return names, columns, rows, nil
}

// property returns a name as a property key of an object literal, quoted unless it is an identifier.
func property(name string) string {
	if identifier.Get().MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

var identifier = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_$][\w$]*$`) }}

// stoppable is a reader that fails when its context is done.
type stoppable struct {
	ctx context.Context
	in  io.Reader
}

func (s stoppable) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.in.Read(p)
}

// known returns an error for a duplicate column of the file, and for a column that the options name and the file lacks. If the
// name of a column begins or ends with spaces, it renames the entry of an option without them.
func (o *csvOptions) known(names []string) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return diag.New("invalid-file", "fs.readCSV: the file has more than one column %q", name).
				WithHint("give the columns names of their own, or read them by number with { header: false }")
		}
	}
	for _, name := range names { // an option may name a column without the spaces around its name
		if short := strings.TrimSpace(name); !slices.Contains(names, short) {
			move(o.into, short, name)
			move(o.types, short, name)
		}
	}
	wanted := slices.AppendSeq(slices.Collect(maps.Keys(o.into)), maps.Keys(o.types))
	slices.Sort(wanted)
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			d := diag.New("not-found", "fs.readCSV: the file has no column %q", name)
			if near := spelling.Nearest(name, names); near != "" {
				return d.WithHint("did you mean %q?", near)
			}
			return d.WithHint("its columns are %s", strings.Join(names, ", "))
		}
	}
	return nil
}

// move moves the entry of a map from one key to another, if there is one.
func move[T any](m map[string]T, from, to string) {
	if v, ok := m[from]; ok {
		delete(m, from)
		m[to] = v
	}
}

// column returns the parser of a column. Its type is inferred unless an option sets it. With the option into, a column that no option
// names is ignored.
func (o *csvOptions) column(name string) (column, error) {
	if b := o.into[name]; b != nil {
		return newSink(name, b)
	}
	kind := o.types[name]
	switch {
	case kind != "":
		return newColumn(kind), nil
	case o.into != nil:
		return ignored{}, nil
	}
	return &inferred{}, nil
}

// ignored discards the fields of a column.
type ignored struct{}

func (ignored) add(context.Context, string) error { return nil }

func columnNames(record []string, header bool) []string {
	names := make([]string, len(record))
	for i, field := range record {
		names[i] = strconv.Itoa(i)
		if header {
			names[i] = strings.Clone(field)
		}
	}
	return names
}

// columnTypes are the types of columns of numbers.
var columnTypes = []string{"f32", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"}

func newColumn(kind string) kept {
	switch kind {
	case "f64":
		return &numbers[float64]{parse: func(s string) (float64, error) {
			bits, err := table.ParseFloat(ir.F64, s)
			return math.Float64frombits(bits), err
		}}
	case "f32":
		return &numbers[float32]{parse: func(s string) (float32, error) {
			bits, err := table.ParseFloat(ir.F32, s)
			return math.Float32frombits(uint32(bits)), err
		}}
	case "i8":
		return integers[int8](ir.I8)
	case "u8":
		return integers[uint8](ir.U8)
	case "i16":
		return integers[int16](ir.I16)
	case "u16":
		return integers[uint16](ir.U16)
	case "i32":
		return integers[int32](ir.I32)
	case "u32":
		return integers[uint32](ir.U32)
	case "i64":
		return integers[int64](ir.I64)
	case "u64":
		return integers[uint64](ir.U64)
	case "string":
		return &texts{}
	}
	return nil
}

func integers[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64](t ir.Type) kept {
	return &numbers[T]{parse: func(s string) (T, error) {
		bits, err := table.ParseInt(t, s)
		return T(bits), err
	}}
}

type numbers[T typedarray.Element] struct {
	parse  func(string) (T, error)
	values []T
}

func (n *numbers[T]) add(_ context.Context, field string) error {
	x, err := n.parse(field)
	n.values = append(n.values, x)
	return err
}

func (n *numbers[T]) value(e *lang.Engine) (goja.Value, error) { return lang.TypedArray(e, n.values) }

type texts struct{ values []any }

func (t *texts) add(_ context.Context, field string) error {
	t.values = append(t.values, strings.Clone(field))
	return nil
}

func (t *texts) value(e *lang.Engine) (goja.Value, error) { return e.VM().NewArray(t.values...), nil }

// inferred is a column of f64 if its first value is a number or all its values are missing, and else of text.
type inferred struct {
	kept           // nil until the first field with a value
	early []string // the fields before it

	changed       int           // number of integers that f64 does not represent
	beyond        bool          // one of them is outside the range of i64
	first, became string        // the first of them, and what it becomes
	at            diag.Position // its line and column
}

func (c *inferred) add(ctx context.Context, field string) error {
	if c.kept == nil {
		if table.Missing(field) {
			c.early = append(c.early, strings.Clone(field))
			return nil
		}
		kind := "string"
		if table.IsNumber(field) {
			kind = "f64"
		}
		c.choose(ctx, kind)
	}
	if err := c.kept.add(ctx, field); err != nil {
		return err
	}
	if n, ok := c.kept.(*numbers[float64]); ok {
		x := n.values[len(n.values)-1]
		if math.Abs(x) < 1<<53 || !table.Changes(field) {
			return nil
		}
		_, err := table.ParseInt(ir.I64, field)
		c.beyond = c.beyond || err != nil
		if c.changed++; c.changed == 1 {
			c.first, c.became = strings.Clone(strings.TrimSpace(field)), strconv.FormatFloat(x, 'f', -1, 64)
		}
	}
	return nil
}

// choose sets the column's type, f64 or string, and adds the fields without values, which fit both.
func (c *inferred) choose(ctx context.Context, kind string) {
	c.kept = newColumn(kind)
	for _, field := range c.early {
		_ = c.kept.add(ctx, field)
	}
	c.early = nil
}

func (c *inferred) value(e *lang.Engine) (goja.Value, error) {
	if c.kept == nil {
		c.choose(context.Background(), "f64")
	}
	return c.kept.value(e)
}

// hint returns advice for a column of numbers with a field that is none.
func (c *inferred) hint(name string) string {
	return fmt.Sprintf("if it holds text, write readCSV(path, { types: { %s: 'string' } })", property(name))
}

func csvError(name string, err error) error {
	var wrong *table.Error
	if !errors.As(err, &wrong) {
		if diag.Code(err) != "" { // an error of a device or of the options, not of the file
			return err
		}
		return lang.FileError("read", name, err)
	}
	d := diag.New("invalid-file", "read %s, line %d: %s", name, wrong.Line, wrong.Message)
	d.Position = diag.Position{File: name, Line: wrong.Line, Column: wrong.Column}
	d.Hint = wrong.Hint
	return d
}
