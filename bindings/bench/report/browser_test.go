//go:build linux

package report

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// browser is a headless Chromium with one page, driven by the DevTools protocol over pipes.
type browser struct {
	t       *testing.T
	in      *os.File
	out     *bufio.Reader
	session string
	calls   int
	events  []message
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// browse starts the browser. Tests without one are skipped; tests/run installs it for long runs.
func browse(t *testing.T) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip(err)
	}
	theirs, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.ExtraFiles = []*os.File{theirs, answers} // 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	answers.Close()
	b := &browser{t: t, in: in, out: bufio.NewReader(out)}
	overdue := time.AfterFunc(4*time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		_, _ = in.Write([]byte(`{"id":1000000,"method":"Browser.close"}` + "\x00"))
		late := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		late.Stop()
		overdue.Stop()
		in.Close()
		out.Close()
	})
	var target struct {
		TargetID string `json:"targetId"`
	}
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call calls a method of the protocol and waits for its result.
func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	b.calls++
	out := map[string]any{"id": b.calls, "method": method}
	if params != nil {
		out["params"] = params
	}
	if b.session != "" {
		out["sessionId"] = b.session
	}
	text, err := json.Marshal(out)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		m := b.receive()
		if m.ID != b.calls {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// receive returns the next message, and keeps events.
func (b *browser) receive() (m message) {
	b.t.Helper()
	text, err := b.out.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser ended: %v", err)
	}
	if err := json.Unmarshal(bytes.TrimRight(text, "\x00"), &m); err != nil {
		b.t.Fatal(err)
	}
	if m.ID == 0 {
		b.events = append(b.events, m)
	}
	return m
}

// open shows a file in a window of a size, in a light or dark scheme.
func (b *browser) open(file string, width, height int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	b.events = nil
	b.call("Page.navigate", map[string]any{"url": "file://" + file}, nil)
	for !slices.ContainsFunc(b.events, func(m message) bool { return m.Method == "Page.loadEventFired" }) {
		b.receive()
	}
}

// evaluate returns the value of an expression in the page.
func evaluate[T any](b *browser, expression string) (value T) {
	b.t.Helper()
	var result struct {
		Result struct {
			Value T `json:"value"`
		} `json:"result"`
		Details *struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &result)
	if result.Details != nil {
		b.t.Fatalf("%s: %s", expression, result.Details.Text)
	}
	return result.Result.Value
}

// picture returns a picture of the whole page, and keeps it in the folder of OREPL_TEST_PICTURES.
func (b *browser) picture(name string) image.Image {
	b.t.Helper()
	var result struct {
		Data string `json:"data"`
	}
	b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &result)
	data, err := base64.StdEncoding.DecodeString(result.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if dir := os.Getenv("OREPL_TEST_PICTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		b.t.Fatal(err)
	}
	return img
}

// mouse sends an event of the mouse at a point of the window.
func (b *browser) mouse(kind string, x, y float64, more map[string]any) {
	b.t.Helper()
	event := map[string]any{"type": kind, "x": x, "y": y}
	for k, v := range more {
		event[k] = v
	}
	b.call("Input.dispatchMouseEvent", event, nil)
}

// click clicks at the middle of the first element that a selector matches.
func (b *browser) click(selector string, count int) {
	b.t.Helper()
	at := evaluate[[]float64](b, fmt.Sprintf(`(e => { e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })(document.querySelector(%q))`, selector))
	for n := 1; n <= count; n++ {
		button := map[string]any{"button": "left", "clickCount": n}
		b.mouse("mousePressed", at[0], at[1], button)
		b.mouse("mouseReleased", at[0], at[1], button)
	}
}

