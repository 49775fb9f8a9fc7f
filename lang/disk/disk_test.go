package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"
)

// TestTexts lets the standard library check the file system, and the names that lead out of it.
func TestTexts(t *testing.T) {
	texts := Texts{"a.js": "1", "b/c.js": "22", "b/d/e.js": "", "b2.js": "x", "/abs.js": "", "../up.js": ""}
	if err := fstest.TestFS(texts, "a.js", "b/c.js", "b/d/e.js", "b2.js"); err != nil {
		t.Error(err)
	}
	if err := fstest.TestFS(Texts{}); err != nil {
		t.Error(err)
	}
	files := Of(texts)
	for path, want := range map[string]string{"/a.js": "1", "/../../b/./c.js": "22", "/b/../b2.js": "x"} {
		if got, err := files.ReadFile(filepath.FromSlash(path)); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for _, path := range []string{"/up.js", "/../up.js", "/etc/passwd", "/abs.js"} {
		if _, err := files.Open(filepath.FromSlash(path)); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
	if list, err := files.ReadDir(Root); len(list) != 3 || err != nil {
		t.Errorf("the root: %v, %v", list, err)
	}
}

// TestVersion changes files: with times, and without.
func TestVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.js")
	for _, c := range []struct {
		name  string
		files Files
		path  string
		write func(text string)
	}{
		{"machine", Files{}, path, func(text string) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			later := time.Now().Add(time.Duration(len(text)) * time.Second)
			if err := os.Chtimes(path, later, later); err != nil {
				t.Fatal(err)
			}
		}},
		{"texts", Of(memory), filepath.FromSlash("/a.js"), func(text string) { memory["a.js"] = text }},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := []Version{c.files.Version(c.path)}
			if seen[0] != (Version{}) {
				t.Errorf("a missing file has the version %v", seen[0])
			}
			for _, text := range []string{"", "one", "two!"} {
				c.write(text)
				now := c.files.Version(c.path)
				for i, old := range seen {
					if now == old {
						t.Errorf("%q has the version of %d", text, i)
					}
				}
				if now != c.files.Version(c.path) {
					t.Errorf("%q has two versions", text)
				}
				seen = append(seen, now)
			}
		})
	}
	memory["a.js"] = "owt!"
	if v := Of(memory).Version(filepath.FromSlash("/a.js")); v.hash == 0 {
		t.Error("equal sizes are not told apart")
	}
	if info, err := fs.Stat(memory, "a.js"); err != nil || !info.ModTime().IsZero() {
		t.Errorf("%v, %v", info, err)
	}
}

var memory = Texts{}
