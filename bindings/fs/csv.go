package fs

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
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
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/session"
)

// csvOptions holds the options of a readCSV call.
type csvOptions struct {
	separator rune
	header    bool
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
		file, err := f.OpenFile(path)
		if err != nil {
			return nil, f.ReadError("read", name, path, err)
		}
		defer file.Close()
		names, columns, rows, err := parseCSV(ctx, file, o)
		if err != nil {
			return nil, csvError(name, err)
		}
		return func() (goja.Value, error) {
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
				a.Fail("types", "says %q for column %q; the types are f32, f64, i32, i64 and string", kind, name)
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
	return o
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
	r := csv.NewReader(bufio.NewReaderSize(stoppable{ctx, in}, 1<<16)) // a single field may span the whole file
	r.Comma, r.ReuseRecord = o.separator, true
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
			if o.header {
				continue
			}
		}
		if columns == nil {
			for i, field := range record {
				c, err := o.column(names[i], field)
				if err != nil {
					return nil, columns, 0, err
				}
				columns = append(columns, c)
			}
		}
		for i, c := range columns {
			if err := c.add(ctx, record[i]); err != nil {
				line, at := r.FieldPos(i)
				err = fmt.Errorf("column %q: %w", names[i], err)
				if _, text := c.(*numbers[float64]); text && o.types[names[i]] == "" {
					err = diag.New("invalid-file", "%v", err).WithHint("if it holds text, write readCSV(path, { types: { %s: 'string' } })", property(names[i]))
				}
				return nil, columns, 0, &csv.ParseError{Line: line, Column: at, Err: err}
			}
		}
		rows++
	}
	for i := len(columns); i < len(names); i++ { // a header without rows
		c, err := o.column(names[i], "")
		if err != nil {
			return nil, columns, 0, err
		}
		columns = append(columns, c)
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
	if identifier.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)

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

// known reports the first duplicate column of the file, and the first column that the options name and the file lacks.
func (o *csvOptions) known(names []string) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return diag.New("invalid-file", "fs.readCSV: the file has more than one column %q", name).
				WithHint("give the columns names of their own, or read them by number with { header: false }")
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

// column returns the parser of a column. It infers the type from the column's first field, unless an option sets it.
func (o *csvOptions) column(name, first string) (column, error) {
	if b := o.into[name]; b != nil {
		return newSink(name, b)
	}
	kind := o.types[name]
	if o.into != nil && kind == "" {
		return ignored{}, nil
	}
	return chooseColumn(kind, first), nil
}

// ignored discards the fields of a column.
type ignored struct{}

func (ignored) add(context.Context, string) error { return nil }

func columnNames(record []string, header bool) []string {
	names := make([]string, len(record))
	for i, field := range record {
		names[i] = strconv.Itoa(i)
		if header {
			names[i] = strings.TrimSpace(strings.TrimPrefix(field, "\ufeff"))
		}
	}
	return names
}

func chooseColumn(kind, first string) kept {
	if c := newColumn(kind); c != nil {
		return c
	}
	if _, err := parseFloat(first); err == nil {
		return newColumn("f64")
	}
	return newColumn("string")
}

func newColumn(kind string) kept {
	switch kind {
	case "f64":
		return &numbers[float64]{parse: parseFloat}
	case "f32":
		return &numbers[float32]{parse: func(s string) (float32, error) { x, err := parseFloat(s); return float32(x), err }}
	case "i32":
		return &numbers[int32]{parse: func(s string) (int32, error) { x, err := parseInt(s, 32); return int32(x), err }}
	case "i64":
		return &numbers[int64]{parse: func(s string) (int64, error) { return parseInt(s, 64) }}
	case "string":
		return &texts{}
	}
	return nil
}

func parseFloat(s string) (float64, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return math.NaN(), nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%q is no number", s)
	}
	return x, nil
}

func parseInt(s string, bits int) (int64, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, nil
	}
	x, err := strconv.ParseInt(s, 10, bits)
	if err != nil {
		return 0, fmt.Errorf("%q is no integer of %d bits", s, bits)
	}
	return x, nil
}

type numbers[T lang.Element] struct {
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

func csvError(name string, err error) error {
	if diag.Code(err) != "" && !errors.As(err, new(*csv.ParseError)) { // an error of a device or of the options, not of the file
		return err
	}
	var p *csv.ParseError
	if errors.As(err, &p) {
		d := diag.New("invalid-file", "read %s: %v", name, p.Err)
		d.Position = diag.Position{File: name, Line: p.Line, Column: p.Column}
		message := p.Err.Error()
		var inner *diag.Diagnostic
		if errors.As(p.Err, &inner) {
			message, d.Hint = inner.Message, inner.Hint
		}
		d.Message = fmt.Sprintf("read %s, line %d: %s", name, p.Line, message)
		return d
	}
	return lang.FileError("read", name, err)
}
