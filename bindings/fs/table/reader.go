// Package table reads and writes tables of comma-separated values, and converts their fields to numbers and back.
//
// The format is that of RFC 4180 with any separator. A field in quotes keeps its bytes, line ends included. Outside of quotes
// a row ends with \n, \r\n or \r, and empty lines are skipped.
package table

import (
	"fmt"
	"io"
	"unicode/utf8"
	"unsafe"

	"github.com/orepl/orepl/lang/spelling"
)

// Error is an error in a file, with the position of the wrong field or character. Columns count bytes, from 1.
type Error struct {
	Line, Column  int
	Message, Hint string
}

// Error returns the message without the position.
func (e *Error) Error() string { return e.Message }

// Reader reads the rows of a table.
type Reader struct {
	in         io.Reader
	separator  []byte
	buffer     []byte
	at, end    int // unread part of buffer
	failed     error
	started    bool
	line       int // line of the next byte
	lineStart  int // offset of that line
	consumed   int // offset of buffer[0] in the input
	width      int // fields of the first row
	firstLine  int
	row        []byte // contents of all fields
	fields     []field
	last       []string
	special    [256]bool // bytes that end a run of an unquoted field
	separators [256]int  // how often the first row has these bytes, to guess a wrong separator
}

const utf8Hint = "save the file as UTF-8 (CSV UTF-8 in spreadsheets)"

// field is a field of the last row.
type field struct {
	end          int // offset in row
	line, column int
	quoted       bool
}

// NewReader returns a reader of the rows of in.
func NewReader(in io.Reader, separator rune) *Reader {
	r := &Reader{in: in, separator: utf8.AppendRune(nil, separator), buffer: make([]byte, 1<<16), line: 1}
	for _, b := range []byte{'\n', '\r', '"', r.separator[0]} {
		r.special[b] = true
	}
	return r
}

// Position returns line and column of a field of the last row.
func (r *Reader) Position(i int) (line, column int) { return r.fields[i].line, r.fields[i].column }

// Read returns the fields of the next row, which are valid until the next call, or [io.EOF]. All rows have the same number of
// fields. An error in the file is an [*Error].
func (r *Reader) Read() ([]string, error) {
	if err := r.begin(); err != nil {
		return nil, err
	}
	for {
		r.row, r.fields = r.row[:0], r.fields[:0]
		start := r.line
		more, err := r.record()
		if err != nil {
			return nil, err
		}
		if len(r.fields) == 1 && len(r.row) == 0 && !r.fields[0].quoted {
			if more {
				continue // an empty line
			}
			return nil, io.EOF
		}
		if r.width == 0 {
			r.width, r.firstLine = len(r.fields), start
		}
		if len(r.fields) != r.width {
			return nil, r.ragged(start)
		}
		break
	}
	r.last = r.last[:0]
	from, valid := 0, utf8.Valid(r.row)
	for _, f := range r.fields {
		if !valid && !utf8.Valid(r.row[from:f.end]) {
			return nil, &Error{f.line, f.column, "the field is not UTF-8", utf8Hint}
		}
		r.last = append(r.last, unsafe.String(unsafe.SliceData(r.row[from:]), f.end-from))
		from = f.end
	}
	return r.last, nil
}

// begin skips a byte-order mark, and refuses that of UTF-16.
func (r *Reader) begin() error {
	if r.started {
		return nil
	}
	r.started = true
	for r.end < 3 && r.failed == nil {
		r.fill()
	}
	head := r.buffer[:r.end]
	switch {
	case len(head) >= 3 && string(head[:3]) == "\ufeff":
		r.at, r.lineStart = 3, 3
	case len(head) >= 2 && (string(head[:2]) == "\xff\xfe" || string(head[:2]) == "\xfe\xff"):
		return &Error{1, 1, "the text is in UTF-16, and UTF-8 is expected", utf8Hint}
	}
	return nil
}

// fill reads more bytes behind the unread ones.
func (r *Reader) fill() {
	if r.at > 0 {
		copy(r.buffer, r.buffer[r.at:r.end])
		r.consumed += r.at
		r.at, r.end = 0, r.end-r.at
	}
	n, err := r.in.Read(r.buffer[r.end:])
	r.end += n
	if err != nil {
		r.failed = err
	}
}

// ready reports whether at least n bytes are unread, after reading more if needed.
func (r *Reader) ready(n int) bool {
	for r.end-r.at < n && r.failed == nil {
		r.fill()
	}
	return r.end-r.at >= n
}

