// Package recording writes the commands of a program with their images, arguments and data to a file, and runs such a file again.
//
// A file is a ZIP archive: recording.json, and each distinct content under its SHA-256 in the folder data.
package recording

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/orepl/orepl/runtime/offload"
)

// version is the version of the format.
const version = 1

// content is the name of some bytes in the archive: their SHA-256. Empty: zeros, or unknown.
type content string

// manifest is recording.json. Numbers of libraries, memories and queues are positions in the lists.
type manifest struct {
	Version   int       `json:"version"`
	Libraries []library `json:"libraries"`
	Memories  []memory  `json:"memories"`
	Queues    []queue   `json:"queues"`
	Commands  []command `json:"commands"`
}

type library struct {
	Label  string  `json:"label"`
	Images []image `json:"images"`
}

type image struct {
	Kind      offload.ImageKind `json:"kind"`
	Target    string            `json:"target,omitempty"`
	Arch      string            `json:"arch,omitempty"`
	Label     string            `json:"label,omitempty"`
	Producers string            `json:"producers,omitempty"`
	Data      content           `json:"data"`
}

// memory is the memory of a buffer with its contents before the first command and after the last one.
type memory struct {
	Label  string  `json:"label"`
	Device string  `json:"device"`
	Size   int64   `json:"size"`
	Type   string  `json:"type"` // of the elements, for messages
	Before content `json:"before,omitempty"`
	After  content `json:"after,omitempty"` // empty if the buffer was freed
}

type queue struct {
	Device string `json:"device"`
	Label  string `json:"label"`
}

// view is a buffer in a memory. An empty type stands for records.
type view struct {
	Memory int    `json:"memory"`
	Offset int64  `json:"offset,omitempty"` // in bytes
	Type   string `json:"type,omitempty"`
	Elem   int    `json:"elem"` // size of an element in bytes
	Dims   []int  `json:"dims"` // extents in elements
}

type rect struct {
	Origin []int `json:"origin"`
	Extent []int `json:"extent"`
}

type command struct {
	Kind   string  `json:"kind"`
	Queue  int     `json:"queue"`
	Launch *launch `json:"launch,omitempty"`
	Dst    *view   `json:"dst,omitempty"`
	Src    *view   `json:"src,omitempty"`
	At     int64   `json:"at,omitempty"`
	Origin []int   `json:"origin,omitempty"`
	Rect   *rect   `json:"rect,omitempty"`
	Data   content `json:"data,omitempty"`
	Bytes  int64   `json:"bytes,omitempty"` // of data
	Behind int     `json:"behind,omitempty"`
}

type launch struct {
	Library     int                `json:"library"`
	Kernel      string             `json:"kernel"`
	As          *offload.Signature `json:"as,omitempty"`
	Size        [3]int             `json:"size"`
	Group       []int              `json:"group,omitempty"`
	Checks      offload.Checks     `json:"checks,omitempty"`
	Shared      int                `json:"shared,omitempty"`
	Cooperative bool               `json:"cooperative,omitempty"`
	Teams       int                `json:"teams,omitempty"`
	ThreadLimit int                `json:"threadLimit,omitempty"`
	Args        []argument         `json:"args"`
}

// argument is a buffer, a struct by value, or a scalar with its bits in hexadecimal.
type argument struct {
	Buffer *view  `json:"buffer,omitempty"`
	Struct []byte `json:"struct,omitempty"`
	Type   string `json:"type,omitempty"`
	Bits   string `json:"bits,omitempty"`
}

// Bounds of files. Sizes of the manifest, a content and a memory are in bytes.
const (
	manifestName  = "recording.json"
	mostManifest  = 1 << 28
	mostContent   = 1 << 32
	mostMemory    = 1 << 40
	mostCommands  = 1 << 20
	mostDimension = 1<<31 - 1
)

// contents are the distinct contents of a file.
type contents map[content][]byte

// add adds a content and returns its name, or returns "" if all bytes are zero.
func (c contents) add(data []byte) content {
	if !slices.ContainsFunc(data, func(b byte) bool { return b != 0 }) {
		return ""
	}
	return c.keep(data)
}

// keep adds a content and returns its name.
func (c contents) keep(data []byte) content {
	sum := sha256.Sum256(data)
	name := content(hex.EncodeToString(sum[:]))
	c[name] = data
	return name
}

// write writes the archive.
func (m *manifest) write(out io.Writer, c contents) error {
	z := zip.NewWriter(out)
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	file, err := z.Create(manifestName)
	if err == nil {
		_, err = file.Write(text)
	}
	names := make([]content, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err != nil {
			return err
		}
		if file, err = z.Create("data/" + string(name)); err == nil {
			_, err = file.Write(c[name])
		}
	}
	return errors.Join(err, z.Close())
}

// File is an opened recording.
type File struct {
	manifest
	archive *zip.Reader
	sums    map[content]*zip.File
}

