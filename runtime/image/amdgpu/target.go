// Package amdgpu reads the target IDs of AMD code objects, such as gfx90a:sramecc-:xnack+, and compares them by LLVM's rules.
package amdgpu

import (
	"fmt"
	"slices"
	"strings"
)

// Setting is the setting of a feature that a processor may have on or off.
type Setting uint8

// The settings of a feature, as code requires it. In the ID of a device, Off and On are the device's own settings.
const (
	Any         Setting = iota // the code runs with the feature on or off
	Off                        // the code needs it off
	On                         // the code needs it on
	Unsupported                // the processor lacks the feature
)

// ID is a target ID: a processor and the settings of its features.
type ID struct {
	Processor      string // such as gfx90a or gfx9-generic; empty if unknown
	SRAMECC, XNACK Setting
}

// String returns the ID with its features in canonical order, sramecc before xnack.
func (id ID) String() string {
	text := id.Processor
	for _, f := range []struct {
		name    string
		setting Setting
	}{{"sramecc", id.SRAMECC}, {"xnack", id.XNACK}} {
		switch f.setting {
		case On:
			text += ":" + f.name + "+"
		case Off:
			text += ":" + f.name + "-"
		}
	}
	return text
}

// Parse reads a target ID, whose features may be in any order. It returns an error for a processor or a feature that LLVM does not
// know. A feature that the processor lacks, that has no sign, or that is named twice is an error, too.
func Parse(text string) (ID, error) {
	words := strings.Split(text, ":")
	id := ID{Processor: words[0]}
	p, ok := find(words[0])
	if !ok {
		return ID{}, fmt.Errorf("the processor %q is unknown", words[0])
	}
	if !p.sramecc {
		id.SRAMECC = Unsupported
	}
	if !p.xnack {
		id.XNACK = Unsupported
	}
	var seen []string
	for _, word := range words[1:] {
		name, on := strings.CutSuffix(word, "+")
		if !on {
			var off bool
			if name, off = strings.CutSuffix(word, "-"); !off {
				return ID{}, fmt.Errorf("the feature %q of %q ends in neither + nor -", word, text)
			}
		}
		setting := &id.XNACK
		switch name {
		case "xnack":
		case "sramecc":
			setting = &id.SRAMECC
		default:
			return ID{}, fmt.Errorf("the feature %q of %q is unknown; known are sramecc and xnack", name, text)
		}
		if slices.Contains(seen, name) {
			return ID{}, fmt.Errorf("%q names the feature %s twice", text, name)
		}
		seen = append(seen, name)
		if *setting == Unsupported {
			return ID{}, fmt.Errorf("%s lacks the feature %s", id.Processor, name)
		}
		*setting = Off
		if on {
			*setting = On
		}
	}
	return id, nil
}

// IsProcessor reports whether LLVM knows a processor of that name.
func IsProcessor(name string) bool { _, ok := find(name); return ok }

// Canonical returns a target ID with its features in canonical order, and other texts unchanged.
func Canonical(text string) string {
	if id, err := Parse(text); err == nil {
		return id.String()
	}
	return text
}

// Contradicts reports whether no device runs both a and b: they have different processors, or one needs a feature that the
// other one excludes.
func Contradicts(a, b ID) bool {
	differ := func(x, y Setting) bool {
		return x == On && (y == Off || y == Unsupported) || y == On && (x == Off || x == Unsupported)
	}
	return a.Processor != b.Processor || differ(a.SRAMECC, b.SRAMECC) || differ(a.XNACK, b.XNACK)
}

// Runs reports whether a device runs code of a target ID: the processors are equal, and each feature that the code sets has
// the device's setting.
func Runs(code, device ID) bool {
	fits := func(c, d Setting) bool { return c == Any || c == Unsupported || c == d }
	return code.Processor == device.Processor && fits(code.SRAMECC, device.SRAMECC) && fits(code.XNACK, device.XNACK)
}

// Coexist reports whether one file may have code of both target IDs. IDs of one processor must set the same features, since a
// device could run both otherwise.
func Coexist(a, b ID) bool {
	set := func(s Setting) bool { return s == On || s == Off }
	return a.Processor != b.Processor || set(a.SRAMECC) == set(b.SRAMECC) && set(a.XNACK) == set(b.XNACK)
}

// Merge returns a, with the features that a leaves open set as in b. The IDs must not contradict each other.
func Merge(a, b ID) ID {
	if a.SRAMECC == Any {
		a.SRAMECC = b.SRAMECC
	}
	if a.XNACK == Any {
		a.XNACK = b.XNACK
	}
	return a
}
