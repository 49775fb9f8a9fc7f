package tests

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// headless matches phrases for which plain English has a subject, or the field a noun.
var headless = regexp.MustCompile(`(?i)\b(gives?|nobody|whoever|so many|as said|that there are not|is no news|shall|(is|are|was|were|has|have) (what|who)|(is|says?|tells?|with) how (many|much|long|far|often))\b`)

// subjectless is a sentence that begins with a clause instead of a noun.
var subjectless = regexp.MustCompile(`^(What|Who) `)

// isResult matches comments that define a function as its result.
var isResult = regexp.MustCompile(`^\w+ (is|are) (the|a|an|its|their|all|true|those) `)

// mostWords is the maximum number of words in a sentence of a comment.
const mostWords = 25

// TestProse checks the comments of the whole tree: a doc comment starts with its identifier, sentences are short, and words
// are plain.
func TestProse(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, complaint := range proseOf(t, path) {
			t.Error(complaint)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// proseOf returns the complaints about the comments in a file.
func proseOf(t *testing.T, path string) (complaints []string) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	complain := func(pos token.Pos, format string, args ...any) {
		complaints = append(complaints, fmt.Sprintf("%s: %s", files.Position(pos), fmt.Sprintf(format, args...)))
	}
	for _, group := range f.Comments {
		text := group.Text()
		if word := headless.FindString(text); word != "" {
			complain(group.Pos(), "write a plain verb or the field's noun instead of %q", word)
		}
		for _, sentence := range sentences(text) {
			if subjectless.MatchString(sentence) {
				complain(group.Pos(), "begin a sentence with a noun: %.60s…", sentence)
			}
			if n := len(strings.Fields(sentence)); n > mostWords {
				complain(group.Pos(), "a sentence has %d words, more than %d: %.60s…", n, mostWords, sentence)
			}
		}
	}
	for _, decl := range f.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Doc.Text() != "" && !strings.HasPrefix(fn.Doc.Text(), fn.Name.Name+" ") {
			complain(fn.Pos(), "the comment of %s does not begin with its name", fn.Name.Name)
		} else if ok && fn.Type.Results != nil && isResult.MatchString(fn.Doc.Text()) {
			complain(fn.Pos(), "write that %s returns its result", fn.Name.Name)
		}
	}
	return complaints
}

// sentences splits a comment at full stops, colons, semicolons, list items and blank lines. It ignores indented text.
func sentences(text string) []string {
	var prose []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "\t") || strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "- ") {
			prose = append(prose, ". ")
		}
		if !strings.HasPrefix(line, "\t") {
			prose = append(prose, strings.TrimSpace(line)+" ")
		}
	}
	return regexp.MustCompile(`[.:;] `).Split(strings.Join(prose, ""), -1)
}

func TestProseComplains(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.go")
	text := "package bad\n\n// f gives what nobody was given.\nfunc f() {}\n\n// returns nothing.\nfunc g() {}\n\n// i is the result.\nfunc i() int { return 0 }\n\n// h " + strings.Repeat("word ", 40) + "\nfunc h() {}\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := proseOf(t, path); len(got) != 4 {
		t.Errorf("%d complaints: %q", len(got), got)
	}
}
