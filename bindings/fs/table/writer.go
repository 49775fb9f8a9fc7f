package table

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// AppendField appends a field, in quotes if it would not be read as it is. first means that it begins the file.
func AppendField(to []byte, text string, separator rune, first bool) []byte {
	if !needsQuotes(text, separator) && !(first && strings.HasPrefix(text, "\ufeff")) {
		return append(to, text...)
	}
	to = append(to, '"')
	for {
		i := strings.IndexByte(text, '"')
		if i < 0 {
			break
		}
		to = append(append(to, text[:i+1]...), '"')
		text = text[i+1:]
	}
	return append(append(to, text...), '"')
}

func needsQuotes(text string, separator rune) bool {
	if text == "" {
		return false
	}
	if strings.ContainsAny(text, "\"\n\r") || strings.ContainsRune(text, separator) {
		return true
	}
	head, _ := utf8.DecodeRuneInString(text)
	tail, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsSpace(head) || unicode.IsSpace(tail)
}

// AppendRow appends a row. first means that it begins the file. A row of a single empty field is a pair of quotes, since an empty
// line is no row.
func AppendRow(to []byte, fields []string, separator rune, first bool) []byte {
	if len(fields) == 1 && fields[0] == "" {
		return append(to, "\"\"\n"...)
	}
	for i, text := range fields {
		if i > 0 {
			to = utf8.AppendRune(to, separator)
		}
		to = AppendField(to, text, separator, first && i == 0)
	}
	return append(to, '\n')
}
