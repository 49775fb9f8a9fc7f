package benchmark

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/orepl/orepl/bindings/bench"
	"github.com/orepl/orepl/lang/columns"
	"github.com/orepl/orepl/lang/printable"
)

// Progress displays the current measurement in one line of a terminal.
type Progress struct {
	Out io.Writer
	On  bool

	began time.Time // of the sweep
	point int
	last  time.Time
	shown bool
}

// barWidth is the number of cells of the bar.
const barWidth = 20

// Report displays the progress of a benchmark. It writes a few times per second only, since writing disturbs the measurement. It
// clears the line after the last sample, since the script may print then.
func (p *Progress) Report(b bench.Progress) {
	if b.Done == b.Samples {
		p.Clear()
	}
	if b.Points > 0 && (p.began.IsZero() || b.Point < p.point) {
		p.began = time.Now()
	}
	p.point = b.Point
	if !p.On || b.Done == b.Samples || b.Done > 0 && time.Since(p.last) < 200*time.Millisecond {
		return
	}
	p.last, p.shown = time.Now(), true
	fmt.Fprintf(p.Out, "\r\x1b[2K%s", line(b, time.Since(p.began)))
}

// line returns the text of a measurement. For a sweep it has a bar, and the time left if it can be estimated.
func line(b bench.Progress, elapsed time.Duration) string {
	name := []rune(printable.Text(strings.ReplaceAll(b.Name, "\n", " ")))
	if len(name) > 40 {
		name = append(name[:39], '…')
	}
	text := string(name)
	if b.Points == 0 {
		return fmt.Sprintf("measuring %s, %d of %d samples", text, b.Done, b.Samples)
	}
	share := (float64(b.Point) + float64(b.Done)/float64(max(b.Samples, 1))) / float64(b.Points)
	full := int(share * barWidth)
	bar := strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
	left := ""
	if share > 0.02 {
		left = fmt.Sprintf(", %v left", time.Duration(float64(elapsed)*(1-share)/share).Round(time.Second))
	}
	return fmt.Sprintf("%s %d of %d points%s, %s", bar, b.Point, b.Points, left, columns.Pad(text, 0))
}

// Clear removes the displayed line, if there is one.
func (p *Progress) Clear() {
	if p.shown {
		fmt.Fprint(p.Out, "\r\x1b[2K")
		p.shown = false
	}
}
