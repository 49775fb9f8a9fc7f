package image

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/orepl/orepl/runtime/offload"
)

const (
	archiveHeader = 60
	maxMemberName = 4096
)

var (
	magicArchive = []byte("!<arch>\n")
	magicThin    = []byte("!<thin>\n")
)

// member is a file of an archive. The contents of a thin archive's member are in another file.
type member struct {
	name             string
	body             *input // nil in a thin archive, until it is resolved
	headerAt, bodyAt uint64
	padded           bool // a padding byte follows, for an even size
}

// archive reads the members of an ar archive in order, with long names in GNU or BSD spelling.
type archive struct {
	in    *input
	thin  bool
	at    uint64
	names []byte // the GNU table of long names

	symbolTables []symbolTable
}

// next returns the next member that is a regular file, or nil at the end.
func (a *archive) next() (*member, error) {
	for a.at < a.in.size {
		at := a.at
		head, err := a.in.slice(at, archiveHeader)
		if err != nil {
			return nil, fmt.Errorf("archive member at byte %d: its header is truncated", at)
		}
		m, err := a.member(head)
		if err != nil {
			return nil, fmt.Errorf("archive member at byte %d: %w", at, err)
		}
		if m != nil {
			return m, nil
		}
	}
	return nil, nil
}

// member parses a header and skips the member's contents. It returns nil for symbol and name tables.
func (a *archive) member(head []byte) (*member, error) {
	start := a.at
	a.at += archiveHeader
	bodyAt := a.at
	if head[58] != '`' || head[59] != '\n' {
		return nil, fmt.Errorf("its header does not end in %q", "`\n")
	}
	field := strings.TrimRight(string(head[48:58]), " ")
	size, err := strconv.ParseUint(field, 10, 63)
	if err != nil {
		return nil, fmt.Errorf("its size is %q", field)
	}
	name := strings.TrimRight(string(head[:16]), " ")
	table := name == "/" || name == "//" || name == "/SYM64/"
	if a.thin && !table {
		if name, err = a.longName(name); err != nil {
			return nil, err
		}
		return &member{name: name}, nil
	}
	body, err := a.in.part(a.at, size)
	if err != nil {
		return nil, err
	}
	a.at += size
	padded := size&1 == 1 && a.at < a.in.size
	if padded {
		a.at++
	}
	switch {
	case name == "//":
		a.names, err = body.all()
		return nil, err
	case table:
		a.symbolTables = append(a.symbolTables, symbolTable{bodyAt, size, wordOf(name), false})
		return nil, nil
	case strings.HasPrefix(name, "#1/"):
		n, err := strconv.ParseUint(name[3:], 10, 16)
		if err != nil || n > maxMemberName {
			return nil, fmt.Errorf("its name is %q", name)
		}
		long, err := body.slice(0, n)
		if err != nil {
			return nil, fmt.Errorf("its name: %w", err)
		}
		if name, err = a.in.left.text(bytes.TrimRight(long, "\x00")); err != nil {
			return nil, err
		}
		if body, err = body.part(n, size-n); err != nil {
			return nil, err
		}
		bodyAt += n
	default:
		if name, err = a.longName(name); err != nil {
			return nil, err
		}
	}
	if strings.HasPrefix(name, "__.SYMDEF") {
		a.symbolTables = append(a.symbolTables, symbolTable{bodyAt, body.size, wordOf(name), true})
		return nil, nil
	}
	return &member{name, body, start, bodyAt, padded}, nil
}

// wordOf returns the word size in bytes of the symbol table with a name: /, /SYM64/, __.SYMDEF or __.SYMDEF_64.
func wordOf(name string) int {
	if strings.Contains(name, "64") {
		return 8
	}
	return 4
}

// longName resolves GNU spellings of names: a name with a final slash, or a slash and an offset in the name table.
func (a *archive) longName(name string) (string, error) {
	if !strings.HasPrefix(name, "/") {
		return strings.TrimSuffix(name, "/"), nil
	}
	offset, err := strconv.ParseUint(name[1:], 10, 63)
	if err != nil || offset >= uint64(len(a.names)) {
		return "", fmt.Errorf("its name is %q, with a table of %d bytes", name, len(a.names))
	}
	rest := a.names[offset:]
	rest = rest[:min(len(rest), maxMemberName+1)]
	end := bytes.IndexByte(rest, '\n')
	if end < 0 {
		return "", fmt.Errorf("the name at %d of the name table has no end within %d bytes", offset, maxMemberName)
	}
	return a.in.left.text(bytes.TrimSuffix(rest[:end], []byte("/")))
}

// readArchive appends the images of an archive's members. It skips plain host objects and files of unknown format if another
// member holds device code, or held it.
func (r Reader) readArchive(lib *offload.Library, label string, in *input) error {
	a := &archive{in: in, thin: in.has(magicThin), at: uint64(len(magicArchive))}
	first := len(lib.Images)
	host := make(map[*offload.Image]bool)
	members, embeds := 0, false
	for {
		m, err := a.next()
		if err != nil {
			return err
		}
		if m == nil {
			break
		}
		if m.body == nil {
			if m.body, err = r.resolve(label, m.name); err != nil {
				return err
			}
		}
		if in.left.images--; in.left.images < 0 {
			return fmt.Errorf("more than %d images and members", maxEntryCount)
		}
		n := len(lib.Images)
		name := fmt.Sprintf("%s(%s)", label, m.name)
		embedded, err := readMember(lib, name, m.body)
		members++
		embeds = embeds || embedded
		switch {
		case err != nil:
			img := &offload.Image{Label: name, Unusable: located(name, err)}
			lib.Images = append(lib.Images[:n], img)
			host[img] = !m.body.has(magicELF) && !m.body.has(magicOffload) && !isBundled(m.body)
		case !embedded:
			host[lib.Images[n]] = isHostFile(m.body)
		}
	}
	if members == 0 {
		return fmt.Errorf("the archive has no members")
	}
	if !embeds && !slices.ContainsFunc(lib.Images[first:], func(img *offload.Image) bool { return !host[img] }) {
		return nil
	}
	lib.Images = append(lib.Images[:first], slices.DeleteFunc(lib.Images[first:], func(img *offload.Image) bool { return host[img] })...)
	return nil
}

// readMember appends the images of a member, and reports whether the member embeds them. An archive within an archive is an error.
func readMember(lib *offload.Library, label string, in *input) (embedded bool, err error) {
	if in.has(magicArchive) || in.has(magicThin) {
		return false, fmt.Errorf("an archive within an archive is not searched; unpack it")
	}
	return readSingle(lib, label, in)
}

// resolve reads the contents of a thin archive's member. It returns an error if r has no Resolve.
func (r Reader) resolve(label, name string) (*input, error) {
	if r.Resolve == nil {
		return nil, invalid(label, "the archive is thin: it has the path of %s, not its contents", name).
			WithHint("make an archive with contents, by llvm-ar without --thin")
	}
	data, err := r.Resolve(name)
	if err != nil {
		return nil, &offload.Error{Code: offload.HostIO, Op: "read thin archive", Label: fmt.Sprintf("%s(%s)", label, name), Err: err}
	}
	return newInput(data), nil
}
