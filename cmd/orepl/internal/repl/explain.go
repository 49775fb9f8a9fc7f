package repl

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orepl/orepl/bindings/offloadjs/launch"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/spelling"
)

// keptKernels is the maximum number of compiled kernels that .explain keeps.
const keptKernels = 200

// noteCompiled records a compiled kernel. It replaces an earlier one with the same name and signature, and keeps the newest
// keptKernels.
func (p *prompt) noteCompiled(c launch.Compilation) {
	p.compiledMu.Lock()
	defer p.compiledMu.Unlock()
	p.compiled = slices.DeleteFunc(p.compiled, func(old launch.Compilation) bool {
		return old.Name == c.Name && signature(old.Kernel) == signature(c.Kernel)
	})
	p.compiled = append(p.compiled, c)
	p.compiled = p.compiled[max(0, len(p.compiled)-keptKernels):]
}

// signature returns a kernel's parameters with their types.
func signature(k *kernel.Compiled) string {
	list := make([]string, len(k.Params))
	for i := range k.Params {
		list[i] = k.Params[i].Name + ": " + paramType(&k.Params[i])
	}
	return "(" + strings.Join(list, ", ") + ")"
}

func paramType(k *kernel.Param) string {
	if k.Rank == 0 {
		return k.Type.String()
	}
	return k.Elem.String() + strings.Repeat("[]", k.Rank)
}

func (p *prompt) explain(args string) error {
	p.compiledMu.Lock()
	all := slices.Clone(p.compiled)
	p.compiledMu.Unlock()
	args, force := strings.CutPrefix(args, "-f ")
	name, form, _ := strings.Cut(strings.TrimSpace(args), " ")
	form, file, _ := strings.Cut(strings.TrimSpace(form), " ")
	if name == "" {
		if len(all) == 0 {
			return diag.New("not-found", "no kernel was compiled yet").WithHint("a kernel is compiled when it is launched, or when it is written with a signature")
		}
		for _, c := range all {
			p.printf("%s%s\n", p.paint(bold, c.Name), signature(c.Kernel))
		}
		return nil
	}
	emit := p.Emit[form]
	if form == "" {
		emit = func(c launch.Compilation) (string, error) { return c.Explain(), nil }
	}
	if emit == nil {
		forms := slices.Sorted(maps.Keys(p.Emit))
		return diag.New("invalid-argument", "%q is no form of a kernel", form).WithHint("the forms are %s", strings.Join(forms, ", "))
	}
	var names []string
	var found []launch.Compilation
	for _, c := range all {
		names = append(names, c.Name)
		if c.Name == name {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		d := diag.New("not-found", "no kernel %s was compiled", name)
		if near := spelling.Nearest(name, names); near != "" {
			return d.WithHint("did you mean %s?", near)
		}
		return d.WithHint("a kernel is compiled when it is launched; .explain lists those that were")
	}
	var text strings.Builder
	for _, c := range found {
		part, err := emit(c)
		if err != nil {
			return err
		}
		text.WriteString(part)
	}
	if file = strings.TrimSpace(file); file != "" {
		path, err := p.engine.WritePath(home(file))
		if err != nil {
			return err
		}
		if err := writeNew(path, text.String(), force); err != nil {
			return orReplace(fileError("write", file, err), err, fmt.Sprintf(".explain -f %s %s %s", name, form, file))
		}
		p.printf("%s\n", p.paint(gray, fmt.Sprintf("wrote %d lines to %s", strings.Count(text.String(), "\n"), file)))
		return nil
	}
	_, rows := p.term.Size()
	shown, left := cut(text.String(), screens*rows)
	_ = p.flow(func(b *bytes.Buffer) error { b.WriteString(shown); return nil })
	if left > 0 {
		p.printf("%s\n", p.paint(gray, fmt.Sprintf("… %d more lines; .explain %s %s FILE writes all of them to a file", left, name, form)))
	}
	return nil
}

// screens is the number of screens to which .explain cuts its output. Output that is at most a quarter longer is not cut.
const screens = 5

// cut returns the first lines of a text and the number of omitted lines. It does not cut if at most lines/4 would be omitted.
func cut(text string, lines int) (first string, left int) {
	left = strings.Count(text, "\n") - lines
	if left <= lines/4 {
		return text, 0
	}
	at := 0
	for range lines {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	return text[:at], left
}
