package offload_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
)

// TestPropertyJSON writes properties and reads them back, as a remote device does.
func TestPropertyJSON(t *testing.T) {
	list := []offload.Property{
		{Name: "cache", Value: []offload.Property{{Name: "size", Unit: "bytes", Value: int64(49152)}, {Name: "share", Value: 0.5}}},
		{Name: "name", Value: "x"}, {Name: "ready", Value: true}, {Name: "none", Value: []offload.Property{}}, {Name: "nil", Value: nil},
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	var got []offload.Property
	if err := json.Unmarshal(data, &got); err != nil || !reflect.DeepEqual(got, list) {
		t.Errorf("%v, %v, want %v", err, got, list)
	}
	for _, bad := range []string{`{"name": 1}`, `{"value"`, `{"name": "x", "value": [1]}x`} {
		if err := json.Unmarshal([]byte(bad), new(offload.Property)); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
	for _, odd := range []string{`{"name": "x"}`, `{"name": "x", "value": [1, 2]}`} {
		if err := json.Unmarshal([]byte(odd), new(offload.Property)); err != nil {
			t.Errorf("%s: %v", odd, err)
		}
	}
}
