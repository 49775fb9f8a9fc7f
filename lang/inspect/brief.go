package inspect

import (
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

const (
	briefEnd     = 3  // elements printed at each end of a shortened array
	numbersLines = 6  // maximum lines of an array of numbers that is not shortened
	othersLines  = 30 // the same for other arrays
)

// element formats an element of a typed array.
func (p *printer) element(o *goja.Object, i, depth int) string {
	v := o.Get(strconv.Itoa(i))
	if p.o.Brief && o.ExportType() == reflect.TypeFor[[]float32]() {
		v = p.in.vm.ToValue(Shortest(v.ToFloat()))
	}
	return p.value(v, depth+1)
}

// Shortest returns the number with the fewest decimal digits that rounds to the same f32.
func Shortest(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) || x == 0 {
		return x
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', -1, 32), 64)
	if err != nil {
		return x
	}
	return short
}

// ends formats the first and last elements of an array. n is the array's length, and lines the number of lines that it takes as
// a whole. ok is false if it is not to be shortened, or has holes at its ends.
func (p *printer) ends(o *goja.Object, n, lines, depth int) (text string, ok bool) {
	if lines <= numbersLines {
		return "", false
	}
	var entries []string
	numbers := true
	for _, i := range []int{0, 1, 2, n - briefEnd, n - briefEnd + 1, n - 1} {
		entry := ""
		if o.ClassName() == "Array" {
			prop := p.in.property(o, p.in.vm.ToValue(i))
			if !prop.exists {
				return "", false
			}
			entry = p.content(prop, depth)
		} else {
			entry = p.element(o, i, depth)
		}
		numbers = numbers && number.Get().MatchString(entry)
		entries = append(entries, entry)
	}
	if !numbers && lines <= othersLines {
		return "", false
	}
	first, last := entries[:briefEnd:briefEnd], entries[briefEnd:]
	dots := p.paint(gray, "…")
	if all := append(append(first, dots), last...); p.fits(all, depth) || !numbers {
		return p.braces("[", "]", all, depth), true
	}
	return p.lines("[", "]", []string{strings.Join(first, ", "), dots, strings.Join(last, ", ")}, depth), true
}
