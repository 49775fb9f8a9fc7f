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

// TestNumbersAmongNames checks that numbers in the second argument of JSON.stringify are names of properties.
func TestNumbersAmongNames(t *testing.T) {
	e, _ := testEngine(t, Options{})
	const text = "JSON.stringify({ 1: 'a', 5: 'b', 1.5: 'c', x: { 5: 1, y: 2 } }, [5, 'x', Object(1), 1.5, '5'])"
	v, err := e.Eval(t.Context(), "json", text)
	if want := `{"5":"b","x":{"5":1},"1":"a","1.5":"c"}`; err != nil || v.String() != want {
		t.Errorf("got %v, %v, want %s", v, err, want)
	}
}
