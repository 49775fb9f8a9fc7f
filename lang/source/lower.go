package source

import (
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/lang/nesting"
)

// lower returns a text as JavaScript without types and decorators, and the map of its offsets to those of the text. The error is a
// *[diag.Diagnostic].
func lower(name, text string, o Options) (string, *offsetMap, error) {
	loader := api.LoaderJS
	if o.TypeScript || o.Kind == Prompt {
		loader = api.LoaderTS
	}
	options := api.TransformOptions{
		Loader:         loader,
		Sourcefile:     name,
		Target:         api.ESNext,
		Charset:        api.CharsetUTF8,
		Sourcemap:      api.SourceMapExternal,
		SourcesContent: api.SourcesContentExclude,
		LogLevel:       api.LogLevelSilent,
		// Later lines of the prompt may use an import.
		TsconfigRaw: tsconfig(o.Kind),
		Supported: map[string]bool{
			"top-level-await": true,
			"decorators":      false,
			// Regular expressions are this engine's own.
			"regexp-dot-all-flag": true, "regexp-lookbehind-assertions": true, "regexp-match-indices": true, "regexp-named-capture-groups": true,
			"regexp-set-notation": true, "regexp-sticky-and-unicode-flags": true, "regexp-unicode-property-escapes": true,
		},
	}
	if needsPlain(text, nesting.Max) {
		if result := api.Transform(nesting.Plain(text), options); len(result.Errors) > 0 {
			return "", nil, lowerError(name, text, result.Errors)
		}
	}
	marked := text
	if o.Kind == Module && !moduleStatement.Get().MatchString(text) {
		marked += strictMark
	}
	result := api.Transform(marked, options)
	if len(result.Errors) > 0 {
		if again := api.Transform(text, options); len(again.Errors) > 0 { // with positions at the end of the text as written
			result = again
		}
		d := lowerError(name, text, result.Errors)
		if loader == api.LoaderJS && isTyped(result.Errors[0]) {
			d.Hint = "this is TypeScript, which is for files that end in .ts or .mts"
		}
		return "", nil, d
	}
	code := string(result.Code)
	moved, err := parseSourceMap(result.Map, code, text)
	if err != nil {
		return "", nil, diag.New("syntax", "the source map of %s is unusable: %v", name, err)
	}
	code = moved.restoreNames(code, text)
	moved.texts.generated, moved.texts.written = code, text
	return code, moved, nil
}

// tsconfig returns the options of TypeScript for a kind of text. At the prompt, later lines may use an import that is unused so far.
func tsconfig(kind Kind) string {
	if kind == Prompt {
		return `{"compilerOptions":{"verbatimModuleSyntax":true}}`
	}
	return ""
}

// strictMark makes esbuild treat a text as strict code, as modules are: otherwise functions in blocks would become variables.
// With the mark esbuild also replaces this by undefined, which no message about a kernel should show. Texts with an import or
// export are strict without the mark.
const strictMark = "\n;export {}"

// moduleStatement matches a line that begins with a statement of modules.
var moduleStatement = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*(import|export)\b`) }}

// lowerError converts esbuild's messages to one diagnostic; further errors become notes.
func lowerError(name, text string, messages []api.Message) *diag.Diagnostic {
	first := messages[0]
	pos, excerpt := place(name, text, first.Location)
	if strings.HasPrefix(first.Text, "The JSX syntax") {
		first = api.Message{Text: `Unexpected "<"`, Location: first.Location}
	}
	d := &diag.Diagnostic{
		ID: "syntax", Name: "SyntaxError", Message: strings.TrimSuffix(first.Text, ":"), Position: pos, Excerpt: excerpt,
	}
	if first.Location != nil && first.Location.Suggestion != "" {
		d.Hint = missing(first)
	}
	if strings.Contains(first.Text, "end of file") {
		d.ID = "syntax-incomplete"
	}
	for _, n := range first.Notes {
		if own(n.Text) {
			continue
		}
		pos, excerpt := place(name, text, n.Location)
		d.Notes = append(d.Notes, diag.Note{Message: n.Text, Position: pos, Excerpt: excerpt})
	}
	for _, m := range messages[1:] {
		pos, excerpt := place(name, text, m.Location)
		d.Notes = append(d.Notes, diag.Note{Message: m.Text, Position: pos, Excerpt: excerpt})
	}
	advise(d, text)
	return d
}

func place(name, text string, l *api.Location) (diag.Position, *diag.Excerpt) {
	if l == nil {
		return diag.Position{}, nil
	}
	pos := diag.InCharacters(text, diag.Position{File: name, Line: l.Line, Column: l.Column + 1})
	return pos, diag.Excerpted(text, pos, l.Length)
}