// contrast returns the texts whose contrast to what is behind them is below that of WCAG's level AA, which is 4.5.
const contrast = `(() => {
  const light = c => { const [r, g, b] = c.match(/[\d.]+/g).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b }
  const low = []
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || e.closest('script,style,title')) continue
    const style = getComputedStyle(e), ink = e instanceof SVGElement ? style.fill : style.color
    let paper = 'rgb(0,0,0)'
    for (let p = e; p; p = p.parentElement) {
      const c = getComputedStyle(p).backgroundColor
      if (c !== 'rgba(0, 0, 0, 0)') { paper = c; break }
    }
    const [a, b] = [light(ink), light(paper)].sort((x, y) => y - x), ratio = (a + .05) / (b + .05)
    if (ratio < 4.5) low.push(e.tagName + ' ' + e.textContent.slice(0, 20) + ' ' + ratio.toFixed(2))
  }
  return low.slice(0, 10)
})()`

// outside returns the texts of charts that leave their chart or are too small to read, and pairs of labels of an axis that overlap.
const outside = `(() => {
  const bad = []
  for (const svg of document.querySelectorAll('svg.chart')) {
    const whole = svg.getBoundingClientRect(), ticks = [...svg.querySelectorAll('text.tick')].map(e => [e, e.getBoundingClientRect()])
    for (const e of svg.querySelectorAll('text')) {
      const r = e.getBoundingClientRect()
      if (r.left < whole.left - 1 || r.right > whole.right + 1 || r.top < whole.top - 1 || r.bottom > whole.bottom + 1) bad.push('outside: ' + e.textContent)
      const size = parseFloat(getComputedStyle(e).fontSize) * svg.getScreenCTM().a
      if (size < 9) bad.push('of ' + size.toFixed(1) + ' pixels: ' + e.textContent)
    }
    ticks.forEach(([a, r], i) => { for (const [b, s] of ticks.slice(i + 1)) if (r.left < s.right - 1 && s.left < r.right - 1 && r.top < s.bottom - 2 && s.top < r.bottom - 2) bad.push('overlap: ' + a.textContent + ' ' + b.textContent) })
  }
  return bad.slice(0, 10)
})()`

