package plot_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/diag"
)

// picture returns the picture that an expression of a script returns as PNG. OREPL_TEST_PICTURES names a folder in which it is
// kept.
func picture(t *testing.T, name, expression string) image.Image {
	t.Helper()
	var out bytes.Buffer
	if err := run(t, &out, "console.log(Array.from("+expression+").map(v => v.toString(16).padStart(2, '0')).join(''))"); err != nil {
		t.Fatal(diag.Format(err, false))
	}
	data := make([]byte, 0, out.Len()/2)
	for text := strings.TrimSpace(out.String()); len(text) >= 2; text = text[2:] {
		hex := func(c byte) byte { return byte(strings.IndexByte("0123456789abcdef", c)) }
		data = append(data, hex(text[0])<<4|hex(text[1]))
	}
	if dir := os.Getenv("OREPL_TEST_PICTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// column returns the rows between the first and the last pixel of a color in a column, or -1.
func column(img image.Image, x int, ink color.RGBA) (first, last int) {
	first, last = -1, -1
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		r, g, b, _ := img.At(x, y).RGBA()
		if near(r, ink.R) && near(g, ink.G) && near(b, ink.B) {
			if first < 0 {
				first = y
			}
			last = y
		}
	}
	return first, last
}

func near(have uint32, want uint8) bool { d := int(have>>8) - int(want); return d >= -40 && d <= 40 }

var blue, orange = color.RGBA{0, 0x72, 0xb2, 255}, color.RGBA{0xd5, 0x5e, 0, 255}

// TestPNG checks where pictures of lines, points and bars have ink: two series on logarithmic axes, dashes, and error bars.
func TestPNG(t *testing.T) {
	img := picture(t, "lines", `png({ a: [1, 10, 100], b: [100, 10, 1] }, { x: [1, 10, 100], log: 'xy', title: 'Größe', xLabel: 'n', yLabel: 'ms', error: { b: { low: [50, 10, 1], high: [100, 10, 1] } } })`)
	if size := img.Bounds().Size(); size != (image.Point{1280, 720}) {
		t.Fatal(size)
	}
	right := 1280 - 2*16 - 4
	if first, last := column(img, right, blue); first < 0 || first > 200 || last > 250 {
		t.Errorf("the rising line ends at rows %d to %d", first, last)
	}
	if first, _ := column(img, right, orange); first < 550 {
		t.Errorf("the falling line ends at row %d", first)
	}
	left := 0
	for x := 40; x < 200 && left == 0; x++ {
		if first, last := column(img, x, orange); first > 100 && last-first > 60 {
			left = x
		}
	}
	if left == 0 {
		t.Error("there is no error bar at the left end")
	}
	ink := 0
	for x := 500; x < 780; x++ {
		if first, _ := column(img, x, color.RGBA{0, 0, 0, 255}); first >= 0 && first < 50 {
			ink++
		}
	}
	if ink < 30 {
		t.Errorf("the title has ink in %d columns", ink)
	}
	img = picture(t, "bars", `png({ a: 10, b: 5 }, { width: 400, height: 200, error: { a: 2 } })`)
	rows := 0
	for y := range img.Bounds().Dy() {
		if r, g, b, _ := img.At(200, y).RGBA(); near(r, blue.R) && near(g, blue.G) && near(b, blue.B) {
			rows++
		}
	}
	if rows < 200 {
		t.Errorf("the bars have %d rows in a column", rows)
	}
	solid := picture(t, "solid", `png([1, 1, 1], { kind: 'line' })`)
	dashed := picture(t, "dashed", `png({ ...Object.fromEntries(Array.from({ length: 9 }, (_, i) => ['s' + i, [i, i, i]])) })`)
	if n, m := inked(solid), inked(dashed); n < 2000 || m < 10000 {
		t.Errorf("%d and %d pixels have ink", n, m)
	}
	whole, gaps := rowInk(dashed, blue)
	if whole < 1000 || gaps > 900 || gaps < 300 {
		t.Errorf("the line of the first series has %d pixels, the dashed one of the same color %d", whole, gaps)
	}
}

// inked returns the number of pixels that are blue.
func inked(img image.Image) (n int) {
	for x := range img.Bounds().Dx() {
		for y := range img.Bounds().Dy() {
			if r, g, b, _ := img.At(x, y).RGBA(); r>>8 < 250 || g>>8 < 250 || b>>8 < 250 {
				n++
			}
		}
	}
	return n
}

// rowInk returns the numbers of pixels of a color in the row with the most of them, and in the next such row above it.
func rowInk(img image.Image, ink color.RGBA) (most, second int) {
	at := 0
	count := func(y int) (n int) {
		for x := range img.Bounds().Dx() {
			if r, g, b, _ := img.At(x, y).RGBA(); near(r, ink.R) && near(g, ink.G) && near(b, ink.B) {
				n++
			}
		}
		return n
	}
	for y := 100; y < img.Bounds().Dy(); y++ {
		if n := count(y); n > most {
			most, at = n, y
		}
	}
	for y := 58; y < at-20; y++ {
		second = max(second, count(y))
	}
	return most, second
}

// TestErrors checks error bars in text and in SVG, and the errors of the option error.
func TestErrors(t *testing.T) {
	var out bytes.Buffer
	err := run(t, &out, `
console.log(text({ cpu: 12.5, far: 4, none: 1 }, { width: 40, error: { cpu: 2, far: { low: 3, high: 4.5 } } }))
console.log((svg([1, 2], { error: [0.5, NaN] }).match(/M[^"]*M[^"]*M/g) ?? []).length, svg([1, 2], { kind: 'bars', error: [0.1, 0.1] }).includes('<line'))
console.log(svg([1, 2], { log: 'y', error: [3, 1] }).includes('NaN'))
for (const o of [{ error: 3 }, { error: [1] }, { error: { low: [1], high: [1, 2] } }]) try { svg([1, 2], o); console.log('no error') } catch (e) { console.log(e.message) }
for (const o of [{ error: 3 }, { error: { a: [1] } }, { error: { b: [1, 2] } }, { error: { a: 'x' } }]) try { svg({ a: [1, 2] }, o); console.log('no error') } catch (e) { console.log(e.message) }`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	for _, want := range []string{"12.5 ± 2\n", "4 (3 … 4.5)\n", " 1\n", "\n1 true\nfalse\n", "have 1 number as error for 2 values", "not 3", `an error of "b"; the names are a`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "no error") {
		t.Error(out.String())
	}
}

// ink returns the number of pixels of a color in a part of a picture.
func ink(img image.Image, part image.Rectangle, want color.RGBA) (n int) {
	for x := part.Min.X; x < part.Max.X; x++ {
		for y := part.Min.Y; y < part.Max.Y; y++ {
			if r, g, b, _ := img.At(x, y).RGBA(); near(r, want.R) && near(g, want.G) && near(b, want.B) {
				n++
			}
		}
	}
	return n
}

// TestKinds checks where histograms, boxes, groups of bars, heat maps, rooflines and equal points have ink.
func TestKinds(t *testing.T) {
	left, right := image.Rect(80, 40, 400, 240), image.Rect(400, 40, 780, 240)
	img := picture(t, "histogram", `png([1, 1, 1, 1, 2, 3], { kind: 'histogram', bins: 2, width: 400, height: 150 })`)
	if a, b := ink(img, left, blue), ink(img, right, blue); a < 30000 || a < 3*b/2 || b < 10000 {
		t.Errorf("the bars of a histogram of 4 and 2 values have %d and %d pixels", a, b)
	}
	img = picture(t, "box", `png({ a: [1, 2, 3, 4, 5, 100] }, { kind: 'box', width: 400, height: 150 })`)
	if a, b := ink(img, image.Rect(0, 0, 200, 300), color.RGBA{0x56, 0xb4, 0xe9, 255}), ink(img, image.Rect(600, 0, 800, 300), orange); a < 500 || b < 30 || b > 100 {
		t.Errorf("the box has %d pixels, the value beyond it %d", a, b)
	}
	img = picture(t, "groups", `png({ a: [1, 2], b: [2, 1] }, { kind: 'bars', labels: ['one', 'two'], width: 400, height: 150, error: { a: [0.1, 0.1] } })`)
	if a, b := ink(img, left, blue), ink(img, left, orange); b < 3*a/2 || a < 2000 {
		t.Errorf("bars of 1 and 2 have %d and %d pixels", a, b)
	}
	img = picture(t, "heat", `png({ host: [0, 1], cpu: [NaN, 0.5] }, { kind: 'heat', labels: ['host', 'cpu'], width: 400, height: 200 })`)
	all := image.Rect(60, 0, 620, 400)
	dark, bright, middle := ink(img, all, color.RGBA{68, 1, 84, 255}), ink(img, all, color.RGBA{253, 231, 37, 255}), ink(img, all, color.RGBA{33, 144, 141, 255})
	if dark < 20000 || bright < 20000 || middle < 20000 || max(dark, bright, middle) > 2*min(dark, bright, middle) {
		t.Errorf("the cells have %d, %d and %d pixels", dark, bright, middle)
	}
	large := picture(t, "large", `png(device('cpu').buffer(f32, [300, 400], i => i), { width: 400, height: 200 })`)
	if white := ink(large, image.Rect(40, 40, 400, 340), color.RGBA{255, 255, 255, 255}); white > 0 {
		t.Errorf("a matrix has gaps of %d pixels", white)
	}
	img = picture(t, "roof", `png({ a: { x: [1], y: [2] } }, { roof: { gigabytesPerSecond: 4, gigaflops: 16 }, width: 400, height: 200 })`)
	if line, dots := ink(img, img.Bounds(), orange), ink(img, image.Rect(60, 60, 780, 340), blue); line < 1000 || dots < 20 {
		t.Errorf("the roof has %d pixels, the point %d", line, dots)
	}
	img = picture(t, "equal", `png({ a: [1, 2, 3], b: [1, 2, 3] }, { kind: 'points', width: 400, height: 200 })`)
	part := image.Rect(60, 60, 780, 340)
	if a, b := ink(img, part, blue), ink(img, part, orange); a < 20 || b < 10 {
		t.Errorf("equal points have %d and %d pixels", a, b)
	}
}

// TestMarks checks that values have marks, also those without neighbors, and that error bars at one place are beside one another.
func TestMarks(t *testing.T) {
	whole := image.Rect(0, 0, 1280, 720)
	img := picture(t, "alone", `png([NaN, 3, NaN, 4, NaN], { x: [1, 2, 3, 4, 5] })`)
	if n := ink(img, whole, blue); n < 40 {
		t.Errorf("two values without neighbors have %d pixels", n)
	}
	img = picture(t, "alone-of-many", `png(Array.from({ length: 200 }, (_, i) => i === 100 ? 3 : NaN))`)
	if n := ink(img, whole, blue); n < 20 {
		t.Errorf("the only value of 200 has %d pixels", n)
	}
	img = picture(t, "beside", `png({ a: [2, 2], b: [2, 2] }, { x: [1, 10], log: 'x', error: { a: [1, 1], b: [1, 1] } })`)
	a, b := -1, -1
	for x := 900; x < 1280; x++ {
		if first, last := column(img, x, blue); last-first > 300 {
			a = x
		}
		if first, last := column(img, x, orange); last-first > 300 {
			b = x
		}
	}
	if a < 0 || b < a+4 || b > a+20 {
		t.Errorf("the error bars of two series are in columns %d and %d", a, b)
	}
	img = picture(t, "diamond", `png({ a: [1], b: [2], c: [3], d: [4] }, { kind: 'points', width: 400, height: 200 })`)
	if n := ink(img, image.Rect(60, 60, 800, 400), color.RGBA{0xcc, 0x79, 0xa7, 255}); n < 40 {
		t.Errorf("a diamond has %d pixels", n)
	}
}
