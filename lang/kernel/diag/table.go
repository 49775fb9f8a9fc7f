package diag

// Entry describes a kind of diagnostic.
type Entry struct {
	ID         ID
	Warning    bool
	Meaning    string
	Example    string // kernel text that has it
	Untestable bool   // no kernel text has it, unless the compiler is at fault
}

// Lookup returns the entry of an ID.
func Lookup(id ID) (Entry, bool) {
	for _, e := range Table {
		if e.ID == id {
			return e, true
		}
	}
	return Entry{}, false
}

// Table is all kinds of diagnostics.
var Table = []Entry{}
