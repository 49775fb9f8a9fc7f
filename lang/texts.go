package lang

// texts holds the compiled texts by name. It keeps the texts of all files, but only the latest texts of calls, whose number is
// unbounded.
type texts struct {
	byName map[string]text
	given  []string // names of the texts of calls, oldest first
	size   int      // total size of those texts in bytes
}

type text struct {
	string
	given bool
}

// Maximum number and total size of the kept texts of calls.
const (
	mostTexts    = 500
	mostTextSize = 8 << 20
)

func newTexts() texts { return texts{byName: map[string]text{}} }

// get returns a text by name and reports whether it is kept.
func (t *texts) get(name string) (string, bool) {
	x, ok := t.byName[name]
	return x.string, ok
}

// set stores the text of a call or of a file.
func (t *texts) set(name, content string, given bool) {
	old, known := t.byName[name]
	if old.given {
		t.size -= len(old.string)
	}
	if given && !old.given {
		if known { // a file with the same name: the text is replaced, the entry stays
			given = false
		} else {
			t.given = append(t.given, name)
		}
	}
	given = given || old.given
	if given {
		t.size += len(content)
	}
	t.byName[name] = text{content, given}
	for len(t.given) > mostTexts || t.size > mostTextSize && len(t.given) > 1 {
		t.size -= len(t.byName[t.given[0]].string)
		delete(t.byName, t.given[0])
		t.given = t.given[1:]
	}
}
