package orepl

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/orepl/orepl/bindings/config"
	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/schema"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/spelling"
	contract "github.com/orepl/orepl/runtime/offload"
)

// Settings are a value of type T, and the source of each of its fields.
type Settings[T any] struct {
	Value T

	defaults T
	fields   []config.Field
	from     map[string]string // places by the setting's name; those with the default are absent
}

// Source has values of settings, see [Load].
type Source struct {
	at    func(f *config.Field) string // where the source would set the field; "" if it cannot
	apply func(ctx context.Context, fields []config.Field, to reflect.Value, from map[string]string) error
}

// Load fills a struct from its defaults and then from each source; later sources take precedence. It then checks the rules of
// the tags `check:"…"`, see package bindings/config. A field with `orepl:"name,required"` must be set by a source. If all
// values fit, Load last calls the method Check() error of T or *T, if there is one. The error has every value that does not
// fit, each with its source and name.
func Load[T any](ctx context.Context, defaults T, sources ...Source) (*Settings[T], error) {
	if err := diag.CheckContext(ctx); err != nil {
		return nil, err
	}
	s, err := SettingsOf(defaults)
	if err != nil {
		return nil, err
	}
	to := reflect.ValueOf(&s.Value).Elem()
	var failed []error
	for i, source := range sources {
		if source.apply == nil {
			return nil, contract.Errorf(contract.InvalidArgument, "load", "the source %d is none, but the zero value", i+1).
				WithHint("FromScript, FromValues, FromEnvironment and FromFlags return sources")
		}
		if err := source.apply(ctx, s.fields, to, s.from); err != nil {
			failed = append(failed, err)
		}
	}
	complete := len(failed) == 0
	for i := range s.fields {
		f := &s.fields[i]
		from := s.from[f.Name()]
		switch {
		case from == "" && !complete: // the source that failed may set it
			continue
		case from == "" && f.IsMissing(to):
			failed = append(failed, unset(f, sources, f.Name()+" is missing"))
			continue
		}
		for _, err := range f.Check(to) {
			if from == "" {
				failed = append(failed, unset(f, sources, fmt.Sprintf("the default of %v", err)))
				continue
			}
			failed = append(failed, fmt.Errorf("%s: %w", from, err))
		}
	}
	if own, ok := any(&s.Value).(interface{ Check() error }); ok && len(failed) == 0 { // values that fit by themselves
		if err := own.Check(); err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) > 0 {
		return nil, errors.Join(failed...)
	}
	return s, nil
}

// unset returns the error of a setting that no source sets: what is wrong, and where to set it.
func unset(f *config.Field, sources []Source, what string) error {
	var places []string
	for _, source := range sources {
		if at := source.at(f); at != "" {
			places = append(places, at)
		}
	}
	if len(places) == 0 {
		return errors.New(what + ": no source sets it")
	}
	return fmt.Errorf("%s: set it in %s", what, spelling.Or(places))
}

