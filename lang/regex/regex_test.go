package regex

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
)

func units(s string) []uint16 { return utf16.Encode([]rune(s)) }

// find returns the groups of the first match as text, "-" for those without one, or "none".
func find(t *testing.T, pattern, flags, text string) string {
	t.Helper()
	f, ok := ParseFlags(flags)
	if !ok {
		t.Fatalf("flags %q", flags)
	}
	p, err := Compile(units(pattern), f)
	if err != nil {
		return "error: " + err.Error()
	}
	m := &Matcher{MostFrames: 1 << 20}
	wide := units(text)
	got, err := m.MatchUnits(p, wide, 0, f.Sticky)
	if err != nil {
		t.Fatal(err)
	}
	show := func(r []int32) string {
		if r == nil {
			return "none"
		}
		var b strings.Builder
		fmt.Fprint(&b, r[0])
		for i := 0; i < len(r); i += 2 {
			if r[i] < 0 || r[i+1] < 0 {
				b.WriteString(" -")
			} else {
				fmt.Fprintf(&b, " %s", string(utf16.Decode(wide[r[i]:r[i+1]])))
			}
		}
		return b.String()
	}
	result := show(got)
	if len(wide) == len(text) {
		got, _ := m.MatchBytes(p, []byte(text), 0, f.Sticky)
		if other := show(got); other != result {
			t.Errorf("/%s/%s on %q: %q in bytes, %q in units", pattern, flags, text, other, result)
		}
	}
	return result
}

func TestMatch(t *testing.T) {
	for _, c := range []struct{ pattern, flags, text, want string }{
		{`(?:(a)|b)*`, "", "ab", "0 ab -"},
		{`(?:(a)|(b)|(c))+`, "", "abc", "0 abc - - c"},
		{`(a*)*`, "", "b", "0  -"},
		{`(z)((a+)?(b+)?(c))*`, "", "zaacbbbcac", "0 zaacbbbcac z ac a - c"},
		{`(?=(a+))a*b\1`, "", "baaabac", "3 aba a"},
		{`(.*?)a(?!(a+)b\2c)\2(.*)`, "", "baaabaac", "0 baaabaac ba - abaac"},
		{`((a)|(ab))((c)|(bc))`, "", "abc", "0 abc a a - bc - bc"},
		{`a[a-z]{2,4}?`, "", "abcdefghi", "0 abc"},
		{`^.*$`, "m", "a\r\nb", "0 a"},
		{`^b`, "m", "a\u2028b", "2 b"},
		{`(?<=\$)(\d+)(\.\d*)?`, "", "cost $42.50", "6 42.50 42 .50"},
		{`(?<=(\d+)(\d+))$`, "", "1053", "4  1 053"},
		{`(?<=\1(.))a`, "", "bba", "2 a b"},
		{`(?<!a)b`, "", "abcb", "3 b"},
		{`(?<y>\d{4})-(?<m>\d\d)`, "", "on 2024-05", "3 2024-05 2024 05"},
		{`(?<a>x)|(?<a>y)\k<a>`, "", "yy", "0 yy - y"},
		{`\bfoo\b`, "", "a foo.", "2 foo"},
		{`\u{1F600}`, "u", "x😀", "1 😀"},
		{`[😀-😂]+`, "u", "😁😂", "0 😁😂"},
		{`^.$`, "", "😀", "none"},
		{`\ude00`, "u", "😀", "none"},
		{`\ude00`, "", "😀", "1 \ufffd"},
		{`^.$`, "u", "😀", "0 😀"},
		{`\u017f`, "i", "s", "none"},
		{`\u017f`, "iu", "s", "0 s"},
		{`[a-z]`, "i", "\u212a", "none"},
		{`\w`, "iu", "\u017f", "0 \u017f"},
		{`\W`, "iu", "\u017f", "none"},
		{`\u00df`, "i", "\u1e9e", "none"},
		{`\u00df`, "iu", "\u1e9e", "0 \u1e9e"},
		{`σ`, "i", "ς", "0 ς"},
		{`\p{Lu}+`, "u", "aÄÖb", "1 ÄÖ"},
		{`\p{Script=Greek}`, "u", "aα", "1 α"},
		{`[\p{L}--[a-z]]`, "v", "aé", "1 é"},
		{`[[a-z]&&[aeiou]]+`, "v", "xaeb", "1 ae"},
		{`^\p{RGI_Emoji}$`, "v", "👨‍👩‍👧", "0 👨‍👩‍👧"},
		{`[\q{abc|d}x]`, "v", "zabc", "1 abc"},
		{`[\q{|x}]a`, "v", "xa", "0 xa"},
		{`(?:[\q{|bc|x}])+a`, "v", "zbcxa", "1 bcxa"},
		{`[\q{|x}]`, "v", "zx", "0 "},
		{`^[^\p{Lu}]$`, "iv", "A", "none"},
		{`(?i:a)b`, "", "Ab", "0 Ab"},
		{`(?-i:a)b`, "i", "AB", "none"},
		{`(?:a{50}){50}`, "", strings.Repeat("a", 2500), "0 " + strings.Repeat("a", 2500)},
		{`^(?:ab?){2,4000}c`, "", strings.Repeat("ab", 3000) + "c", "0 " + strings.Repeat("ab", 3000) + "c"},
		{`(?:a?){30}a{30}`, "", strings.Repeat("a", 30), "0 " + strings.Repeat("a", 30)},
		{`a+?b`, "", "aaab", "0 aaab"},
		{`(?:a|b)+?c`, "", "abac", "0 abac"},
		{`\0\x41\101\cA[\b]`, "", "\x00AA\x01\b", "0 \x00AA\x01\b"},
		{`a{,2}`, "", "a{,2}", "0 a{,2}"},
		{`\c`, "", `\c`, `0 \c`},
		{`(?=a)*b`, "", "b", "0 b"},
		{`(?:){3,}x`, "", "x", "0 x"},
		{`(?:a*?)*?b`, "", "ab", "0 ab"},
		{`(a?)*?$`, "", "aa", "0 aa a"},
		{`x*`, "y", "ax", "0 "},
	} {
		if got := find(t, c.pattern, c.flags, c.text); got != c.want {
			t.Errorf("/%s/%s on %q: %q, want %q", c.pattern, c.flags, c.text, got, c.want)
		}
	}
}

