package web

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/later"
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
				if goja.IsUndefined(call.Argument(0)) {
					return lang.TypedArray(w.Engine, []byte{})
				}
				s, err := text("TextEncoder.encode", call)
				if err != nil {
					return nil, err
				}
				return lang.TypedArray(w.Engine, []byte(s))
			}},
			{Name: "encodeInto", Call: func(_ *encoder, call goja.FunctionCall) (goja.Value, error) {
				a := w.Args("TextEncoder.encodeInto", call)
				text, to := a.String(0, "text"), a.Bytes(1, "destination")
				if o, ok := call.Argument(1).(*goja.Object); !ok || o.ExportType() != reflect.TypeFor[[]byte]() {
					a.Fail("destination", "must be a Uint8Array")
				}
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

// encodeInto encodes whole characters while they fit. read counts UTF-16 code units.
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

// A decoder is the state of a TextDecoder. It keeps the bytes of a character that is split between chunks.
type decoder struct {
	encoding         string
	fatal, ignoreBOM bool
	rest             []byte
	began            bool // data has been decoded, so no byte order mark can follow
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

// labels lists the labels in the Encoding Standard of each encoding that decoders know.
var labels = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		utf8Name:   "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
		"utf-16le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
		"utf-16be": "unicodefffe utf-16be",
		"windows-1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 " +
			"iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
	}
}}

const utf8Name = "utf-8"

// encodingOf returns the encoding for a label, or "".
func encodingOf(label string) string {
	label = strings.ToLower(strings.Trim(label, "\t\n\f\r "))
	for name, list := range labels.Get() {
		if slices.Contains(strings.Fields(list), label) {
			return name
		}
	}
	return ""
}

func (w *web) newDecoder(call goja.ConstructorCall) (*decoder, error) {
	d := &decoder{encoding: utf8Name}
	if v := call.Argument(0); !goja.IsUndefined(v) {
		if d.encoding = encodingOf(v.ToString().String()); d.encoding == "" {
			return nil, &diag.Diagnostic{ID: "invalid-argument", Name: "RangeError", Message: fmt.Sprintf("there is no text encoding %q", v), Hint: "the encodings are utf-8, utf-16le, utf-16be and windows-1252, which latin1 is a name of"}
		}
	}
	switch o := call.Argument(1).(type) {
	case *goja.Object:
		d.fatal, d.ignoreBOM = option(o, "fatal"), option(o, "ignoreBOM")
	default:
		if !goja.IsUndefined(o) && !goja.IsNull(o) {
			return nil, &lang.ArgumentError{Func: "new TextDecoder", Name: "options", Detail: "must be an object such as { fatal: true }"}
		}
	}
	return d, nil
}

// decode decodes data after the bytes kept by the last call. With stream set, it keeps the bytes of an incomplete character.
func (d *decoder) decode(data []byte, stream bool) (string, error) {
	if len(d.rest) > 0 {
		data = append(d.rest, data...)
	}
	t := &transcript{stream: stream, wrong: -1}
	switch d.encoding {
	case utf8Name:
		t.utf8(data)
	case "windows-1252":
		for _, b := range data {
			t.text.WriteRune(windows1252(b))
		}
	case "utf-16be":
		t.utf16(data, binary.BigEndian)
	default:
		t.utf16(data, binary.LittleEndian)
	}
	began := d.began
	d.rest = append([]byte(nil), t.rest...)
	d.began = stream && (began || t.text.Len() > 0)
	if d.fatal && t.wrong >= 0 {
		d.rest, d.began = nil, false
		return "", &diag.Diagnostic{ID: "invalid-argument", Name: "TypeError", Message: fmt.Sprintf("the bytes are no text in %s: byte %d does not fit", d.encoding, t.wrong),
			Hint: "name the encoding that they are in, or leave out fatal: then what does not fit becomes \ufffd"}
	}
	text := t.text.String()
	if !began && !d.ignoreBOM {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	return text, nil
}

// A transcript accumulates decoded text.
type transcript struct {
	text   strings.Builder
	stream bool
	rest   []byte // bytes of an incomplete character, if stream is set
	wrong  int    // index of the first invalid byte, or -1
}

func (t *transcript) bad(at int) {
	if t.wrong < 0 {
		t.wrong = at
	}
	t.text.WriteRune(utf8.RuneError)
}

// utf8 decodes UTF-8. It replaces each maximal subpart of an ill-formed sequence with one U+FFFD, as the Encoding Standard
// requires.
func (t *transcript) utf8(data []byte) {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r != utf8.RuneError || n > 1 {
			t.text.WriteRune(r)
			i += n
			continue
		}
		n = 1
		for i+n <= len(data) && !utf8.FullRune(data[i:i+n]) {
			n++
		}
		if n--; i+n == len(data) && n > 0 && t.stream {
			t.rest = data[i:]
			return
		}
		t.bad(i)
		i += max(n, 1)
	}
}

