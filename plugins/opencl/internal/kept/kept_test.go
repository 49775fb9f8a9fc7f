package kept

import (
	"slices"
	"testing"
)

func TestPool(t *testing.T) {
	var released []int
	p := New(100, func(b int) error { released = append(released, b); return nil })
	small, large := Class{Size: 40}, Class{Flags: 1, Size: 40}
	for i, c := range []Class{small, large, small} { // the third exceeds 100 bytes
		if err := p.Keep(c, i); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(released, []int{2}) {
		t.Errorf("released %v", released)
	}
	if b, ok := p.Take(large); !ok || b != 1 {
		t.Errorf("took %d, %v", b, ok)
	}
	if _, ok := p.Take(large); ok {
		t.Error("took a block twice")
	}
	if n, err := p.Trim(); n != 1 || err != nil {
		t.Errorf("trimmed %d, %v", n, err)
	}
	if _, ok := p.Take(small); ok {
		t.Error("took a released block")
	}
	if err := p.End(); err != nil {
		t.Fatal(err)
	}
	if err := p.Keep(small, 3); err != nil || !slices.Equal(released, []int{2, 0, 3}) {
		t.Errorf("released %v, %v", released, err)
	}
}
