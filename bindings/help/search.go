package help

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/docs"
	kerneldiag "github.com/orepl/orepl/lang/kernel/diag"
)

const (
	mostFound    = 8    // entries listed by a search
	minimumFor   = 3    // least number of letters of a word that is searched for
	severalWords = 1000 // score of a further word, above that of any one
)

// found is an entry or a section of the documentation that has the searched words.
type found struct {
	name, about string
	score       int
}

// searchAll finds the entries, error codes, diagnostics and sections of the documentation that have all words, the best first.
func searchAll(r *bindings.Registry, words []string) []found {
	var list []found
	add := func(name, about, text string) {
		if score := score(words, name, about, text); score > 0 {
			list = append(list, found{name, about, score})
		}
	}
	for _, m := range r.Modules() {
		add(m.Name, m.Help, "")
		for i := range m.Entries() {
			e := &m.Entries()[i]
			path := m.Name + "." + e.Name
			add(path, e.Summary(), e.Help+" "+e.Signature)
			for _, members := range [][]bindings.Entry{e.Members, e.Static} {
				for j := range members {
					add(e.Name+"."+members[j].Name, members[j].Summary(), members[j].Help+" "+members[j].Signature)
				}
			}
		}
	}
	for _, c := range codes {
		add(c.ID, firstSentence(c.Meaning), c.Meaning)
	}
	for _, d := range kerneldiag.Table() {
		add(string(d.ID), firstSentence(d.Meaning), d.Meaning)
	}
	for _, s := range docs.Sections.Get() {
		about := firstSentence(s.Prose())
		if s.Heading != "" {
			about = strings.TrimSuffix(s.Heading+": "+about, ": ")
		}
		if score := score(words, s.Heading+" "+s.File, about, s.Text); score > 0 {
			list = append(list, found{s.Where(), about, score})
		}
	}
	slices.SortStableFunc(list, func(a, b found) int { return cmp.Compare(b.score, a.score) })
	return list
}

// score rates how well texts match words: a name counts more than a summary, a summary more than a text. It is 0 unless each
// word begins a word of the texts.
func score(words []string, name, about, text string) int {
	total := 0
	for _, w := range words {
		s := 0
		for i, t := range []string{text, about, name} {
			switch n := beginnings(t, w); {
			case n == 0:
			case i == 0:
				s += min(n, 5)
			default:
				s += 10 * i * i
			}
		}
		if s == 0 {
			return 0
		}
		total += s
	}
	if phrase := strings.Join(words, " "); len(words) > 1 && strings.Contains(strings.ToLower(name+" "+about), phrase) {
		total += 40
	}
	return total
}

// beginnings counts the words of a text that begin with a word in lower case. A capital inside a name begins a word.
func beginnings(text, word string) (n int) {
	lower := strings.ToLower(text)
	for at := 0; ; {
		i := strings.Index(lower[at:], word)
		if i < 0 {
			return n
		}
		at += i
		before := rune(' ')
		if at > 0 {
			before = rune(lower[at-1])
		}
		if !unicode.IsLetter(before) || len(lower) == len(text) && unicode.IsUpper(rune(text[at])) {
			n++
		}
		at += len(word)
	}
}

// common are words of questions that are not searched for.
var common = []string{"how", "what", "where", "why", "the", "and", "for", "with", "can", "does", "all"}

// searchWords returns the words of a question in lower case and without plural s, except for short and common ones.
func searchWords(text string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		switch {
		case len(w) < minimumFor, slices.Contains(common, w):
		case len(w) > minimumFor+1 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
			words = append(words, w[:len(w)-1])
		default:
			words = append(words, w)
		}
	}
	return words
}

// searchAny finds what has all words or, if nothing has, what has the most of them.
func searchAny(r *bindings.Registry, words []string) []found {
	list := searchAll(r, words)
	if len(list) > 0 || len(words) < 2 {
		return list
	}
	all := map[[2]string]int{}
	for i := range words {
		for _, f := range searchAll(r, words[i:i+1]) {
			key := [2]string{f.name, f.about}
			if all[key] == 0 {
				list = append(list, f)
			}
			all[key] += f.score + severalWords
		}
	}
	for i := range list {
		list[i].score = all[[2]string{list[i].name, list[i].about}]
	}
	slices.SortStableFunc(list, func(a, b found) int { return cmp.Compare(b.score, a.score) })
	return list
}

// Search writes what the documentation has about the words of a text, below a title, and reports whether there is anything. It finds
// nothing for a text with a dot, which is a path of names.
func Search(w io.Writer, r *bindings.Registry, title, text string) bool {
	words := searchWords(text)
	if len(words) == 0 || strings.Contains(text, ".") { // a path of names
		return false
	}
	find := searchAll
	if strings.Contains(text, " ") { // a question, not a misspelled name
		find = searchAny
	}
	list := find(r, words)
	if len(list) == 0 {
		return false
	}
	fmt.Fprintf(w, "%s:\n\n", title)
	width := 0
	for _, f := range list[:min(len(list), mostFound)] {
		width = max(width, len([]rune(f.name)))
	}
	for _, f := range list[:min(len(list), mostFound)] {
		fmt.Fprintf(w, "  %-*s  %s\n", min(width, 34), f.name, f.about)
	}
	if more := len(list) - mostFound; more > 0 {
		fmt.Fprintf(w, "\n%d more; a further word narrows the search\n", more)
	}
	return true
}

// writeRecipes writes the recipes that have a word in the heading.
func writeRecipes(w io.Writer, word string) {
	before := "\n"
	for _, s := range docs.Sections.Get() {
		if s.Page == "recipes" && beginnings(s.Heading, strings.ToLower(word)) > 0 {
			fmt.Fprintf(w, "%s  %s  %s: %s\n", before, s.Where(), s.Heading, firstSentence(s.Prose()))
			before = ""
		}
	}
}

// firstSentence returns the text up to the end of its first sentence.
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	return text
}
