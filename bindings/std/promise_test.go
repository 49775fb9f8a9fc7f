package std

import (
	"testing"

	"github.com/orepl/orepl/lang"
)

// TestErrorsRejectPromises checks that functions that return promises reject them with each error, so that catch
// receives it.
func TestErrorsRejectPromises(t *testing.T) {
	e, out, _ := engine(t, lang.Options{})
	_, err := e.Run(t.Context(), "t.js", `
		import * as fs from 'fs'
		for (const fn of [
			() => process.run('nonexistent-program'), () => process.run(), () => process.run('true', [], { get cwd() { throw 'odd' } }),
			() => fs.writeNPY('x.npy', {}), () => fs.writeJSON('x.json', { n: 1n }), () => fs.readText(), () => fs.readCSV('x', { nonsense: 1 }),
			() => fs.writeImage('x.png', { width: 2, height: 2, data: new Uint8Array(3) }),
		]) {
			const promise = fn()
			let caught = false
			await promise.catch(() => { caught = true })
			if (!caught) console.log(String(fn))
		}
		try { fs.readTextSync(); console.log('readTextSync') } catch {}
		try { await process.run('true', [], { get cwd() { throw 'odd' } }) } catch (reason) { if (reason !== 'odd') console.log(reason) }`)
	if err != nil || out.Len() > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
