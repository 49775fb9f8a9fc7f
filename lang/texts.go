package lang

// texts are the compiled texts by name. Texts of files stay. Of the texts of calls only the last ones stay, because
// their number has no bound.
type texts struct {
	byName map[string]text
	given  []string // names of those that calls gave, oldest first
	size   int      // of their texts
}

type text struct {
	string
	given bool
}

// Bounds of the texts of calls that are kept.
const (
	mostTexts    = 500
	mostTextSize = 8 << 20
)

func newTexts() texts { return texts{byName: map[string]text{}} }

// get returns a text by its name, and whether it is kept.
func (t *texts) get(name string) (string, bool) {
	x, ok := t.byName[name]
	return x.string, ok
}

// set keeps a text, which a call gave or a file holds.
func (t *texts) set(name, content string, given bool) {
	old, known := t.byName[name]
	if old.given {
		t.size -= len(old.string)
	}
	if given && !old.given {
		if known { // a file has the name: its text is replaced, but the name stays
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
