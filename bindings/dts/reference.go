package dts

import (
	"fmt"
	"strings"

	"github.com/orepl/orepl/bindings"
)

// Reference returns the reference manual in Markdown.
func Reference(r *bindings.Registry) string {
	var b strings.Builder
	b.WriteString("# Reference\n\nThe names that orepl adds to JavaScript, made from the same registry as `help()`, completion and the declarations of\n`orepl types`. `orepl help NAME` prints an entry.\n\n")
	for _, m := range r.Modules() {
		fmt.Fprintf(&b, "* [%s](#%s): %s\n", m.Name, m.Name, m.Help)
	}
	for _, m := range r.Modules() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", m.Name, m.Help)
		if note := globalsNote(&m); note != "" {
			fmt.Fprintf(&b, "\n%s\n", note)
		}
		for i := range m.Entries() {
			referenceEntry(&b, m.Name, &m.Entries()[i])
		}
		if m.Types != "" {
			fmt.Fprintf(&b, "\n### Types of %s\n\n```ts\n%s\n```\n", m.Name, strings.TrimSpace(m.Types))
		}
	}
	return b.String()
}

func globalsNote(m *bindings.Module) string {
	var notes []string
	if m.Within != "" {
		notes = append(notes, "Scripts do not import these names: kernels have them without an import.")
	} else if len(m.Globals) > 0 {
		notes = append(notes, "Global in every script: `"+strings.Join(m.Globals, "`, `")+"`.")
	}
	if len(m.PromptGlobals) > 0 {
		notes = append(notes, "Global at the prompt: `"+strings.Join(m.PromptGlobals, "`, `")+"`.")
	}
	return strings.Join(notes, " ")
}

func referenceEntry(b *strings.Builder, module string, e *bindings.Entry) {
	fmt.Fprintf(b, "\n### %s\n\n```ts\n%s\n```\n\n%s\n", e.Name, e.Signature, e.Help)
	if len(e.Members)+len(e.Static) > 0 {
		b.WriteString("\n| Member | |\n|---|---|\n")
		referenceMembers(b, "", e.Members)
		referenceMembers(b, e.Name+".", e.Static)
	}
	if e.Example != "" {
		fmt.Fprintf(b, "\n```js\n%s\n```\n", e.Example)
	}
}

func referenceMembers(b *strings.Builder, prefix string, list []bindings.Entry) {
	for i := range list {
		e := &list[i]
		signature := e.Signature
		if e.Kind == bindings.Object {
			signature = e.Name
		}
		signature, readonly := strings.CutPrefix(signature, "readonly ")
		if signature = prefix + signature; readonly {
			signature = "readonly " + signature
		}
		cell := strings.ReplaceAll(strings.ReplaceAll(signature, "|", "\\|"), "\n", "`<br>`")
		fmt.Fprintf(b, "| `%s` | %s |\n", cell, strings.ReplaceAll(e.Help, "|", "\\|"))
		if e.Kind == bindings.Object {
			referenceMembers(b, prefix+e.Name+".", e.Members)
		}
	}
}
