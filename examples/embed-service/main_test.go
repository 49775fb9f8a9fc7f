package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestRun runs the kernel with a price for each article, and without one.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, shop{10: 2.5, 11: 4, 12: 0.75}); err != nil {
		t.Fatal(err)
	}
	if want := "2.5 8 7.5 3\n"; out.String() != want {
		t.Errorf("it printed %q, want %q", out.String(), want)
	}
	if err := run(&out, shop{10: 2.5, 11: 4}); err == nil || !strings.Contains(err.Error(), "there is no article 12") {
		t.Errorf("a missing article: %v", err)
	}
}
