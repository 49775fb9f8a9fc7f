package source

import (
	"strings"
	"testing"
)

func TestAssigned(t *testing.T) {
	for text, want := range map[string]string{
		"const x = dev.buffer@(f32, 10)":                     "x",
		"let größe = device('cpu').buffer@(f32, 10)":         "größe",
		"x=dev\n  .buffer@(f32)":                             "x",
		"a.b = devices()[0].buffer@(f32)":                    "b",
		"const x: Buffer<f32> = dev.buffer@(f32)":            "x",
		"const x = await make@()":                            "x",
		"f({ in: dev.buffer@(f32), out: 1 })":                "in",
		"f({ in: dev.buffer(f32, 3), out: dev.buffer@(f32)":  "out",
		"const a = dev.buffer(f32, 4), b = dev.buffer@(f32)": "b",
		"// größer\nconst x = dev.buffer@(f32)":              "x",
		"f(dev.buffer@(f32))":                                "",
		"return dev.buffer@(f32)":                            "",
		"if (a == dev.buffer@(f32)) f()":                     "",
		"if (a === dev.buffer@(f32)) f()":                    "",
		"if (a <= dev.buffer@(f32)) f()":                     "",
		"list.map(i => dev.buffer@(f32))":                    "",
		"const list = [dev.buffer@(f32)]":                    "",
		"dev.buffer@(f32)":                                   "",
		"":                                                   "",
	} {
		before, _, _ := strings.Cut(text, "@")
		line := strings.Count(before, "\n") + 1
		column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
		if got := Assigned(strings.Replace(text, "@", "", 1), line, column); got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
	if got := Assigned("x", 7, 90); got != "" {
		t.Errorf("beyond the text: %q", got)
	}
}
