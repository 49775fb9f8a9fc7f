package image

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// TestRewriteOfChangedFile refuses files that were written or replaced, with the same size, after they were read.
func TestRewriteOfChangedFile(t *testing.T) {
	cases := map[string]func(path string) error{
		"written": func(path string) error {
			if err := os.WriteFile(path, []byte("new!"), 0o600); err != nil {
				return err
			}
			later := time.Now().Add(time.Hour)
			return os.Chtimes(path, later, later)
		},
		"replaced": func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path+"2", []byte("new!"), 0o600); err != nil {
				return err
			}
			if err := os.Chtimes(path+"2", info.ModTime(), info.ModTime()); err != nil {
				return err
			}
			return os.Rename(path+"2", path)
		},
		"unchanged": func(string) error { return nil },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, out := filepath.Join(dir, "f"), filepath.Join(dir, "out")
			if err := os.WriteFile(path, []byte("old!"), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := OpenFile(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			err = f.Rewrite(out, &Edit{})
			if name == "unchanged" {
				if data, readErr := os.ReadFile(out); err != nil || readErr != nil || string(data) != "old!" {
					t.Errorf("%q, %v, %v", data, err, readErr)
				}
				return
			}
			if offload.CodeOf(err) != offload.HostIO || !strings.Contains(err.Error(), "changed") {
				t.Errorf("error %v", err)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("the result was written")
			}
		})
	}
}