func (t *transcript) utf16(data []byte, order binary.ByteOrder) {
	i := 0
	for ; i+1 < len(data); i += 2 {
		first := rune(order.Uint16(data[i:]))
		if !utf16.IsSurrogate(first) {
			t.text.WriteRune(first)
			continue
		}
		if i+3 >= len(data) && first < 0xdc00 {
			break // a lead surrogate before the end, perhaps with a byte of the other half
		}
		if i+3 < len(data) {
			if r := utf16.DecodeRune(first, rune(order.Uint16(data[i+2:]))); r != utf8.RuneError {
				t.text.WriteRune(r)
				i += 2
				continue
			}
		}
		t.bad(i)
	}
	switch {
	case i == len(data):
	case t.stream:
		t.rest = data[i:]
	default:
		t.bad(i)
	}
}

// windows1252 decodes a byte. The encoding differs from Latin-1 from 0x80 to 0x9f.
func windows1252(b byte) rune {
	const upper = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"
	if b < 0x80 || b > 0x9f {
		return rune(b)
	}
	return []rune(upper)[b-0x80]
}

// text returns the first argument converted to a string. It is an error if this is missing or a symbol.
func text(name string, call goja.FunctionCall) (string, error) {
	if len(call.Arguments) == 0 {
		return "", &lang.ArgumentError{Func: name, Name: "text", Detail: "is missing: expected a string"}
	}
	if _, symbol := call.Argument(0).(*goja.Symbol); symbol {
		return "", &lang.ArgumentError{Func: name, Name: "text", Detail: "must be a string, not a symbol"}
	}
	return call.Argument(0).ToString().String(), nil
}

func (w *web) btoa(call goja.FunctionCall) (goja.Value, error) {
	s, err := text("btoa", call)
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xff {
			return nil, w.fail("InvalidCharacterError", "encode the text first, as in new TextEncoder().encode(text).toBase64()", "btoa: the character %q is above U+00FF", r)
		}
		data = append(data, byte(r))
	}
	return w.VM().ToValue(base64.StdEncoding.EncodeToString(data)), nil
}

func (w *web) atob(call goja.FunctionCall) (goja.Value, error) {
	s, err := text("atob", call)
	if err != nil {
		return nil, err
	}
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("\t\n\f\r ", r) {
			return -1
		}
		return r
	}, s)
	if len(s)%4 == 0 {
		s = strings.TrimSuffix(strings.TrimSuffix(s, "="), "=")
	}
	const hint = "base64 has letters, digits, + and /, in groups of four of which the last may end in = or =="
	if i := strings.IndexFunc(s, func(r rune) bool { return !isBase64(r) }); i >= 0 {
		return nil, w.fail("InvalidCharacterError", hint, "atob: this is no base64: there is %q in it", []rune(s[i:])[0])
	}
	data, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return nil, w.fail("InvalidCharacterError", hint, "atob: this is no base64: its length is that of no bytes")
	}
	runes := make([]rune, len(data))
	for i, b := range data {
		runes[i] = rune(b)
	}
	return w.VM().ToValue(string(runes)), nil
}

func isBase64(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '/'
}
