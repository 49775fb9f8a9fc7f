// Package fs implements the module 'fs', which reads and writes text, bytes, JSON, images, CSV and NPY files.
//
// Every file operation exists in two forms: readText returns a promise and runs in the background; readTextSync blocks the
// script. The engine's access policy is checked for every path.
package fs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/disk"
	"github.com/orepl/orepl/lang/source"
	"github.com/orepl/orepl/runtime/memory"
)

// A result returns the value of a finished operation. It runs on the loop's goroutine; nil means undefined.
type result func() (goja.Value, error)

// An operation parses its arguments on the loop's goroutine. It returns the work, which must not access script values.
type operation func(f *files, a *lang.Args) func(context.Context) (result, error)

// files holds the module's state in one engine.
type files struct {
	*lang.Engine
	date *goja.Object // the original class Date, since scripts can replace the global
}

// define describes an operation and its documentation.
type define struct {
	name      string
	signature string // signature of the asynchronous form without the name; the result is Promise<…>
	help      string
	example   string
	op        operation
}

// Module returns the module 'fs'.
func Module() bindings.Module {
	return bindings.Module{
		Module:  lang.Module{Name: "fs", PromptGlobals: []string{"fs"}, Instantiate: instantiate},
		Help:    "Files: reading, writing, directories. Functions whose names end in Sync block the script; the others return a promise.",
		Types:   types,
		Entries: entries,
	}
}

func entries() (list []bindings.Entry) {
	for _, d := range operations {
		sync := strings.TrimSuffix(strings.Replace(d.signature, "Promise<", "", 1), ">")
		list = append(list,
			bindings.Entry{Name: d.name, Kind: bindings.Function, Signature: d.name + d.signature, Help: d.help, Example: d.example},
			bindings.Entry{Name: d.name + "Sync", Kind: bindings.Function, Signature: d.name + "Sync" + sync, Help: "Like " + d.name + ", but blocks the script instead of returning a promise. " + d.help})
	}
	return list
}

const types = `interface Image { width: number; height: number; channels: 1 | 4; data: Uint8Array }
/** An image to write: bytes from 0 to 255, floats from 0 to 1, or booleans. A buffer of shape [height, width] or [height, width, channels] is an image too. The default of channels follows from the number of values. */
type ImageSource = Pixels<2> | Pixels<3> | { width: number; height: number; channels?: 1 | 3 | 4; data: Uint8Array | Uint8ClampedArray | Float32Array | Pixels<any> }
type Pixels<R extends number> = import('offload').Buffer<'u8' | 'bool' | 'f16' | 'bf16' | 'f32' | 'f64', R>
interface FileInfo { name: string; size: number; isDirectory: boolean; modified: Date }
type NumericArray = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | Float32Array | Float64Array | BigInt64Array | BigUint64Array
interface NPY { dtype: string; shape: number[]; data: NumericArray }
/** The types of a table's columns. */
interface ColumnTypes { f32: Float32Array; f64: Float64Array; i8: Int8Array; u8: Uint8Array; i16: Int16Array; u16: Uint16Array; i32: Int32Array; u32: Uint32Array; i64: BigInt64Array; u64: BigUint64Array; string: string[] }
interface CSVOptions<T extends Record<string, keyof ColumnTypes> = {}> {
  /** The separator of fields, one character. Default: a comma. */
  separator?: string
  /** Whether the first row has the names of the columns. If false, it is data, and the columns are named 0, 1, … Default: true. */
  header?: boolean
  /** The types of columns by name. Default: f64 if the first value that is not missing is a number, or all are missing; else string. */
  types?: T
  /** Buffers that receive columns by name. Other columns are then read only if types names them. */
  into?: Record<string, import('offload').Buffer>
}
/** A table with a typed array or an array of strings per column, except those in buffers. TypeScript knows the columns in the option types. */
interface CSV<T extends Record<string, keyof ColumnTypes> = {}> { rows: number; names: string[]; columns: { [K in keyof T]: ColumnTypes[T[K]] } & Record<string, Float64Array | string[]> }`

