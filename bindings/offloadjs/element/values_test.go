package element

import (
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// TestIntegerLimit checks that the error of a number that is too large names the limit.
func TestIntegerLimit(t *testing.T) {
	vm := goja.New()
	for text, want := range map[string]string{"1e18": "at most 2**53", "-1": "from 0 on", "0.5": "from 0 on", "2**53": ""} {
		v, err := vm.RunString(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Integer(v)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