// TestBrowser shows the report in Chromium: light and dark, wide and narrow, with and without its script.
func TestBrowser(t *testing.T) {
	b := browse(t)
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(render(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	paper := map[string]color.RGBA{"light": {255, 255, 255, 255}, "dark": {0x16, 0x16, 0x16, 255}}
	for _, width := range []int{1280, 380} {
		for _, scheme := range []string{"light", "dark"} {
			name := fmt.Sprintf("%s-%d", scheme, width)
			b.open(file, width, 800, scheme)
			if img := b.picture(name); color.RGBAModel.Convert(img.At(2, 2)) != paper[scheme] {
				t.Errorf("%s: the paper is %v", name, img.At(2, 2))
			}
			if wide := evaluate[int](b, "document.documentElement.scrollWidth"); wide > width {
				t.Errorf("%s: the page is %d pixels wide", name, wide)
			}
			for _, check := range []string{contrast, outside} {
				if list := evaluate[[]string](b, check); len(list) > 0 {
					t.Errorf("%s: %s", name, strings.Join(list, "; "))
				}
			}
			b.quiet(name, file)
		}
	}
	b.sorts(file)
	b.zooms(file)

	b.open(file, 1280, 800, "light")
	with := b.picture("script")
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	b.open(file, 1280, 800, "light")
	without := b.picture("no-script")
	if with.Bounds() != without.Bounds() {
		t.Errorf("without the script the page has %v pixels, with it %v", without.Bounds(), with.Bounds())
	}
	differ := 0
	for y := range with.Bounds().Dy() {
		for x := range with.Bounds().Dx() {
			if with.At(x, y) != without.At(x, y) {
				differ++
			}
		}
	}
	if all := with.Bounds().Dx() * with.Bounds().Dy(); differ > all/100 { // the headings of tables are buttons
		t.Errorf("without the script %d of %d pixels differ", differ, all)
	}
}

// quiet expects no message of the page, and no request besides its file.
func (b *browser) quiet(name, file string) {
	b.t.Helper()
	for _, m := range b.events {
		switch m.Method {
		case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
			b.t.Errorf("%s: %s %s", name, m.Method, m.Params)
		case "Network.requestWillBeSent":
			if !strings.Contains(string(m.Params), "file://"+file) {
				b.t.Errorf("%s: the page requests %s", name, m.Params)
			}
		}
	}
}

// sorts clicks on the heading of the medians.
func (b *browser) sorts(file string) {
	b.t.Helper()
	b.open(file, 1280, 800, "light")
	const heading = "section:nth-of-type(4) table.sortable th:nth-child(2) button"
	const medians = `[...document.querySelector('section:nth-of-type(4) table.sortable').tBodies[0].rows].map(r => r.cells[1].dataset.key).filter(k => k !== '').map(Number)`
	before := evaluate[[]float64](b, medians)
	if len(before) != 37 || slices.IsSorted(before) {
		b.t.Fatalf("%d medians: %v", len(before), before)
	}
	b.click(heading, 1)
	if after := evaluate[[]float64](b, medians); len(after) != 37 || !slices.IsSorted(after) {
		b.t.Errorf("after a click: %v", after)
	}
	b.click(heading, 1)
	after := evaluate[[]float64](b, medians)
	slices.Reverse(after)
	if len(after) != 37 || !slices.IsSorted(after) {
		b.t.Errorf("after two clicks, reversed: %v", after)
	}
	if order := evaluate[string](b, fmt.Sprintf("document.querySelector(%q).parentElement.ariaSort", heading)); order != "descending" {
		b.t.Errorf("the order is %q", order)
	}
}

// zooms turns the wheel over a chart, with and without a key, drags it, and clicks on a name.
func (b *browser) zooms(file string) {
	b.t.Helper()
	const box = `document.querySelector('svg.chart').getAttribute('viewBox')`
	b.open(file, 1280, 800, "light")
	at := evaluate[[]float64](b, `(e => { e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })(document.querySelector('svg.chart'))`)
	whole := evaluate[string](b, box)
	b.mouse("mouseWheel", at[0], at[1], map[string]any{"deltaX": 0, "deltaY": -100})
	if now := evaluate[string](b, box); now != whole {
		b.t.Errorf("the wheel alone zooms: %s", now)
	}
	at = evaluate[[]float64](b, `(e => { e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })(document.querySelector('svg.chart'))`)
	b.mouse("mouseWheel", at[0], at[1], map[string]any{"deltaX": 0, "deltaY": -100, "modifiers": 2})
	zoomed := evaluate[string](b, box)
	width := func(box string) (w float64) {
		var x, y, h float64
		_, _ = fmt.Sscan(box, &x, &y, &w, &h)
		return w
	}
	if !(width(zoomed) < width(whole)*0.9) {
		b.t.Errorf("with Ctrl the wheel zooms from %s to %s", whole, zoomed)
	}
	b.picture("zoomed")
	b.mouse("mousePressed", at[0], at[1], map[string]any{"button": "left", "buttons": 1, "clickCount": 1})
	b.mouse("mouseMoved", at[0]+50, at[1], map[string]any{"button": "left", "buttons": 1})
	b.mouse("mouseReleased", at[0]+50, at[1], map[string]any{"button": "left", "clickCount": 1})
	if moved := evaluate[string](b, box); moved == zoomed || width(moved) != width(zoomed) {
		b.t.Errorf("dragged from %s to %s", zoomed, moved)
	}
	for n := 1; n <= 2; n++ {
		b.mouse("mousePressed", at[0], at[1], map[string]any{"button": "left", "clickCount": n})
		b.mouse("mouseReleased", at[0], at[1], map[string]any{"button": "left", "clickCount": n})
	}
	if now := evaluate[string](b, box); now != whole {
		b.t.Errorf("after a double click: %s, not %s", now, whole)
	}
	b.click("svg.chart .legend", 1)
	if n := evaluate[int](b, `document.querySelectorAll('svg.chart [data-series].off').length`); n == 0 {
		b.t.Error("a click on a name hides nothing")
	}
	b.quiet("zooms", file)
}
