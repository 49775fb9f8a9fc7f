//go:build unix

package scale

import (
	"fmt"
	"math"
	"strings"
)

// curve is a series of values, one per number of ranks.
type curve struct {
	name   string
	values []float64
}

// picture returns the curves over the ranks as SVG with logarithmic axes.
func picture(title, unit string, results []result, curves ...curve) string {
	const width, height, left, bottom, top, right = 640, 380, 70, 50, 40, 190
	colors := []string{"#888888", "#1f6feb", "#d1242f"}
	lowest, highest := math.Inf(1), 0.0
	for _, c := range curves {
		for _, v := range c.values {
			lowest, highest = min(lowest, v), max(highest, v)
		}
	}
	low, high := math.Floor(math.Log10(lowest)), math.Ceil(math.Log10(highest))
	if high == low {
		high++
	}
	x := func(i int) float64 { return left + float64(i)/float64(len(results)-1)*(width-left-right) }
	y := func(v float64) float64 { return height - bottom - (math.Log10(v)-low)/(high-low)*(height-bottom-top) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/><text x="%d" y="22" font-size="15">%s</text>`+"\n", width, height, left, title)
	for e := low; e <= high; e++ {
		at := y(math.Pow(10, e))
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%g</text>`+"\n", left, at, width-right, left-6, at+4, math.Pow(10, e))
	}
	for i, r := range results {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", x(i), height-bottom+18, r.ranks)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">ranks</text><text x="%d" y="%d">%s</text>`+"\n", (left+width-right)/2, height-10, 10, 36, unit)
	for n, c := range curves {
		color := colors[(n+3-len(curves))%3]
		var points []string
		for i, v := range c.values {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(i), y(v)))
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/><text x="%d" y="%d" fill="%s">%s</text>`+"\n",
			strings.Join(points, " "), color, width-right+10, top+20+18*n, color, c.name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}
