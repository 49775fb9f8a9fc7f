package diag

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

// List holds the diagnostics of one check, such as all problems of a file.
type List []*Diagnostic

// Error returns the diagnostics, one per line.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, d := range l {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the diagnostics, so that errors.Is and errors.As search them.
func (l List) Unwrap() []error {
	all := make([]error, len(l))
	for i, d := range l {
		all[i] = d
	}
	return all
}

// Code returns the ID of the first diagnostic. The list must not be empty.
func (l List) Code() string { return l[0].ID }

// Err returns the list as an error: nil if it is empty, and the diagnostic itself if it is the only one.
func (l List) Err() error {
	switch len(l) {
	case 0:
		return nil
	case 1:
		return l[0]
	}
	return l
}

// Diagnostic returns one diagnostic that stands for the list: the first one, with a note for each other. Its cause is the list,
// which [All] finds. A single diagnostic is returned itself, and the list must not be empty.
func (l List) Diagnostic() *Diagnostic {
	if len(l) == 1 {
		return l[0]
	}
	d := *l[0]
	d.Notes = slices.Clone(d.Notes)
	for _, other := range l[1:] {
		text := other.headline()
		if other.Hint != "" {
			text += "; " + other.Hint
		}
		d.Notes = append(d.Notes, Note{Message: text, Position: other.Position, Excerpt: other.Excerpt})
	}
	d.Cause = l
	return &d
}

// Sort orders the diagnostics in place by file, line and column, and returns them without repeated ones. Files keep the order
// of their first diagnostics.
func (l List) Sort() List {
	files := map[string]int{}
	for _, d := range l {
		if _, ok := files[d.File]; !ok {
			files[d.File] = len(files)
		}
	}
	slices.SortStableFunc(l, func(a, b *Diagnostic) int {
		return cmp.Or(cmp.Compare(files[a.File], files[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.CompactFunc(l, func(a, b *Diagnostic) bool { return a.Position == b.Position && a.Message == b.Message })
}

// All returns the diagnostics of an error: those of a list or of joined errors, or the error itself as one. It returns nil
// for nil.
func All(err error) List {
	if err == nil {
		return nil
	}
	var list List
	if errors.As(err, &list) {
		return list
	}
	if parts := joined(err); parts != nil {
		for _, one := range parts {
			list = append(list, All(one)...)
		}
		return list
	}
	var d *Diagnostic
	if errors.As(err, &d) {
		return List{d}
	}
	return List{{ID: Code(err), Message: Text(err), Hint: Hint(err), Cause: err}}
}

// joined returns the errors that err wraps by a method Unwrap() []error, such as those of errors.Join, or nil. It unwraps other
// errors, except diagnostics, to find them.
func joined(err error) []error {
	for ; err != nil; err = errors.Unwrap(err) {
		if _, ok := err.(*Diagnostic); ok {
			return nil
		}
		if all, ok := err.(interface{ Unwrap() []error }); ok {
			return all.Unwrap()
		}
	}
	return nil
}