func (r *Reader) column() int { return r.consumed + r.at - r.lineStart + 1 }

// isSeparator reports whether the unread bytes begin with the separator.
func (r *Reader) isSeparator() bool {
	n := len(r.separator)
	return r.ready(n) && string(r.buffer[r.at:r.at+n]) == string(r.separator)
}

// newline consumes one line end: \n, \r\n or \r.
func (r *Reader) newline() {
	cr := r.buffer[r.at] == '\r'
	r.at++
	if cr && r.ready(1) && r.buffer[r.at] == '\n' {
		r.at++
	}
	r.line++
	r.lineStart = r.consumed + r.at
}

// record reads a row to its end. more is false if the end of the input, and no line end, ended the row.
func (r *Reader) record() (more bool, err error) {
	for {
		f := field{line: r.line, column: r.column()}
		if r.ready(1) && r.buffer[r.at] == '"' {
			f.quoted = true
			err = r.quotedField(f)
		} else {
			err = r.plainField()
		}
		if err != nil {
			return false, err
		}
		f.end = len(r.row)
		r.fields = append(r.fields, f)
		switch {
		case !r.ready(1):
			if r.failed != io.EOF {
				return false, r.failed
			}
			return false, nil
		case r.isSeparator():
			r.at += len(r.separator)
		default:
			r.newline()
			return true, nil
		}
	}
}

// plainField reads a field to the separator or line end behind it.
func (r *Reader) plainField() error {
	for r.ready(1) {
		from := r.at
		for r.at < r.end && !r.special[r.buffer[r.at]] {
			r.at++
		}
		r.row = append(r.row, r.buffer[from:r.at]...)
		if r.width == 0 {
			for _, b := range r.buffer[from:r.at] {
				r.separators[b]++
			}
		}
		if r.at == r.end {
			continue
		}
		switch b := r.buffer[r.at]; {
		case b == '\n' || b == '\r' || r.isSeparator():
			return nil
		case b == '"':
			return &Error{r.line, r.column(), "a quote stands within a field that does not begin with one",
				`put the whole field in quotes, and double those within: "5"" pipe"`}
		default: // the first byte of a separator of several
			r.row = append(r.row, b)
			r.at++
		}
	}
	return nil
}

// quotedField reads a field in quotes to the separator or line end behind it.
func (r *Reader) quotedField(f field) error {
	r.at++
	for r.ready(1) {
		from := r.at
		for r.at < r.end && r.buffer[r.at] != '"' && r.buffer[r.at] != '\n' && r.buffer[r.at] != '\r' {
			r.at++
		}
		r.row = append(r.row, r.buffer[from:r.at]...)
		if r.at == r.end {
			continue
		}
		if b := r.buffer[r.at]; b != '"' {
			r.row = append(r.row, b)
			if crlf := b == '\r' && r.ready(2) && r.buffer[r.at+1] == '\n'; crlf {
				r.row = append(r.row, '\n')
			}
			r.newline()
			continue
		}
		r.at++
		switch {
		case !r.ready(1):
			return nil
		case r.buffer[r.at] == '"':
			r.row = append(r.row, '"')
			r.at++
		case r.buffer[r.at] == '\n' || r.buffer[r.at] == '\r' || r.isSeparator():
			return nil
		default:
			return &Error{r.line, r.column(), "text follows the closing quote of a field", `double the quotes within a field: "say ""yes"""`}
		}
	}
	if r.failed != io.EOF {
		return r.failed
	}
	return &Error{f.line, f.column, "the quote that begins here is never closed", `close it, or double the quotes within a field: "say ""yes"""`}
}

// ragged returns the error of a row with another number of fields than the first.
func (r *Reader) ragged(line int) error {
	e := &Error{Line: line, Column: 1, Message: fmt.Sprintf("the row has %s, and line %d has %d", spelling.Count(len(r.fields), "field"), r.firstLine, r.width)}
	e.Hint = "give every row the same number of separators, and put fields that contain one in quotes"
	if r.width == 1 {
		for _, b := range []byte{';', '\t', '|', ','} {
			if r.separators[b] > 0 {
				e.Hint = fmt.Sprintf("line %d contains %q: is that the separator? write { separator: %[2]q }", r.firstLine, string(b))
				break
			}
		}
	}
	return e
}