var operations = []define{
	{"readText", "(path: string): Promise<string>", "Reads a UTF-8 text file. Another encoding is an error.", "import { writeText, readText } from 'fs'\nawait writeText('note.txt', 'hello')\nconsole.log(await readText('note.txt'))", readText},
	{"writeText", "(path: string, text: string): Promise<void>", "Writes text to a file, which is created or replaced.", "", writeText},
	{"appendText", "(path: string, text: string): Promise<void>", "Appends text to a file, which is created if it does not exist.", "", appendText},
	{"readBytes", "(path: string): Promise<Uint8Array>", "Reads the bytes of a file.", "", readBytes},
	{"writeBytes", "(path: string, bytes: ArrayBufferView | ArrayBuffer): Promise<void>", "Writes the bytes of a typed array, DataView or ArrayBuffer to a file, which is created or replaced.", "", writeBytes},
	{"readJSON", "(path: string): Promise<any>", "Reads and parses a JSON file. A syntax error states the line.", "", readJSON},
	{"writeJSON", "(path: string, value: unknown, indent?: number): Promise<void>", "Writes a value as JSON, with a line end. indent is the number of spaces per level, by default 2 and at most 10; 0 writes one line. A value without a form in JSON, such as undefined, is an error.", "", writeJSON},
	{"readImage", "(path: string, options?: { channels?: 1 | 4 }): Promise<Image>", "Reads a PNG or JPEG image; another format is invalid-image. The data has 8 bits per channel, row by row from the top. The 4 channels are red, green, blue and alpha (not premultiplied); 1 channel is gray. The default of channels is 1 for a gray file without alpha, and else 4. Channels of 16 bits keep their upper 8. Colours become gray by the weights of BT.601, whatever their alpha. A JPEG with an Exif orientation is turned upright.", "", readImage},
	{"writeImage", "(path: string, image: ImageSource, options?: { quality?: number }): Promise<void>", "Writes an image as PNG if the name ends in .png, and as JPEG if it ends in .jpg or .jpeg (quality 1–100, default 90). Another ending is an error. An image has 1, 3 or 4 channels: gray, RGB, or RGB and alpha. JPEG has no alpha; its pixels are those over a black background. An image is a buffer of shape [height, width] or [height, width, channels], or an object. The object has width, height and data, which is a Uint8Array, Uint8ClampedArray, Float32Array or buffer. The elements of buffers are u8, floats, or bool with true as white. Floats range from 0 to 1 and are clamped; NaN becomes 0. To write a u8 mask of zeros and ones, pass mask.view(0, mask.shape, bool).", "import { writeImage } from 'fs'\nawait writeImage('ramp.png', { width: 256, height: 1, data: Uint8Array.from({ length: 256 }, (_, i) => i) })", writeImage},
	{"readCSV", "<const T extends Record<string, keyof ColumnTypes> = {}>(path: string, options?: CSVOptions<T>): Promise<CSV<T>>", "Reads a table of comma-separated values, with one array per column. The first row has the names of the columns, unless the option header is false. A column is a Float64Array if the first value that is not missing is a number, or all are missing. Otherwise it is an array of strings. The option types states other types. A field that does not fit its column's type is an error. A row with another number of fields than the first, and two columns of one name, are errors. Empty lines are skipped; rows end with \\n, \\r\\n or \\r. Fields in quotes keep their line ends. Missing values are empty fields, NA, N/A, n/a, #N/A, <NA>, NaN, nan, -NaN, -nan, null, NULL and None: NaN in columns of floats, the text itself in columns of strings. In columns of integers an empty field is 0, in those of bool false, and the others are errors. A name keeps the spaces around it, but columns and the options also accept it without these spaces. The option into, as in readCSV(path, { into: { price: device().buffer(f32, 1e6) } }), reads columns into buffers of floats, integers or bool, which need at least one element per row. Other columns are then read only if types names them, so a file of any size needs little memory. Numbers are rounded once, from their decimal digits to the type.", "", readCSV},
	{"writeCSV", "(path: string, columns: Readonly<Record<string, NumericArray | readonly (string | number | bigint | boolean | null | undefined)[] | import('offload').Buffer>> | readonly Readonly<Record<string, string | number | bigint | boolean | null | undefined>>[], options?: { separator?: string; header?: boolean }): Promise<void>", "Writes a table of comma-separated values. The columns are typed arrays, arrays or one-dimensional buffers of equal length. An array of objects is written with one row per object and one column per property name; a missing property is an empty field. Numbers are written with the fewest digits from which the same number of their type is read, also for f16 and bf16, and NaN, null and undefined as an empty field, which is a pair of quotes in a table of one column. Fields with separators, quotes, line ends or spaces around are quoted. header: false omits the row of names, and the option separator replaces the comma.",
		"import { writeCSV, readText } from 'fs'\nawait writeCSV('t.csv', { x: Float32Array.of(0.1, 2), name: ['a', 'b, c'] })\nconsole.log(await readText('t.csv'))", writeCSV},
	{"readNPY", "(path: string): Promise<NPY>", "Reads an array in NumPy's format, of integers, booleans (as bytes) or floats; half floats are widened to 32 bits. Other elements are invalid-file. The data is in row-major order and native byte order, also if the file has Fortran order or the other byte order.", "", readNPY},
	{"writeNPY", "(path: string, data: NumericArray | import('offload').Buffer, shape?: number[]): Promise<void>", "Writes a typed array or a buffer in NumPy's format. The default shape is the buffer's, or one dimension. Elements of f16 and bool keep their type; bf16, which NumPy lacks, is widened to 32 bits.", "import { writeNPY, readNPY } from 'fs'\nawait writeNPY('m.npy', new Float32Array(6), [2, 3])\nconsole.log((await readNPY('m.npy')).shape)", writeNPY},
	{"exists", "(path: string): Promise<boolean>", "Reports whether a file or directory exists.", "", exists},
	{"list", "(path?: string): Promise<string[]>", "Returns the sorted names in a directory, by default the working directory. Names of directories, but not of links to them, end in a slash.", "", list},
	{"stat", "(path: string): Promise<FileInfo>", "Returns the name of a file or directory, its size in bytes, whether it is a directory, and its modification time. A missing one is not-found.", "", stat},
	{"mkdir", "(path: string): Promise<void>", "Creates a directory and its missing parents. A directory that exists is no error.", "", mkdir},
	{"remove", "(path: string, options?: { recursive?: boolean }): Promise<void>", "Removes a file or an empty directory. If there is none, the error is not-found. With recursive, also removes the contents of a directory, and a missing path is no error.", "", remove},
}