// TestRefused checks that invalid patterns are errors, and that valid ones are not.
func TestRefused(t *testing.T) {
	for pattern, flags := range map[string]string{
		`(`: "", `)`: "", `[`: "", `a**`: "", `(?<a>x)(?<a>y)`: "", `\`: "", `(?<1>a)`: "", `a{2,1}`: "", `[b-a]`: "", `(?`: "", `+`: "", `{1}`: "",
		`\-`: "u", `{`: "u", `\u{110000}`: "u", `\1`: "u", `[\d-x]`: "u", `(?=a)*`: "u", `\c`: "u", `]`: "u", `(?<=a)*`: "", `\k<a>(?<b>)`: "",
		`\p{Foo}`: "u", `\p{RGI_Emoji}`: "u", `\P{RGI_Emoji}`: "v", `[^\p{RGI_Emoji}]`: "v", `[a-z&&[b]]`: "v", `[(]`: "v", `[a--b&&c]`: "v", `[!!]`: "v",
		`(?ii:a)`: "", `(?-:a)`: "", `(?i-i:a)`: "", `\00`: "u", `\08`: "u", `(?<𝒜>.)\k<𝒜`: "", `\k`: "u", `[\b-\d]`: "u", `^*`: "", `\b+`: "", `(?:a`: "",
	} {
		f, _ := ParseFlags(flags)
		if err := Check(units(pattern), f); err == nil {
			t.Errorf("/%s/%s is accepted", pattern, flags)
		}
	}
	for pattern, flags := range map[string]string{
		`(?=a)*`: "", `\1`: "", `]`: "", `\a`: "", `\_`: "", `(?<a>x)|(?<a>y)`: "", `a{`: "", `{`: "", `\k<a>`: "", `[\d-x]`: "", `\8`: "", `(?<𝒜>.)\k<𝒜>`: "",
		`(?<\u{61}>.)`: "", `[\c]`: "", `[&&&]`: "", `\u{1F600}`: "u", `[\-]`: "u", `\/`: "u", `[\&\!]`: "v", `[[a]--b]`: "v", `[]`: "v", `[^]`: "v", `\p{L}`: "",
	} {
		f, _ := ParseFlags(flags)
		if err := Check(units(pattern), f); err != nil {
			t.Errorf("/%s/%s: %v", pattern, flags, err)
		}
	}
	for _, flags := range []string{"gg", "uv", "x", "G"} {
		if _, ok := ParseFlags(flags); ok {
			t.Errorf("flags %q are accepted", flags)
		}
	}
}

// TestSteps checks that patterns that backtrack exponentially end after few steps, and that others poll.
func TestSteps(t *testing.T) {
	text := []byte(strings.Repeat("a", 3000))
	for _, pattern := range []string{`(a+)+b`, `(?:a|aa)+$b`, `(a*)*b`, `((a*)*)*b`, `(?:(?:a|a)*)+b`, `^(a|a?)+b`, `(.*)(.*)(.*)b`} {
		f, _ := ParseFlags("")
		p, err := Compile(units(pattern), f)
		if err != nil {
			t.Fatal(err)
		}
		polls := 0
		m := &Matcher{Poll: func() {
			if polls++; polls > 5000 {
				t.Fatalf("/%s/ takes more than %d steps", pattern, polls*pollSteps)
			}
		}}
		if got, err := m.MatchBytes(p, text, 0, false); err != nil || got != nil {
			t.Errorf("/%s/: %v %v", pattern, got, err)
		}
	}
	p, _ := Compile(units(`(a+)+\1b`), Flags{})
	polls := 0
	m := &Matcher{Poll: func() {
		if polls++; polls == 3 {
			panic("end")
		}
	}}
	func() {
		defer func() {
			if recover() != "end" {
				t.Error("a match did not poll")
			}
		}()
		_, _ = m.MatchBytes(p, text, 0, false)
	}()
	few := &Matcher{MostFrames: 100}
	q, _ := Compile(units(`(?:a|b)*c`), Flags{})
	if _, err := few.MatchBytes(q, text, 0, false); err != ErrTooDeep {
		t.Error("choices are not limited:", err)
	}
}
