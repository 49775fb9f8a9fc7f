package docs

import (
	"os"
	"strings"
	"testing"
)

// TestSections checks that sections have prose and that the examples which pages name exist.
func TestSections(t *testing.T) {
	files, headings := 0, 0
	for _, s := range Sections.Get() {
		switch {
		case s.File != "":
			files++
			if _, err := os.Stat("../" + s.File); err != nil || s.Text == "" {
				t.Errorf("%s of %s: %v", s.File, s.Page, err)
			}
		case s.Heading != "":
			headings++
		}
		if strings.Contains(s.Prose(), "```") {
			t.Errorf("%s, %s: prose with code", s.Page, s.Heading)
		}
	}
	if files < 20 || headings < 50 {
		t.Errorf("%d examples, %d headings", files, headings)
	}
}
