package app

import (
	"flag"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/orepl/orepl/lang/spelling"
)

// Patterns of the error messages of package flag.
var (
	unknownFlag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^flag provided but not defined: --?(.+)$`) })
	emptyFlag   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^flag needs an argument: --?(.+)$`) })
	wrongValue  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^invalid (?:boolean )?value "(.*)" for (?:flag )?--?([\w-]+): `)
	})
)

// flagError returns the error for an invalid flag, with a suggestion.
func (inv *invocation) flagError(err error) error {
	help := "see orepl help " + inv.command()
	if m := unknownFlag().FindStringSubmatch(err.Error()); m != nil {
		var names []string
		inv.flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
		if near := spelling.Nearest(m[1], names); near != "" {
			help = fmt.Sprintf("did you mean %s? %s", dashed(near), help)
		}
		return &usageError{"there is no flag " + dashed(m[1]), help}
	}
	if m := emptyFlag().FindStringSubmatch(err.Error()); m != nil {
		return &usageError{dashed(m[1]) + " needs a value", help}
	}
	if m := wrongValue().FindStringSubmatch(err.Error()); m != nil {
		return inv.valueError(m[2], m[1], help)
	}
	return &usageError{err.Error(), help}
}

// dashed returns a flag's form on the command line.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// valueError returns the error for a flag whose value has the wrong type.
func (inv *invocation) valueError(name, value, help string) error {
	kind, hint := "another value", help
	if f, ok := inv.flags.Lookup(name).Value.(interface {
		Wants() (kind, examples string)
	}); ok {
		var examples string
		kind, examples = f.Wants()
		hint = fmt.Sprintf(examples, "--"+name)
	}
	if f, ok := inv.flags.Lookup(name).Value.(flag.Getter); ok {
		switch f.Get().(type) {
		case bool:
			kind, hint = "true or false", fmt.Sprintf("--%s alone means true", name)
		case int, uint, uint64:
			kind = "an integer from 0 on"
		case time.Duration:
			kind, hint = "a time", fmt.Sprintf("write a unit behind the number, as in --%s 30s, 500ms or 5m", name)
		}
	}
	return &usageError{fmt.Sprintf("--%s needs %s, not %q", name, kind, value), hint}
}

// noWarningsFlag is the flag that disables warnings of scripts.
const noWarningsFlag = "no-warnings"

// noWarnings defines noWarningsFlag and returns the variable that parsing sets.
func (inv *invocation) noWarnings() *bool {
	return inv.flags.Bool(noWarningsFlag, false, "print no warnings, such as those of results that may differ from JavaScript's")
}
