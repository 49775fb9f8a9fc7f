package opencl

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// binaryOf returns the binary that the tests store under a key.
func binaryOf(key string) []byte {
	digest := sha256.Sum256([]byte(key))
	return bytes.Repeat(digest[:], 1+int(digest[0])*16)
}

func TestCache(t *testing.T) {
	c := newCache(t.TempDir())
	key := cacheKey("driver", "source")
	if other := cacheKey("drive", "rsource"); other == key {
		t.Error("two lists of parts have one key")
	}
	if c.get(key) != nil {
		t.Error("an empty cache has a binary")
	}
	want := binaryOf(key)
	if err := c.put(key, want); err != nil || !bytes.Equal(c.get(key), want) {
		t.Fatalf("the binary was not kept: %v", err)
	}
	path := filepath.Join(c.dir, key)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 200 { // each changed byte or length is detected
		damaged := bytes.Clone(whole)
		if at := rand.IntN(len(whole)); n%2 == 0 {
			damaged[at] ^= 1 << rand.IntN(8)
		} else {
			damaged = damaged[:at]
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if c.get(key) != nil {
			t.Fatalf("a damaged binary of %d of %d bytes was taken", len(damaged), len(whole))
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Fatal("a damaged file stays")
		}
	}
	if newCache("off").put(key, want) != nil || newCache("off").get(key) != nil {
		t.Error("no cache keeps a binary")
	}
}

// TestCacheIsBounded checks that a full cache keeps the most recently used binaries and removes files of ended processes.
func TestCacheIsBounded(t *testing.T) {
	c := &cache{dir: t.TempDir(), most: 100_000}
	abandoned := filepath.Join(c.dir, "new-1")
	if err := os.WriteFile(abandoned, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * staleAfter)
	if err := os.Chtimes(abandoned, long, long); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		if err := c.put(fmt.Sprint("key", i), make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		at := long.Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(filepath.Join(c.dir, fmt.Sprint("key", i)), at, at); err != nil {
			t.Fatal(err)
		}
		if c.get("key0") == nil {
			t.Fatalf("the binary in use was removed after %d", i)
		}
	}
	files, err := os.ReadDir(c.dir)
	if err != nil || len(files) > 101 || len(files) < 50 {
		t.Errorf("%d files: %v", len(files), err)
	}
	if _, err := os.Stat(abandoned); !os.IsNotExist(err) {
		t.Error("an abandoned file stays")
	}
}

const cacheFolder = "OREPL_TEST_CACHE" // runs the test binary as a process that uses a cache

// TestCacheOfKilledProcess shares a cache with a process that is killed at random, and checks that each binary read is
// complete.
func TestCacheOfKilledProcess(t *testing.T) {
	if dir := os.Getenv(cacheFolder); dir != "" {
		fmt.Println("begins")
		useCache(t, &cache{dir: dir, most: 1 << 20}, time.Hour)
		return
	}
	c := &cache{dir: t.TempDir(), most: 1 << 20}
	kills := 10
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		kills = 300
	}
	hits := 0
	for range kills {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCacheOfKilledProcess$")
		cmd.Env = append(os.Environ(), cacheFolder+"="+c.dir)
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		out := bufio.NewReader(pipe)
		if line, err := out.ReadString('\n'); line != "begins\n" {
			t.Fatalf("the process printed %q: %v", line, err)
		}
		hits += useCache(t, c, 50*time.Millisecond+time.Duration(rand.IntN(100))*time.Millisecond)
		_ = cmd.Process.Kill()
		rest, _ := io.ReadAll(out)
		if _ = cmd.Wait(); bytes.Contains(rest, []byte("FAIL")) {
			t.Fatalf("%s", rest)
		}
	}
	t.Logf("%d binaries read while %d processes were killed", hits, kills)
}

// useCache stores and reads binaries for a duration, and until it has read one. It returns the number of binaries read.
func useCache(t *testing.T, c *cache, d time.Duration) (hits int) {
	for start := time.Now(); time.Since(start) < d || hits == 0; {
		if time.Since(start) > d+time.Minute {
			t.Fatal("no binary was found")
		}
		key := cacheKey(fmt.Sprint(rand.IntN(500)))
		switch got := c.get(key); {
		case got == nil:
			if err := c.put(key, binaryOf(key)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		case !bytes.Equal(got, binaryOf(key)):
			t.Fatalf("%s has another binary", key)
		default:
			hits++
		}
	}
	return hits
}