// damaged returns the error of a file that is no recording, or a damaged one.
func damaged(format string, args ...any) error {
	return offload.Errorf(offload.InvalidBinary, "replay", "the file is no recording: "+format, args...).WithHint("record(FILE, fn) in a script writes recordings")
}

// Read reads a recording and checks it. Errors: InvalidBinary for data that is no recording, Unsupported for one of a newer format.
func Read(in io.ReaderAt, size int64) (*File, error) {
	z, err := zip.NewReader(in, size)
	if err != nil {
		return nil, damaged("it is no ZIP archive")
	}
	f := &File{archive: z, sums: map[content]*zip.File{}}
	found := false
	for _, e := range z.File {
		if e.Name == manifestName {
			text, err := extract(e, mostManifest)
			if err != nil {
				return nil, err
			}
			if err := json.Unmarshal(text, &f.manifest); err != nil {
				return nil, damaged("%s is not valid", manifestName)
			}
			found = true
		} else if len(e.Name) > 5 && e.Name[:5] == "data/" {
			f.sums[content(e.Name[5:])] = e
		}
	}
	switch {
	case !found:
		return nil, damaged("it has no %s", manifestName)
	case f.Version > version:
		return nil, offload.Errorf(offload.Unsupported, "replay", "the recording has version %d of the format, and this program reads up to %d", f.Version, version).
			WithHint("use the version of orepl that wrote it")
	}
	return f, f.check()
}

// extract returns the bytes of a member of the archive. More than limit bytes are an error.
func extract(e *zip.File, limit int64) ([]byte, error) {
	r, err := e.Open()
	if err != nil {
		return nil, damaged("%s cannot be read", e.Name)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil || int64(len(data)) > limit {
		return nil, damaged("%s is damaged or too large", e.Name)
	}
	return data, nil
}

// load returns a content of exactly size bytes, or of any size if size is negative. An empty name stands for size zeros, or for
// no bytes if size is negative.
func (f *File) load(name content, size int64) ([]byte, error) {
	if name == "" {
		return make([]byte, max(size, 0)), nil
	}
	e := f.sums[name]
	if e == nil {
		return nil, damaged("the content %.12s is missing", name)
	}
	limit := size
	if size < 0 {
		limit = mostContent
	}
	data, err := extract(e, limit)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	if hex.EncodeToString(sum[:]) != string(name) || size >= 0 && int64(len(data)) != size {
		return nil, damaged("the content %.12s is damaged", name)
	}
	return data, nil
}

// check checks the numbers in the manifest, so that replaying cannot index outside of a list.
func (f *File) check() error {
	if len(f.Commands) > mostCommands {
		return damaged("it has more than %d commands", mostCommands)
	}
	for _, m := range f.Memories {
		if m.Size < 1 || m.Size > mostMemory {
			return damaged("a buffer has %d bytes", m.Size)
		}
	}
	inside := func(i, n int) bool { return i >= 0 && i < n }
	for i, c := range f.Commands {
		views := []*view{c.Dst, c.Src}
		ok := inside(c.Queue, len(f.Queues)) && inside(c.Behind, len(f.Queues)) && c.Bytes >= 0 && c.Bytes <= mostContent
		if c.Launch != nil {
			ok = ok && inside(c.Launch.Library, len(f.Libraries)) && (c.Launch.Group == nil || len(c.Launch.Group) == 3)
			for _, a := range c.Launch.Args {
				views = append(views, a.Buffer)
			}
		}
		for _, v := range views {
			ok = ok && (v == nil || inside(v.Memory, len(f.Memories)) && f.holds(v))
		}
		if r := c.Rect; r != nil {
			of := c.Src
			if c.Kind == "write" {
				of = c.Dst
			}
			ok = ok && of != nil && len(r.Origin) == len(of.Dims) && len(r.Extent) == len(of.Dims)
		}
		switch c.Kind {
		case "launch":
			ok = ok && c.Launch != nil
		case "write", "fill", "zero":
			ok = ok && c.Dst != nil
		case "copy":
			ok = ok && c.Dst != nil && c.Src != nil
		case "wait":
		default:
			ok = false
		}
		if !ok {
			return damaged("command %d is not valid", i)
		}
	}
	return nil
}

// holds reports whether a view lies in its memory.
func (f *File) holds(v *view) bool {
	if v.Elem < 1 || v.Elem > 1<<20 || len(v.Dims) < 1 || len(v.Dims) > 3 || v.Offset < 0 {
		return false
	}
	size := int64(v.Elem)
	for _, d := range v.Dims {
		if d < 0 || d > mostDimension || d > 0 && size > mostMemory/int64(d) {
			return false
		}
		size *= int64(d)
	}
	memory := f.Memories[v.Memory].Size
	return size <= memory && v.Offset <= memory-size
}

// Devices returns the ids of the devices of the commands, in the order of their queues.
func (f *File) Devices() (ids []string) {
	for _, q := range f.Queues {
		if !slices.Contains(ids, q.Device) {
			ids = append(ids, q.Device)
		}
	}
	return ids
}
