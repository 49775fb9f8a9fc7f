package repl_test

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// screen emulates a terminal's screen with its scrollback: the part of xterm that the prompt needs.
type screen struct {
	columns, rows int
	lines         [][]rune // all lines; the last ones are on the screen
	row, column   int      // cursor position; row is an index of lines
	wrap          bool     // the last column is written, so the next character wraps
	rest          []byte   // incomplete sequence or character
	modes         map[string]bool
	soft          map[int]bool // lines that continue the previous full line
}

func newScreen(columns, rows int) *screen {
	return &screen{columns: columns, rows: rows, lines: make([][]rune, 1), modes: map[string]bool{}, soft: map[int]bool{}}
}

// Write displays output of the program.
func (s *screen) Write(p []byte) (int, error) {
	data := append(s.rest, p...)
	s.rest = nil
	for len(data) > 0 {
		n := s.take(data)
		if n == 0 {
			s.rest = append([]byte(nil), data...)
			break
		}
		data = data[n:]
	}
	return len(p), nil
}

// take displays one character or sequence and returns its length, 0 if it is incomplete.
func (s *screen) take(data []byte) int {
	switch c := data[0]; {
	case c == '\r':
		s.column, s.wrap = 0, false
	case c == '\n':
		s.down()
	case c == '\b':
		s.column, s.wrap = max(s.column-1, 0), false
	case c == 0x1b:
		return s.sequence(data)
	case c < ' ':
	default:
		if !utf8.FullRune(data) {
			return 0
		}
		r, n := utf8.DecodeRune(data)
		s.put(r)
		return n
	}
	return 1
}

func (s *screen) down() {
	s.row++
	s.wrap = false
	for len(s.lines) <= s.row {
		s.lines = append(s.lines, nil)
	}
}

func (s *screen) put(r rune) {
	if s.wrap {
		s.down()
		s.column = 0
		s.soft[s.row] = true
	}
	line := s.lines[s.row]
	for len(line) <= s.column {
		line = append(line, ' ')
	}
	line[s.column] = r
	s.lines[s.row] = line
	if s.column++; s.column == s.columns {
		s.column, s.wrap = s.columns-1, true
	}
}

// resize rewraps long lines, as most terminals do.
func (s *screen) resize(columns, rows int) {
	var lines [][]rune
	soft := map[int]bool{}
	row, column := 0, 0
	for i := 0; i < len(s.lines); {
		whole := s.lines[i]
		at := -1
		if s.row == i {
			at = s.column
		}
		for i++; i < len(s.lines) && s.soft[i]; i++ {
			if s.row == i {
				at = len(whole) + s.column
			}
			whole = append(whole[:len(whole):len(whole)], s.lines[i]...)
		}
		if at >= 0 {
			row, column = len(lines)+at/columns, at%columns
		}
		for {
			n := min(len(whole), columns)
			lines = append(lines, whole[:n:n])
			if whole = whole[n:]; len(whole) == 0 {
				break
			}
			soft[len(lines)] = true
		}
	}
	s.columns, s.rows, s.lines, s.soft, s.row, s.column = columns, rows, lines, soft, row, column
}

// top returns the index of the first line on the screen.
func (s *screen) top() int { return max(len(s.lines)-s.rows, 0) }

// sequence executes an escape sequence and returns its length.
func (s *screen) sequence(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	if data[1] != '[' {
		return 2
	}
	for i := 2; i < len(data); i++ {
		if data[i] >= '@' && data[i] <= '~' {
			s.control(data[i], string(data[2:i]))
			return i + 1
		}
	}
	return 0
}

func (s *screen) control(final byte, args string) {
	n, err := strconv.Atoi(args)
	if err != nil {
		n = 0
	}
	s.wrap = s.wrap && (final == 'h' || final == 'l' || final == 'm')
	switch final {
	case 'A':
		s.row = max(s.row-max(n, 1), s.top())
	case 'B':
		s.row = min(s.row+max(n, 1), len(s.lines)-1)
	case 'C':
		s.column = min(s.column+max(n, 1), s.columns-1)
	case 'D':
		s.column = max(s.column-max(n, 1), 0)
	case 'G':
		s.column = min(max(n, 1), s.columns) - 1
	case 'H':
		s.row, s.column = s.top(), 0
	case 'K':
		s.erase(s.row)
	case 'J':
		if n == 2 {
			for i := s.top(); i < len(s.lines); i++ {
				s.lines[i] = nil
			}
			return
		}
		s.erase(s.row)
		for i := s.row + 1; i < len(s.lines); i++ {
			s.lines[i] = nil
		}
	case 'h', 'l':
		s.modes[args] = final == 'h'
	}
}

// erase clears a line from the cursor's column.
func (s *screen) erase(row int) {
	if s.column < len(s.lines[row]) {
		s.lines[row] = s.lines[row][:s.column]
	}
	delete(s.soft, row+1)
}

// line returns the text of a line.
func (s *screen) line(row int) string {
	if row < 0 || row >= len(s.lines) {
		return ""
	}
	return strings.TrimRight(string(s.lines[row]), " ")
}

// text returns all text from a line on.
func (s *screen) text(from int) string {
	var b strings.Builder
	for i := from; i < len(s.lines); i++ {
		b.WriteString(s.line(i) + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
