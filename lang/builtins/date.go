package builtins

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/later"
)

const (
	msPerMinute = 60e3
	msPerHour   = 3600e3
	msPerDay    = 86400e3
	mostTime    = 8.64e15
)

// offsetAt returns local time minus UTC at the instant t. Both are in milliseconds, t since 1970.
func offsetAt(t float64) float64 {
	_, seconds := time.UnixMilli(int64(t)).In(time.Local).Zone()
	return float64(seconds) * 1e3
}

// utcOf converts a local time to an instant. A time that a transition repeats stands for its first instant, and one that it
// skips is counted from before the transition. The result is NaN for a time more than a day outside of the range of Date.
func utcOf(local float64) float64 {
	if !(math.Abs(local) <= mostTime+msPerDay) {
		return math.NaN()
	}
	before, after := offsetAt(local-msPerDay), offsetAt(local+msPerDay)
	if u := local - before; offsetAt(u) == before || offsetAt(local-after) != after {
		return u
	}
	return local - after
}

// makeTime and makeDay implement MakeTime and MakeDay, but results may be infinite instead of NaN. makeDay returns milliseconds
// instead of days.
func makeTime(h, m, s, ms float64) float64 {
	return math.Trunc(h)*msPerHour + math.Trunc(m)*msPerMinute + math.Trunc(s)*1e3 + math.Trunc(ms)
}

func makeDay(year, month, day float64) float64 {
	y, m := math.Trunc(year), math.Trunc(month)
	y += math.Floor(m / 12)
	m -= math.Floor(m/12) * 12
	if !(math.Abs(y) < 400000) {
		return math.NaN()
	}
	start := time.Date(int(y), time.Month(int(m)+1), 1, 0, 0, 0, 0, time.UTC)
	return float64(start.Unix())*1e3 + (math.Trunc(day)-1)*msPerDay
}

func timeClip(t float64) float64 {
	if !(math.Abs(t) <= mostTime) {
		return math.NaN()
	}
	return math.Trunc(t) + 0
}

// installDate replaces the parts of Date that are wrong. They concern transitions of the local time, years of more than four
// digits, and texts that are no dates.
func (b *set) installDate() error {
	class := b.object("Date")
	proto := class.Get("prototype").(*goja.Object)
	native, ok := internals.NativeOf(class)
	parse, okParse := internals.NativeOf(class.Get("parse").(*goja.Object))
	if !ok || !okParse {
		return internals.Unknown("Date")
	}
	construct, original := *native.Construct, *parse.Call
	value := func(t float64) goja.Value { return b.vm.ToValue(t) }
	parseText := func(v goja.Value) goja.Value {
		if t, ok := parseISO(v.String()); ok {
			return value(t)
		}
		return original(goja.FunctionCall{This: class, Arguments: []goja.Value{v}})
	}
	*parse.Call = func(c goja.FunctionCall) goja.Value { return parseText(b.text(c.Argument(0))) }
	*native.Construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
		switch {
		case len(args) == 1:
			if s, ok := args[0].(goja.String); ok {
				args = []goja.Value{parseText(s)}
			}
		case len(args) > 1:
			parts := [7]float64{0, 0, 1, 0, 0, 0, 0}
			for i := range min(len(args), len(parts)) {
				parts[i] = b.number(args[i]).ToFloat()
			}
			if y := math.Trunc(parts[0]); 0 <= y && y <= 99 {
				parts[0] = 1900 + y
			}
			t := makeDay(parts[0], parts[1], parts[2]) + makeTime(parts[3], parts[4], parts[5], parts[6])
			args = []goja.Value{value(timeClip(utcOf(t)))}
		}
		return construct(args, newTarget)
	}
	getTime, setTime := callable(proto.Get("getTime")), callable(proto.Get("setTime"))
	b.method(proto, "toISOString", 0, func(c goja.FunctionCall) goja.Value {
		t := b.call(getTime, c.This).ToFloat()
		if math.IsNaN(t) {
			b.fail("RangeError", "invalid-argument", "Invalid time value", "the date was made from something that is none: test it with isNaN(date)")
		}
		u := time.UnixMilli(int64(t)).UTC()
		year := fmt.Sprintf("%04d", u.Year())
		if u.Year() < 0 || u.Year() > 9999 {
			year = fmt.Sprintf("%+07d", u.Year())
		}
		return b.vm.ToValue(year + u.Format("-01-02T15:04:05.000Z"))
	})
	b.method(proto, "getTimezoneOffset", 0, func(c goja.FunctionCall) goja.Value {
		t := b.call(getTime, c.This).ToFloat()
		if math.IsNaN(t) {
			return value(t)
		}
		return value(math.Trunc(-offsetAt(t)/msPerMinute) + 0)
	})
	// The parts are year, month, day, hours, minutes, seconds and milliseconds; a setter takes most of them from the first.
	for _, s := range [...]struct {
		name        string
		first, most int
	}{{"setFullYear", 0, 3}, {"setMonth", 1, 2}, {"setDate", 2, 1}, {"setHours", 3, 4}, {"setMinutes", 4, 3}, {"setSeconds", 5, 2}, {"setMilliseconds", 6, 1}} {
		b.method(proto, s.name, s.most, func(c goja.FunctionCall) goja.Value {
			t := b.call(getTime, c.This).ToFloat()
			given := make([]float64, max(1, min(len(c.Arguments), s.most)))
			for i := range given {
				given[i] = b.number(c.Argument(i)).ToFloat()
			}
			local := t + offsetAt(t)
			if math.IsNaN(t) {
				if s.first > 0 {
					return value(t)
				}
				local = 0
			}
			u := time.UnixMilli(int64(local)).UTC()
			parts := [7]float64{float64(u.Year()), float64(u.Month() - 1), float64(u.Day()), float64(u.Hour()), float64(u.Minute()), float64(u.Second()), float64(u.Nanosecond() / 1e6)}
			copy(parts[s.first:], given)
			fresh := timeClip(utcOf(makeDay(parts[0], parts[1], parts[2]) + makeTime(parts[3], parts[4], parts[5], parts[6])))
			return b.call(setTime, c.This, value(fresh))
		})
	}
	return nil
}