func instantiate(e *lang.Engine) (*goja.Object, error) {
	date, _ := e.VM().GlobalObject().Get("Date").(*goja.Object)
	f := &files{e, date}
	x := bindings.NewExports(e)
	for _, d := range operations {
		x.AddAsync(d.name, func(call goja.FunctionCall) (goja.Value, error) {
			a := e.Args("fs."+d.name, call)
			work := d.op(f, a)
			a.Rest()
			if err := a.Err(); errors.Is(err, disk.ErrLeaveOut) {
				return e.Resolved(goja.Undefined()), nil
			} else if err != nil {
				return nil, err
			}
			return e.Async("fs."+d.name, func(ctx context.Context) (func() (goja.Value, error), error) { return work(ctx) }), nil
		})
		x.Add(d.name+"Sync", func(call goja.FunctionCall) (goja.Value, error) {
			a := e.Args("fs."+d.name+"Sync", call)
			work := d.op(f, a)
			a.Rest()
			if err := a.Err(); errors.Is(err, disk.ErrLeaveOut) {
				return goja.Undefined(), nil
			} else if err != nil {
				return nil, err
			}
			ctx := e.Running()
			finish, err := lang.UntilCallEnds(e, func() (result, error) { return work(ctx) })
			if err != nil || finish == nil {
				return nil, err
			}
			return finish()
		})
	}
	return x.Done()
}

// readPath parses a path argument and checks it against the policy for reading.
func (f *files) readPath(a *lang.Args) (name, path string) { return f.path(a, f.ReadPath) }

// writePath parses a path argument and checks it against the policy for writing.
func (f *files) writePath(a *lang.Args) (name, path string) { return f.path(a, f.WritePath) }

func (f *files) path(a *lang.Args, allow func(string) (string, error)) (name, path string) {
	name = a.String(0, "path")
	if a.Err() != nil {
		return name, ""
	}
	path, err := allow(name)
	if err != nil {
		a.Reject(err)
	}
	return name, path
}

func (f *files) value(v any) result {
	return func() (goja.Value, error) { return f.VM().ToValue(v), nil }
}

func readText(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.readPath(a)
	return func(ctx context.Context) (result, error) {
		data, err := f.ReadFile(ctx, path)
		if err != nil {
			return nil, f.ReadError("read", name, path, err)
		}
		text := string(data)
		if d := source.CheckEncoding(name, text); d != nil {
			d.Message = "fs.readText: " + d.Message
			return nil, d.WithHint("save the file as UTF-8, or decode its bytes: new TextDecoder('latin1').decode(await readBytes(path))")
		}
		return f.value(text), nil
	}
}

func writeText(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.writePath(a)
	text := a.String(1, "text")
	return func(context.Context) (result, error) { return nil, write(name, path, []byte(text)) }
}

func write(name, path string, data []byte) error {
	if err := os.WriteFile(path, data, 0o666); err != nil {
		return lang.FileError("write", name, err)
	}
	return nil
}

