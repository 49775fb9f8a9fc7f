package columns

import "testing"

func TestOf(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "größe": 5, "gro\u0308ße": 5, "日本": 4, "a日b": 4, "😀": 2, "é\u200d": 1, "한글": 4, "ｱ": 1, "Ａ": 2, "→": 1, "\x1b[31mred\x1b[0m": 3, "\x1b[1;31m日\x1b[0m!": 3,
	} {
		if got := Of(text); got != want {
			t.Errorf("%q: %d, expected %d", text, got, want)
		}
	}
	if got := Pad("日", 4) + "|"; got != "日  |" {
		t.Errorf("%q", got)
	}
}