// SettingsOf returns the defaults as settings, unchecked, to describe them. It returns an error if T is no struct, two fields have
// the same name, or a rule is wrong.
func SettingsOf[T any](defaults T) (*Settings[T], error) {
	fields, err := config.Fields(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	s := &Settings[T]{Value: defaults, defaults: defaults, fields: fields, from: map[string]string{}}
	config.Detach(reflect.ValueOf(&s.Value).Elem())
	config.Detach(reflect.ValueOf(&s.defaults).Elem())
	return s, nil
}

// Schema returns the settings as JSON Schema (draft 2020-12) with a title. [Load] accepts a file that the schema accepts and that
// keeps the rules in x-check, which the schema cannot express. Secrets are write-only and have no default.
func (s *Settings[T]) Schema(title string) []byte {
	return schema.SettingsJSON(title, s.fields, reflect.ValueOf(&s.defaults).Elem())
}

// TypeScript returns the declaration of an interface of this name. It describes the exports of a script that [FromScript] runs.
func (s *Settings[T]) TypeScript(name string) string {
	return schema.SettingsTypeScript(name, s.fields)
}

// Markdown returns a table of the settings: name, type, default, rules and meaning.
func (s *Settings[T]) Markdown() string {
	return schema.SettingsMarkdown(s.fields, reflect.ValueOf(&s.defaults).Elem())
}

// String returns the table that [Settings.Write] writes, so that printed settings show no secret.
func (s *Settings[T]) String() string {
	var b strings.Builder
	_ = s.Write(&b) // a Builder accepts all
	return b.String()
}

// From returns where a setting such as "server.port" comes from: a position in a script, a line of a file, an environment
// variable, a flag, or "the default". It returns "" for an unknown name.
func (s *Settings[T]) From(name string) string {
	if from := s.from[name]; from != "" {
		return from
	}
	for i := range s.fields {
		if s.fields[i].Name() == name {
			return "the default"
		}
	}
	return ""
}

// Write writes a table of the settings: name, value, source and meaning. Values of secret fields are hidden.
func (s *Settings[T]) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	of := reflect.ValueOf(&s.Value).Elem()
	for i := range s.fields {
		f := &s.fields[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", f.Name(), f.Text(of), s.From(f.Name()), f.Doc)
	}
	return t.Flush()
}

// FromScript returns the exports of a script, run in an engine, as a source. Exports without a field are allowed unless they
// resemble one. Settings in the default export are an error.
func FromScript(e *Engine, path string) Source {
	return Source{in(path), func(ctx context.Context, fields []config.Field, to reflect.Value, from map[string]string) error {
		if e == nil {
			return contract.Errorf(contract.InvalidArgument, "load", "FromScript: the engine is nil").On("", path)
		}
		if path == "" {
			return contract.Errorf(contract.InvalidArgument, "load", "FromScript: the path of the script is empty")
		}
		module, err := e.RunFile(ctx, path)
		var d *diag.Diagnostic
		switch {
		case errors.As(err, &d) && d.ID == "not-found" && !d.Position.IsValid() && !lang.WasCut(ctx, err): // not the file of an import
			return diag.New(d.ID, "%s: there is no such file", path).WithHint("create it, or leave this source of settings out")
		case err != nil:
			return withoutCode(err, fields)
		}
		var failed []error
		if err := module.noDefault(ctx, path, fields); err != nil {
			failed = append(failed, err)
		}
		for i := range fields {
			f := &fields[i]
			v := module
			for _, name := range f.Path {
				if v, err = v.Get(ctx, name); err != nil || v.IsUndefined() {
					break
				}
			}
			if err != nil || v.IsUndefined() { // the decoding of the whole reports what is no object
				continue
			}
			one := reflect.New(f.Type)
			if !f.IsSimplePointer() { // else the value would be stored in the variable of the defaults
				one.Elem().Set(f.Of(to))
			}
			if err := v.decode(ctx, one.Interface(), convert.DecodeApart); err != nil { // others hold the pointers of the defaults
				kind, _ := v.Kind(ctx) // else unknown, which is no kind
				failed = append(failed, misfitOf(f, fields, v.place(path), kind, err))
				continue
			}
			f.Ref(to).Set(one.Elem())
			from[f.Name()] = v.place(path)
		}
		whole := reflect.New(to.Type())
		if err := module.decode(ctx, whole.Interface(), convert.DecodeSome); err != nil && len(failed) == 0 {
			var d *diag.Diagnostic // such as a property that no field takes
			if errors.As(err, &d) {
				shown := *d
				hideCode(&shown, fields)
				err = &shown
			}
			failed = append(failed, err)
		}
		return errors.Join(failed...)
	}}
}

// noDefault returns an error if a module's settings are in its default export, which no field takes.
func (v *Value) noDefault(ctx context.Context, path string, fields []config.Field) error {
	if slices.ContainsFunc(fields, func(f config.Field) bool { return f.Path[0] == "default" }) {
		return nil
	}
	value, err := v.Get(ctx, "default")
	if err != nil || value.IsUndefined() {
		return err
	}
	names, err := value.Keys(ctx)
	if err != nil { // no object, which holds no settings
		return nil
	}
	for i := range fields {
		if slices.Contains(names, fields[i].Path[0]) {
			return diag.New("invalid-argument", "%s: settings are exports with their names, and %s is in the default export", value.place(path), fields[i].Path[0]).
				WithHint("write export const %s = …", fields[i].Path[0])
		}
	}
	return nil
}

// misfitOf returns err, the error of a field's decoding, with the name of the field. If err is no diagnostic, it is returned as
// it is, unless the field is secret. The error of a secret field has the value's kind, but no part of the value and no code of
// the script.
func misfitOf(f *config.Field, fields []config.Field, place string, kind Kind, err error) error {
	var d *diag.Diagnostic
	switch {
	case f.Secret:
		return fmt.Errorf("%s: .%s: %s; the value is secret and not shown", place, f.Name(), f.Concealed(string(kind)))
	case !errors.As(err, &d):
		return err
	}
	named := *d
	if strings.HasPrefix(d.Message, ".") || strings.HasPrefix(d.Message, "[") { // a part of the value
		named.Message = "." + f.Name() + d.Message
	} else {
		named.Message = "." + f.Name() + ": " + d.Message
	}
	hideCode(&named, fields)
	return &named
}

// hideCode removes the code from a diagnostic if a setting is secret, since its value may be near.
func hideCode(d *diag.Diagnostic, fields []config.Field) {
	if holdSecret(fields) {
		d.Excerpt = nil
	}
}

// withoutCode returns an error of a script, without excerpts of its code if a setting is secret.
func withoutCode(err error, fields []config.Field) error {
	var d *diag.Diagnostic
	if !errors.As(err, &d) || !holdSecret(fields) {
		return err
	}
	var list diag.List
	for _, one := range diag.All(err) {
		bare := *one
		bare.Excerpt, bare.Notes = nil, slices.Clone(bare.Notes)
		for i := range bare.Notes {
			bare.Notes[i].Excerpt = nil
		}
		list = append(list, &bare)
	}
	return list.Err()
}

func holdSecret(fields []config.Field) bool {
	return slices.ContainsFunc(fields, func(f config.Field) bool { return f.Secret || convert.HoldsSecret(f.Type) })
}

// place returns the position of the value in its module's source, or path if the position is unknown.
func (v *Value) place(path string) string {
	if v.exports != nil && len(v.steps) > 0 {
		name, _ := v.steps[0].(string)
		if at := v.engine.Locate(v.exports, name, v.steps[1:]); at.IsValid() {
			return at.String()
		}
	}
	return path
}

// FromValues returns the values of a data file as a source. The fields of a struct are a map in the map. Names without a field are
// errors. Read of package bindings/config/files returns the arguments for files of JSON, TOML and YAML. Values may be those of Go,
// such as a time.Duration or a []string. A value that is nil leaves its field unchanged. If err is not nil, [Load] fails with it.
func FromValues(name string, values map[string]any, err error) Source {
	return Source{in(name), func(_ context.Context, fields []config.Field, to reflect.Value, from map[string]string) error {
		var located interface{ Bare() string } // an error of the syntax, which may show some of the text
		if errors.As(err, &located) && holdSecret(fields) {
			return errors.New(located.Bare())
		}
		if err != nil {
			return err
		}
		failed := unknownNames(name, "", values, fields)
		for i := range fields {
			f := &fields[i]
			var value any = values
			for _, part := range f.Path {
				bare, _ := config.Bare(value)
				group, ok := tableOf(bare)
				if value = nil; ok {
					value = group[part]
				}
			}
			bare, line := config.Bare(value)
			if bare == nil {
				continue
			}
			if err := f.Assign(to, value); err != nil {
				var misfit *config.Misfit
				if errors.As(err, &misfit) {
					line = misfit.Line
				}
				failed = append(failed, fmt.Errorf("%s: %s: %w", lineOf(name, line), f.Name(), err))
				continue
			}
			from[f.Name()] = lineOf(name, line)
		}
		return errors.Join(failed...)
	}}
}

// lineOf returns a place in a file; the line 0 is unknown.
func lineOf(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s: line %d", file, line)
}

// unknownNames returns an error for each name that is no field and has none below it. It also returns one for each group of
// fields whose value is neither nil nor a map. above is the prefix of the names in values: "" or one that ends in a dot.
func unknownNames(file, above string, values map[string]any, fields []config.Field) (failed []error) {
	for _, key := range sortedKeys(values) {
		name := above + key
		var known []string
		leaf, group := false, false
		for i := range fields {
			known = append(known, fields[i].Name())
			leaf = leaf || fields[i].Name() == name
			group = group || strings.HasPrefix(fields[i].Name(), name+".")
		}
		value, line := config.Bare(values[key])
		below, isGroup := tableOf(value)
		switch {
		case group && isGroup:
			failed = append(failed, unknownNames(file, name+".", below, fields)...)
		case group && value == nil: // an empty section of YAML
		case group:
			failed = append(failed, fmt.Errorf("%s: %s: expected a table of settings", lineOf(file, line), name))
		case !leaf:
			near := ""
			if n := spelling.Nearest(name, known); n != "" {
				near = ": did you mean " + n + "?"
			}
			failed = append(failed, fmt.Errorf("%s: there is no setting %s%s", lineOf(file, line), name, near))
		}
	}
	return failed
}

// tableOf returns a table of settings as a map[string]any. value is a map of any type whose keys are strings, or a pointer to one. For
// other values, such as nil and a nil pointer, tableOf returns false.
func tableOf(value any) (map[string]any, bool) {
	all, ok := config.General(value).(map[string]any)
	return all, ok
}

// FromEnvironment returns environment variables as a source: PREFIX_SERVER_MAX_SIZE is the field server.maxSize. Unset variables
// leave their fields. A list is written a,b and a map x=1,y=2. Other variables with the prefix are errors if they name a struct,
// or are a letter away from a setting that is not set. With the prefix "" they are ignored.
func FromEnvironment(prefix string) Source {
	at := func(f *config.Field) string { return "the environment variable " + variable(prefix, f.Path) }
	return Source{at, func(_ context.Context, fields []config.Field, to reflect.Value, from map[string]string) error {
		var failed []error
		known := map[string]string{} // fields by variable
		for i := range fields {
			f := &fields[i]
			name := variable(prefix, f.Path)
			text, ok := os.LookupEnv(name)
			if other := known[name]; other != "" {
				failed = append(failed, fmt.Errorf("the fields %s and %s have the same environment variable %s: rename one by a tag orepl:\"name\"", other, f.Name(), name))
				continue
			}
			if known[name] = f.Name(); !ok {
				continue
			}
			if err := f.Set(to, text); err != nil {
				failed = append(failed, fmt.Errorf("the environment variable %s: %w", name, err))
				continue
			}
			from[f.Name()] = at(f)
		}
		failed = append(failed, ofGroups(prefix, fields, known)...)
		return errors.Join(append(failed, misspelt(prefix, fields)...)...)
	}}
}

// ofGroups returns an error for each variable that would set a whole struct. known has the variables of settings. Without a
// prefix it returns nil.
func ofGroups(prefix string, fields []config.Field, known map[string]string) (failed []error) {
	if prefix == "" { // names such as HOME are those of others
		return nil
	}
	seen := map[string]bool{}
	for i := range fields {
		for n := 1; n < len(fields[i].Path); n++ {
			group := fields[i].Path[:n]
			name := variable(prefix, group)
			if _, ok := os.LookupEnv(name); !ok || seen[name] || known[name] != "" {
				continue
			}
			seen[name] = true
			var inner []string
			for j := range fields {
				if path := fields[j].Path; len(path) > n && slices.Equal(path[:n], group) {
					inner = append(inner, variable(prefix, path))
				}
			}
			failed = append(failed, fmt.Errorf("the environment variable %s: %s is a group of settings: set %s", name, strings.Join(group, "."), spelling.Or(inner)))
		}
	}
	return failed
}

// misspelt returns an error for each variable with the prefix that is no setting, but a letter away from one that is not set.
// Without a prefix it returns nil.
func misspelt(prefix string, fields []config.Field) (failed []error) {
	if prefix == "" { // all variables of the process have it
		return nil
	}
	var known, missing []string
	for i := range fields {
		name := variable(prefix, fields[i].Path)
		known = append(known, name)
		if _, set := os.LookupEnv(name); !set {
			missing = append(missing, name)
		}
	}
	variables := os.Environ()
	slices.Sort(variables)
	for _, line := range variables {
		name, _, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, prefix+"_") || slices.Contains(known, name) {
			continue
		}
		if near := spelling.OneEdit(name, missing); near != "" {
			failed = append(failed, fmt.Errorf("the environment variable %s: there is no such setting: did you mean %s?", name, near))
		}
	}
	return failed
}

