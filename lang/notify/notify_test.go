package notify

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestWatcher changes files in every way that editors do, beside changes in folders that are not watched.
func TestWatcher(t *testing.T) {
	dir := t.TempDir()
	sub, other := filepath.Join(dir, "sub"), filepath.Join(dir, "other")
	write := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(time.Now().String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{sub, other} {
		if err := os.Mkdir(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		write(filepath.Join(folder, "a.js"))
	}
	link := filepath.Join(dir, "link.js")
	if err := os.Symlink(filepath.Join(other, "a.js"), link); err != nil {
		if runtime.GOOS != "windows" {
			t.Fatal(err)
		}
		t.Skip("links need a privilege on Windows")
	}
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Set([]string{filepath.Join(sub, "a.js"), filepath.Join(sub, "missing.js")}); err != nil {
		t.Fatal(err)
	}
	quiet := func() {
		for {
			select {
			case <-w.Changed():
			case <-time.After(50 * time.Millisecond):
				return
			}
		}
	}
	told := func() bool {
		select {
		case <-w.Changed():
			return true
		case <-time.After(10 * time.Second):
			return false
		}
	}
	for name, change := range map[string]func(){
		"written": func() { write(filepath.Join(sub, "a.js")) },
		"replaced": func() {
			write(filepath.Join(dir, "new"))
			if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(sub, "a.js")); err != nil {
				t.Error(err)
			}
		},
		"created": func() { write(filepath.Join(sub, "missing.js")) },
		"removed": func() {
			write(filepath.Join(sub, "b.js"))
			quiet()
			if err := os.Remove(filepath.Join(sub, "b.js")); err != nil {
				t.Error(err)
			}
		},
	} {
		quiet()
		change()
		if !told() {
			t.Errorf("a file that was %s is not told", name)
		}
	}
	quiet()
	write(filepath.Join(other, "a.js"))
	select {
	case <-w.Changed():
		t.Error("a change in another folder is told")
	case <-time.After(50 * time.Millisecond):
	}
	if err := w.Set([]string{link}); err != nil {
		t.Fatal(err)
	}
	quiet()
	write(filepath.Join(other, "a.js"))
	if !told() {
		t.Error("a change behind a link is not told")
	}
	quiet()
	write(filepath.Join(sub, "a.js"))
	select {
	case <-w.Changed():
		t.Error("a change in a former folder is told")
	case <-time.After(50 * time.Millisecond):
	}
	if err := w.Set([]string{filepath.Join(dir, "none", "a.js")}); err == nil {
		t.Error("a missing folder is watched")
	}
}
