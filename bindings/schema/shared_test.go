package schema

import "testing"

// TestShared checks which patterns of Go become patterns of JSON Schema.
func TestShared(t *testing.T) {
	for pattern, want := range map[string]bool{
		`^[a-z]+$`: true, `^\d{2,4}-\w{3}$`: true, `a\{2`: true, `^v[0-9]{1,}\.x$`: true, `(a|b)*?`: true,
		`\s`: false, `\S+`: false, `a\12`: false, `\0`: false, `a{`: false, `{x}`: false, `a{,2}`: false, `(?i)a`: false, `\pL`: false, `(`: false,
	} {
		if shared(pattern) != want {
			t.Errorf("%s: %v", pattern, !want)
		}
	}
}
