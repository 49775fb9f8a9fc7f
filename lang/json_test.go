package lang

import "testing"

// TestJSONOfCollections checks the JSON of results that have no elements in JSON, and of those that have.
func TestJSONOfCollections(t *testing.T) {
	e, _ := testEngine(t, Options{})
	for text, want := range map[string]string{
		"new Map([[1, 2]])":                                          "{}",
		"[new Set([1]), { m: new Map([['a', 1]]) }]":                 `[{},{"m":{}}]`,
		"Object.assign(new Map([[1, 2]]), { z: 1 })":                 `{"z":1}`,
		"[new Int8Array([1, 2]), new BigInt64Array([3n])]":           `[[1,2],["3"]]`,
		"[undefined, NaN, -0, 5n, () => 1, Symbol('s'), /a/]":        `[null,null,0,"5",null,null,{}]`,
		"Object.keys(Object.assign(new Map(), { length: 2e15 }))":    `["length"]`, // no typed array of this length
		"({ ...Object.assign(new Map([[1, 2]]), { length: 9e9 }) })": `{"length":9000000000}`,
	} {
		v, err := e.Eval(t.Context(), "json", text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := e.JSON(t.Context(), v); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}
