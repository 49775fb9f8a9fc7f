package esm

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/later"
)

// A specifier is the string after from: the name of a builtin module, a path, or a file URL.

// IsPath reports whether a specifier is a path or a file URL, and not the name of a builtin module.
func IsPath(specifier string) bool {
	return specifier == "." || specifier == ".." || strings.HasPrefix(specifier, "./") || strings.HasPrefix(specifier, "../") ||
		strings.HasPrefix(specifier, "/") || strings.HasPrefix(specifier, "file:") || filepath.IsAbs(specifier)
}

var (
	drivePath = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]:[/\\]`) }}
	urlScheme = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[A-Za-z][A-Za-z0-9+.-]*://|(?:data|blob|javascript):)`)
	}}
)

// pathOf returns the path of a specifier that names no builtin module; a relative path stays relative. The error has the code
// invalid-argument, or is that of Builtins.UnknownModule for a bare name.
func (g *Graph) pathOf(specifier string) (string, error) {
	wrong := func(hint, format string, args ...any) (string, error) {
		return "", diag.New("invalid-argument", format, args...).WithHint("%s", hint)
	}
	switch {
	case specifier == "":
		return wrong("write the path of a file, as './file.js', or the name of a module: "+strings.Join(g.host.ModuleNames(), ", "), "the name of a module is empty")
	case strings.ContainsRune(specifier, 0):
		return wrong("a path has no such character", "the name of a module holds a NUL character: %q", specifier)
	case drivePath.Get().MatchString(specifier) && !filepath.IsAbs(specifier):
		return wrong("write a path that begins with ./ or ../, which works everywhere", "%q is an absolute path of Windows, and this is another system", specifier)
	case strings.HasPrefix(specifier, "file:"):
		return filePath(specifier)
	case urlScheme.Get().MatchString(specifier):
		return wrong("save it as a file, and import that by its path", "%q is a URL: modules are files of this machine", specifier)
	case strings.Contains(specifier, `\`) && !filepath.IsAbs(specifier):
		return wrong("write slashes, as on every system: "+strings.ReplaceAll(specifier, `\`, "/"), "the name of a module has backslashes: %q", specifier)
	case !IsPath(specifier):
		return "", g.host.UnknownModule(specifier)
	}
	return filepath.FromSlash(specifier), nil
}

// filePath returns the path of a file URL.
func filePath(specifier string) (string, error) {
	u, err := url.Parse(specifier)
	if err != nil || u.Path == "" || u.Host != "" && u.Host != "localhost" {
		return "", diag.New("invalid-argument", "%q names no file of this machine", specifier).WithHint("the URL of a file is file:// and its absolute path, as import.meta.url is")
	}
	path := u.Path
	if drivePath.Get().MatchString(strings.TrimPrefix(path, "/")) {
		path = path[1:]
	}
	return filepath.FromSlash(path), nil
}

// fileURL returns the URL of a file.
func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a path with a drive, such as C:/…
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