func appendText(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.writePath(a)
	text := a.String(1, "text")
	return func(context.Context) (result, error) {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			return nil, lang.FileError("write", name, err)
		}
		_, err = io.WriteString(file, text)
		if cerr := file.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return nil, lang.FileError("write", name, err)
		}
		return nil, nil
	}
}

func readBytes(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.readPath(a)
	return func(ctx context.Context) (result, error) {
		data, err := f.ReadFile(ctx, path)
		if err != nil {
			return nil, f.ReadError("read", name, path, err)
		}
		return func() (goja.Value, error) { return lang.TypedArray(f.Engine, data) }, nil
	}
}

// writeBytes implements fs.writeBytes. It copies the bytes, because the script may modify the array before the asynchronous write.
func writeBytes(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.writePath(a)
	data := memory.Clone(a.Bytes(1, "bytes"))
	return func(context.Context) (result, error) { return nil, write(name, path, data) }
}

func readJSON(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.readPath(a)
	return func(ctx context.Context) (result, error) {
		data, err := f.ReadFile(ctx, path)
		if err != nil {
			return nil, f.ReadError("read", name, path, err)
		}
		return func() (goja.Value, error) { return f.ParseJSON(name, bytes.TrimPrefix(data, []byte("\ufeff"))) }, nil
	}
}

func writeJSON(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.writePath(a)
	indent := int64(2)
	if a.Has(2) {
		indent = a.Int(2, "indent")
	}
	v, err := f.Stringify(a.Value(1), goja.Null(), f.VM().ToValue(indent))
	switch {
	case err != nil:
		a.Reject(err)
	case goja.IsUndefined(v):
		a.Fail("value", "has no form in JSON")
	default:
		text := v.String()
		return func(context.Context) (result, error) { return nil, write(name, path, []byte(text+"\n")) }
	}
	return nil
}

func exists(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.readPath(a)
	if name == "" {
		return func(context.Context) (result, error) { return f.value(false), nil }
	}
	return func(context.Context) (result, error) {
		_, err := lang.AsLoaded(f.Engine, "stat "+path, func() (os.FileInfo, error) { return f.Options().Disk().Stat(path) })
		return f.value(err == nil), nil
	}
}

func list(f *files, a *lang.Args) func(context.Context) (result, error) {
	name := "."
	if a.Has(0) {
		name = a.String(0, "path")
	}
	path, err := f.ReadPath(name)
	if err != nil {
		a.Reject(err)
	}
	return func(context.Context) (result, error) {
		entries, err := lang.AsLoaded(f.Engine, "list "+path, func() ([]os.DirEntry, error) { return f.Options().Disk().ReadDir(path) })
		if err != nil {
			return nil, f.ReadError("list", name, path, err)
		}
		return func() (goja.Value, error) {
			names := make([]any, len(entries))
			for i, entry := range entries {
				names[i] = entry.Name()
				if entry.IsDir() {
					names[i] = entry.Name() + "/"
				}
			}
			return f.VM().NewArray(names...), nil
		}, nil
	}
}

func stat(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.readPath(a)
	return func(context.Context) (result, error) {
		info, err := lang.AsLoaded(f.Engine, "stat "+path, func() (os.FileInfo, error) { return f.Options().Disk().Stat(path) })
		if err != nil {
			return nil, f.ReadError("stat", name, path, err)
		}
		return func() (goja.Value, error) {
			vm := f.VM()
			modified, err := vm.New(f.date, vm.ToValue(info.ModTime().UnixMilli()))
			if err != nil {
				return nil, err
			}
			o := bindings.NewExports(f.Engine)
			o.Set("name", filepath.Base(path))
			o.Set("size", info.Size())
			o.Set("isDirectory", info.IsDir())
			o.Set("modified", modified)
			return o.Done()
		}, nil
	}
}

func mkdir(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.writePath(a)
	a.Options(1, "options", "recursive") // as in Node, where it makes parents, too
	return func(context.Context) (result, error) {
		if err := os.MkdirAll(path, 0o777); err != nil {
			return nil, lang.FileError("mkdir", name, err)
		}
		return nil, nil
	}
}

func remove(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.writePath(a)
	recursive := false
	if v := option(a.Options(1, "options", "recursive"), "recursive"); v != nil {
		recursive = v.ToBoolean()
	}
	return func(context.Context) (result, error) {
		err := os.Remove(path)
		if recursive && err != nil {
			err = os.RemoveAll(path)
		}
		if err != nil {
			return nil, f.ReadError("remove", name, path, err)
		}
		return nil, nil
	}
}
