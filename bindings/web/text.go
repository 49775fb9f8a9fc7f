package web

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

func (w *web) textEncoder() (goja.Value, error) {
	type encoder struct{}
	class := lang.NewClass(w.Engine, lang.ClassSpec[*encoder]{
		Name:      "TextEncoder",
		Construct: func(goja.ConstructorCall) (*encoder, error) { return &encoder{}, nil },
		Fields: []lang.Field[*encoder]{{Name: "encoding", Get: func(*encoder) (goja.Value, error) {
			return w.VM().ToValue("utf-8"), nil
		}}},
		Methods: []lang.Method[*encoder]{
			{Name: "encode", Call: func(_ *encoder, call goja.FunctionCall) (goja.Value, error) {
				text := ""
				if !goja.IsUndefined(call.Argument(0)) {
					text = call.Argument(0).String()
				}
				return lang.TypedArray(w.Engine, []byte(text))
			}},
			{Name: "encodeInto", Call: func(_ *encoder, call goja.FunctionCall) (goja.Value, error) {
				a := w.Args("TextEncoder.encodeInto", call)
				text, to := a.String(0, "text"), a.Bytes(1, "destination")
				if a.Err() != nil {
					return nil, a.Err()
				}
				read, written := encodeInto(to, text)
				o := bindings.NewExports(w.Engine)
				o.Set("read", read)
				o.Set("written", written)
				return o.Done()
			}},
		},
	})
	return class.Constructor(), nil
}

// encodeInto writes whole characters while they fit; read counts UTF-16 units, as scripts do.
func encodeInto(to []byte, text string) (read, written int) {
	for _, r := range text {
		n := utf8.RuneLen(r)
		if written+n > len(to) {
			break
		}
		utf8.EncodeRune(to[written:], r)
		written += n
		read += utf16.RuneLen(r)
	}
	return read, written
}

// A decoder is a TextDecoder. It keeps the bytes of a character that a chunk cut.
type decoder struct {
	encoding         string
	fatal, ignoreBOM bool
	rest             []byte
	began            bool // behind the place of a byte order mark
}

func (w *web) textDecoder() (goja.Value, error) {
	field := func(name string, get func(*decoder) any) lang.Field[*decoder] {
		return lang.Field[*decoder]{Name: name, Get: func(d *decoder) (goja.Value, error) { return w.VM().ToValue(get(d)), nil }}
	}
	class := lang.NewClass(w.Engine, lang.ClassSpec[*decoder]{
		Name:      "TextDecoder",
		Construct: w.newDecoder,
		Fields: []lang.Field[*decoder]{
			field("encoding", func(d *decoder) any { return d.encoding }),
			field("fatal", func(d *decoder) any { return d.fatal }),
			field("ignoreBOM", func(d *decoder) any { return d.ignoreBOM }),
		},
		Methods: []lang.Method[*decoder]{{Name: "decode", Call: func(d *decoder, call goja.FunctionCall) (goja.Value, error) {
			a := w.Args("TextDecoder.decode", call)
			var data []byte
			if a.Has(0) {
				data = a.Bytes(0, "input")
			}
			stream := option(a.Object(1, "options"), "stream")
			if a.Err() != nil {
				return nil, a.Err()
			}
			text, err := d.decode(data, stream)
			if err != nil {
				return nil, err
			}
			return w.VM().ToValue(text), nil
		}}},
	})
	return class.Constructor(), nil
}

func option(o *goja.Object, name string) bool {
	return o != nil && o.Get(name) != nil && o.Get(name).ToBoolean()
}

func (w *web) newDecoder(call goja.ConstructorCall) (*decoder, error) {
	d := &decoder{encoding: "utf-8"}
	if v := call.Argument(0); !goja.IsUndefined(v) {
		switch strings.ToLower(strings.TrimSpace(v.String())) {
		case "utf-8", "utf8":
		case "utf-16le", "utf-16":
			d.encoding = "utf-16le"
		case "latin1", "iso-8859-1", "ascii", "us-ascii", "windows-1252":
			d.encoding = "latin1"
		default:
			return nil, &diag.Diagnostic{ID: "invalid-argument", Name: "RangeError", Message: "there is no text encoding " + v.String(), Hint: "the encodings are utf-8, utf-16le and latin1"}
		}
	}
	if o, ok := call.Argument(1).(*goja.Object); ok {
		d.fatal, d.ignoreBOM = option(o, "fatal"), option(o, "ignoreBOM")
	}
	return d, nil
}

var errMalformed = &diag.Diagnostic{ID: "invalid-argument", Name: "TypeError", Message: "the bytes are no text in this encoding"}

func (d *decoder) decode(data []byte, stream bool) (string, error) {
	if len(d.rest) > 0 {
		data = append(d.rest, data...)
	}
	d.rest = nil
	var text string
	var err error
	switch d.encoding {
	case "utf-16le":
		text = d.utf16(data, stream)
	case "latin1":
		runes := make([]rune, len(data))
		for i, b := range data {
			runes[i] = rune(b)
		}
		text = string(runes)
	default:
		text, err = d.utf8(data, stream)
	}
	if !d.began && !d.ignoreBOM {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	d.began = stream && (d.began || text != "")
	return text, err
}

func (d *decoder) utf8(data []byte, stream bool) (string, error) {
	if stream {
		for n := 1; n < utf8.UTFMax && n <= len(data); n++ { // the last character may go on in the next chunk
			if tail := data[len(data)-n:]; utf8.RuneStart(tail[0]) {
				if !utf8.FullRune(tail) {
					d.rest = append([]byte(nil), tail...)
					data = data[:len(data)-n]
				}
				break
			}
		}
	}
	if !utf8.Valid(data) {
		if d.fatal {
			return "", errMalformed
		}
		return strings.ToValidUTF8(string(data), "\ufffd"), nil
	}
	return string(data), nil
}

func (d *decoder) utf16(data []byte, stream bool) string {
	if len(data)%2 == 1 {
		if stream {
			d.rest = []byte{data[len(data)-1]}
		}
		data = data[:len(data)-1]
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(data[2*i:])
	}
	return string(utf16.Decode(units))
}

func (w *web) btoa(call goja.FunctionCall) (goja.Value, error) {
	text := call.Argument(0).String()
	data := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return nil, diag.New("invalid-argument", "btoa: the character %q is above U+00FF", r).WithHint("encode the text with TextEncoder first")
		}
		data = append(data, byte(r))
	}
	return w.VM().ToValue(base64.StdEncoding.EncodeToString(data)), nil
}

func (w *web) atob(call goja.FunctionCall) (goja.Value, error) {
	text := strings.Join(strings.Fields(call.Argument(0).String()), "")
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil, diag.New("invalid-argument", "atob: this is no base64: %v", err)
	}
	runes := make([]rune, len(data))
	for i, b := range data {
		runes[i] = rune(b)
	}
	return w.VM().ToValue(string(runes)), nil
}
