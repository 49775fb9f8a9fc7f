package wording

import "testing"

func TestWithArticle(t *testing.T) {
	for class, want := range map[string]string{
		"Buffer": "a Buffer", "Int16Array": "an Int16Array", "Uint8Array": "a Uint8Array", "URL": "a URL", "Event": "an Event",
	} {
		if got := WithArticle(class); got != want {
			t.Errorf("WithArticle(%q) = %q, not %q", class, got, want)
		}
	}
}
