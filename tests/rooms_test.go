package tests

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The marks around the table of rooms in ARCHITECTURE.md.
const (
	roomsBegin = "<!-- rooms: OREPL_UPDATE=1 go test ./tests -run TestRooms writes them from the comments of packages -->\n"
	roomsEnd   = "<!-- end of rooms -->\n"
)

// roomHead matches the beginning of a package comment.
var roomHead = regexp.MustCompile(`^(Package|Command) [\w-]+ (is |are )?`)

// docLink matches a link of a doc comment.
var docLink = regexp.MustCompile(`\[([\w.]+)\]`)

// roomsOf returns the table of packages. list has a line for each: path, number of files besides tests, and first sentence of its
// comment, separated by tabs.
func roomsOf(list string) (table string, err error) {
	var b strings.Builder
	b.WriteString("| room | what it is |\n|---|---|\n")
	for line := range strings.Lines(list) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		path := strings.TrimPrefix(strings.TrimPrefix(parts[0], module), "/")
		if parts[1] == "0" {
			continue // tests only
		}
		if path == "" {
			path = "orepl"
		}
		text := parts[2]
		if !roomHead.MatchString(text) {
			return "", fmt.Errorf("%s has no package comment, which is its line in the table of rooms of ARCHITECTURE.md", path)
		}
		text = docLink.ReplaceAllString(roomHead.ReplaceAllString(text, ""), "`$1`")
		fmt.Fprintf(&b, "| `%s` | %s |\n", path, strings.ReplaceAll(strings.TrimSuffix(text, "."), "|", `\|`))
	}
	return b.String(), nil
}

// TestRooms compares the table of rooms in ARCHITECTURE.md with the packages of the module. With OREPL_UPDATE=1 it writes the
// table.
func TestRooms(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}\t{{len .GoFiles}}\t{{.Doc}}", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	want, err := roomsOf(string(out))
	if err != nil {
		t.Fatal(err)
	}
	const file = "../ARCHITECTURE.md"
	text := readText(t, file)
	before, rest, ok1 := strings.Cut(text, roomsBegin)
	got, after, ok2 := strings.Cut(rest, roomsEnd)
	switch {
	case !ok1 || !ok2:
		t.Fatalf("%s lacks the marks around the table of rooms", file)
	case got == want:
	case os.Getenv("OREPL_UPDATE") == "1":
		if err := os.WriteFile(file, []byte(before+roomsBegin+want+roomsEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table of rooms in %s is not that of the packages: run OREPL_UPDATE=1 go test ./tests -run TestRooms", file)
	}
}

func TestRoomsComplain(t *testing.T) {
	if _, err := roomsOf(module + "/a\t1\t\n"); err == nil {
		t.Error("a package without a comment is accepted")
	}
	got, err := roomsOf(module + "/a/b\t1\tPackage b is the [queue.Lane] of x.\n" + module + "/tests\t0\t\n")
	if want := "| room | what it is |\n|---|---|\n| `a/b` | the `queue.Lane` of x |\n"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
}
