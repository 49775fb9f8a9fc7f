package std

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/orepl/orepl/lang"
)

// TestCSVEdges parses tables with unusual forms.
func TestCSVEdges(t *testing.T) {
	dir := t.TempDir()
	e, out, _ := engine(t, lang.Options{Dir: dir})
	for name, text := range map[string]string{
		"twice.csv": "a,b,a\n1,2,3\n", "proto.csv": "__proto__,b\n1,2\n", "text.csv": "id,the id\n1,2\nx,3\n", "bom.json": "\ufeff{\"a\": 1}",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := e.Run(t.Context(), "t.js", `
		import { readCSV, readJSON } from 'fs'
		const fails = async (...args) => { try { await readCSV(...args); return 'nothing' } catch (e) { return e.message + '; ' + e.hint } }
		console.log(await fails('twice.csv'))
		console.log(await fails('text.csv', { types: { ids: 'f32' } }))
		console.log(await fails('text.csv'))
		const proto = await readCSV('proto.csv', { separator: undefined, header: undefined, types: undefined, into: undefined })
		console.log(Object.keys(proto.columns).join(), Object.getOwnPropertyDescriptor(proto.columns, '__proto__').value[0])
		console.log((await readCSV('twice.csv', { header: false })).names.join())
		console.log((await readJSON('bom.json')).a)`)
	const want = `fs.readCSV: the file has more than one column "a"; give the columns names of their own, or read them by number with { header: false }
fs.readCSV: the file has no column "ids"; did you mean "id"?
read text.csv, line 3: column "id": "x" is no number; if it holds text, write readCSV(path, { types: { id: 'string' } })
__proto__,b 1
0,1,2
1
`
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out)
	}
}