var (
	isoDate = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
		return regexp.MustCompile(`^([+-]\d{6}|\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)?)?$`)
	}}
	noDate   = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^(?:[+-]\d{6}|\d{4})-\d\d(?:-\d\d)?T.*,`) }}
	digitRun = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\d+`) }}
	// otherNumbers matches comments, times, and offsets of zones.
	otherNumbers = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\([^)]*\)?|\d+:\d+(?::\d+(?:\.\d+)?)?(?:\s*[+-]\d+(?::?\d+)?)?|(?:gmt|utc?|z|\s)\s*[+-]\d+(?::?\d+)?`)
	}}
)

// twoYears reports whether at least two numbers of a text can only be years, such as those of 32 Jan 2024. Such a date is
// invalid; the interpreter would take the last one as the year, and 1 for a missing day or month.
func twoYears(s string) bool {
	years := 0
	for _, digits := range digitRun.Get().FindAllString(otherNumbers.Get().ReplaceAllString(s, " "), -1) {
		if n, err := strconv.Atoi(digits); err != nil || len(digits) > 2 || n < 1 || n > 31 {
			years++
		}
	}
	return years > 1
}

// parseISO parses a date in the format of ECMAScript. It returns NaN for an invalid date, and false for a text that may have
// another format.
func parseISO(s string) (float64, bool) {
	m := isoDate.Get().FindStringSubmatch(s)
	if m == nil {
		return math.NaN(), noDate.Get().MatchString(s) || twoYears(s)
	}
	part := func(i int, missing float64) float64 {
		if m[i] == "" {
			return missing
		}
		n, _ := strconv.Atoi(m[i])
		return float64(n)
	}
	year, month, day := part(1, 0), part(2, 1), part(3, 1)
	h, min, sec, ms := part(4, 0), part(5, 0), part(6, 0), 0.0
	if m[7] != "" {
		f, _ := strconv.ParseFloat("0."+m[7], 64)
		ms = math.Floor(f * 1000)
		if len(m[7]) <= 3 {
			ms = math.Round(f * 1000)
		}
	}
	if m[1] == "-000000" || month < 1 || month > 12 || day < 1 || day > 31 || h > 24 || min > 59 || sec > 59 || h == 24 && (min > 0 || sec > 0 || ms > 0) {
		return math.NaN(), true
	}
	t := makeDay(year, month-1, day)
	t += makeTime(h, min, sec, ms)
	switch zone := m[8]; {
	case m[4] == "" || zone == "Z":
	case zone == "":
		t = utcOf(t)
	default:
		hours, _ := strconv.Atoi(zone[1:3])
		minutes, _ := strconv.Atoi(zone[4:])
		if hours > 23 || minutes > 59 {
			return math.NaN(), true
		}
		offset := float64(hours)*msPerHour + float64(minutes)*msPerMinute
		if zone[0] == '-' {
			offset = -offset
		}
		t -= offset
	}
	return timeClip(t), true
}
