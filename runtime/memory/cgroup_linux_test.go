package memory

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestControlGroups(t *testing.T) {
	const none = math.MaxInt64
	v2, v1 := "sys/fs/cgroup/", "sys/fs/cgroup/memory/"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"no groups", nil, none},
		{"no limit", map[string]string{"proc/self/cgroup": "0::/a\n", v2 + "a/memory.max": "max\n", v2 + "a/memory.current": "5\n"}, none},
		{"its own", map[string]string{"proc/self/cgroup": "0::/a/b\n", v2 + "a/b/memory.max": "100\n", v2 + "a/b/memory.current": "30\n"}, 70},
		{"one around it", map[string]string{"proc/self/cgroup": "0::/a/b\n",
			v2 + "a/b/memory.max": "100\n", v2 + "a/b/memory.current": "30\n",
			v2 + "a/memory.max": "100\n", v2 + "a/memory.current": "90\n"}, 10},
		{"files in memory", map[string]string{"proc/self/cgroup": "0::/a\n", v2 + "a/memory.max": "100\n", v2 + "a/memory.current": "90\n",
			v2 + "a/memory.stat": "anon 50\ninactive_file 25\n"}, 35},
		{"used up", map[string]string{"proc/self/cgroup": "0::/a\n", v2 + "a/memory.max": "100\n", v2 + "a/memory.current": "110\n"}, 0},
		{"in a container", map[string]string{"proc/self/cgroup": "0::/not/to/be/seen\n", v2 + "memory.max": "100\n", v2 + "memory.current": "40\n"}, 60},
		{"version 1", map[string]string{"proc/self/cgroup": "3:cpu:/x\n4:memory:/a\n0::/\n", v1 + "a/memory.limit_in_bytes": "100\n",
			v1 + "a/memory.usage_in_bytes": "60\n", v1 + "a/memory.stat": "total_inactive_file 20\n"}, 60},
	} {
		root := t.TempDir()
		for name, text := range c.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := groupAvailable(root); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
