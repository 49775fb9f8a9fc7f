package tests

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// unused is a word that names of some rooms avoid.
type unused struct {
	word    string
	rooms   []string
	instead string
}

// unusedWords returns the words of the glossary's table of words that are not used.
func unusedWords(page string) (list []unused) {
	_, table, _ := strings.Cut(page, "## Words that are not used")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 3 || !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| word ") {
			continue
		}
		for _, word := range strings.Split(strings.TrimPrefix(cells[0], "| "), ", ") {
			list = append(list, unused{word, strings.Split(cells[1], ", "), strings.TrimSuffix(cells[2], " |")})
		}
	}
	return list
}

// wordsOf returns the words of a name in lower case: "CtxGathered" has ctx and gathered.
func wordsOf(name string) (words []string) {
	runes, start := []rune(name), 0
	for i := 1; i <= len(runes); i++ {
		ends := i == len(runes) || runes[i] == '_' || unicode.IsUpper(runes[i]) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if ends {
			if word := strings.Trim(strings.ToLower(string(runes[start:i])), "_"); word != "" {
				words = append(words, word)
			}
			start = i
		}
	}
	return words
}

// namesOf returns complaints about the names that a file declares. room is its folder.
func namesOf(files *token.FileSet, f *ast.File, room string, list []unused) (complaints []string) {
	check := func(ids ...*ast.Ident) {
		for _, id := range ids {
			all := wordsOf(id.Name)
			for i, word := range all {
				pair := word
				if i+1 < len(all) {
					pair += all[i+1]
				}
				for _, u := range list {
					for _, r := range u.rooms {
						if (u.word == word || u.word == pair) && below(room, r) {
							complaints = append(complaints, fmt.Sprintf("%s: the name %s has the word %q, which docs/GLOSSARY.md replaces here by: %s", files.Position(id.Pos()), id.Name, u.word, u.instead))
						}
					}
				}
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			check(n.Name)
		case *ast.TypeSpec:
			check(n.Name)
		case *ast.ValueSpec:
			check(n.Names...)
		case *ast.Field:
			check(n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					if id, ok := e.(*ast.Ident); ok {
						check(id)
					}
				}
			}
		}
		return true
	})
	return complaints
}

// TestNames compares the declared names of the tree with the words that the glossary replaces.
func TestNames(t *testing.T) {
	list := unusedWords(readText(t, "../docs/GLOSSARY.md"))
	if len(list) < 10 {
		t.Fatalf("the glossary has %d words that are not used", len(list))
	}
	for _, room := range shapedRooms {
		err := filepath.WalkDir(room, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			f, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			for _, complaint := range namesOf(files, f, strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../"), list) {
				t.Error(complaint)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestNamesComplain(t *testing.T) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "a.go", "package a\ntype warpSize int\nfunc f(stackRows int) { gathered := 1; _ = gathered; shuffle := 2; _ = shuffle }\nvar Warped, CtxGathered int\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	list := []unused{{"warp", []string{"x"}, "subgroup"}, {"stackrows", []string{"x/y"}, "rows"}, {"gathered", []string{"x"}, "assembled"}}
	if got := namesOf(files, f, "x/y", list); len(got) != 4 {
		t.Errorf("%d complaints: %q", len(got), got)
	}
	if got := namesOf(files, f, "z", list); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if got := fmt.Sprint(wordsOf("newPTXModule2"), wordsOf("a_b")); got != "[new ptx module2] [a b]" {
		t.Error(got)
	}
}