// in returns a function that returns the file as the place of each setting.
func in(file string) func(*config.Field) string { return func(*config.Field) string { return file } }

// variable returns the name of a field's environment variable. A word begins at each capital (A to Z), but capitals in a row are one
// word. If another character follows them, their last one begins a word: baseURL is BASE_URL, and URLOfX is URL_OF_X.
func variable(prefix string, path []string) string {
	var b strings.Builder
	for i, part := range path {
		if i > 0 {
			b.WriteByte('_')
		}
		for j, r := range part {
			if j > 0 && isCapital(part, j) && (!isCapital(part, j-1) || j+1 < len(part) && !isCapital(part, j+1)) {
				b.WriteByte('_')
			}
			b.WriteString(strings.ToUpper(string(r)))
		}
	}
	if prefix == "" {
		return b.String()
	}
	return prefix + "_" + b.String()
}

// isCapital reports whether the byte at i is a letter of A to Z.
func isCapital(name string, i int) bool { return name[i] >= 'A' && name[i] <= 'Z' }

// FromFlags returns flags of a command line as a source: -server.port=8080 sets the field server.port. It defines them in a set,
// whose other flags are parsed, too. The flag of a list or map replaces the value of earlier sources, and adds to it if
// repeated. The help of the set shows the value that a setting has without its flag. Secrets have flags only if their tag says
// `orepl:"name,flag"`, since others see the command lines of programs. The error is flag.ErrHelp if the arguments ask for help.
func FromFlags(set *flag.FlagSet, arguments []string) Source {
	at := func(f *config.Field) string {
		if !f.Flag {
			return ""
		}
		return "the flag -" + f.Name()
	}
	return Source{at, func(_ context.Context, fields []config.Field, to reflect.Value, from map[string]string) error {
		if set == nil {
			return contract.Errorf(contract.InvalidArgument, "load", "FromFlags: the set of flags is nil").WithHint("pass flag.CommandLine or flag.NewFlagSet(…)")
		}
		var failed []error
		for i := range fields {
			f := &fields[i]
			if !f.Flag {
				continue
			}
			if set.Lookup(f.Name()) != nil { // else the set panics
				failed = append(failed, fmt.Errorf("%s: the set has another flag of this name: rename it, or the field by a tag orepl:\"name\"", at(f)))
				continue
			}
			given := false
			set.Var(&setting{f.Type.Kind() == reflect.Bool, shownDefault(f, to), func(text string) error {
				store := f.Set
				if given {
					store = f.Add
				}
				given = true
				if err := store(to, text); err != nil {
					failed = append(failed, fmt.Errorf("the flag -%s: %w", f.Name(), err))
					return nil // reported with the others
				}
				from[f.Name()] = at(f)
				return nil
			}}, f.Name(), flagHelp(f))
		}
		if len(failed) > 0 {
			return errors.Join(failed...)
		}
		if err := set.Parse(arguments); err != nil {
			failed = append(failed, err)
		}
		return errors.Join(failed...)
	}}
}

// setting is the flag of a setting, a flag.Value.
type setting struct {
	isBool bool
	text   string // of the default
	set    func(text string) error
}

// String returns the default. Package flag also calls it for the zero value.
func (s *setting) String() string { return s.text }

func (s *setting) Set(text string) error { return s.set(text) }

func (s *setting) IsBoolFlag() bool { return s.isBool }

// shownDefault returns the text of a setting before flags are parsed. It returns "" for a secret, a zero value, and an empty list
// or map.
func shownDefault(f *config.Field, to reflect.Value) string {
	if v := f.Of(to); f.Secret || v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0 {
		return ""
	}
	return f.Text(to)
}

// flagHelp returns what a flag means, with the rules of its values.
func flagHelp(f *config.Field) string {
	if f.Tag() == "" {
		return f.Doc
	}
	return strings.TrimSpace(f.Doc + " (" + f.Tag() + ")")
}

// FormatErrors returns the text of each error that err joins, or of err itself. Texts of diagnostics include the code around
// their position.
func FormatErrors(err error) []string {
	all := diag.All(err)
	list := make([]string, len(all))
	for i, d := range all {
		list[i] = diag.Format(d, false)
	}
	return list
}
