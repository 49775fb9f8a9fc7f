package image

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/orepl/orepl/runtime/offload"
)

// Reader reads libraries of device code from files of any known format.
type Reader struct {
	// Resolve returns the contents of a thin archive's member, whose path is absolute or relative to the archive's folder. If it
	// is nil, thin archives are errors.
	Resolve func(path string) ([]byte, error)
}

// Read calls [Reader.Read] without options.
func Read(label string, data []byte) (offload.Library, error) { return Reader{}.Read(label, data) }

// Read identifies device code by its content and returns its images: one, or those of a container. It searches ELF objects,
// shared objects, executables and archive members for embedded containers and tables of entries. A file without them is itself
// the image. The images share memory with data.
//
// An image that no device can load is returned with [offload.Image.Unusable] set, so that other images stay usable; see
// [Check].
// Errors: InvalidBinary for files of unknown format and for damaged containers; Unsupported for known formats that are not read;
// HostIO if Resolve fails.
func (r Reader) Read(label string, data []byte) (offload.Library, error) {
	return r.read(label, newInput(data))
}

// ReadAt is like Read for a file that is not in memory. It reads only the needed parts of a file with embedded containers.
func (r Reader) ReadAt(label string, file io.ReaderAt, size int64) (offload.Library, error) {
	if size < 0 {
		return offload.Library{}, invalid(label, "a size of %d bytes", size)
	}
	return r.read(label, &input{r: file, size: uint64(size), left: newBudget(uint64(size))})
}

func (r Reader) read(label string, in *input) (offload.Library, error) {
	lib := offload.Library{Label: label}
	err := r.readFile(&lib, label, in)
	if err != nil {
		return offload.Library{}, located(label, err)
	}
	if len(lib.Entries) > 0 {
		lib.Entries = distinct(lib.Entries)
	}
	return lib, nil
}

// located returns err as an InvalidBinary error with a label, unless err already has a code.
func located(label string, err error) error {
	var coded *offload.Error
	if errors.As(err, &coded) {
		return err
	}
	return invalid(label, "%v", err)
}

// Check returns the last image's error if no image of a library is usable. A library without images is an InvalidBinary error.
func Check(lib *offload.Library) (err error) {
	if len(lib.Images) == 0 {
		return invalid(lib.Label, "the container has no images").WithHint("every target was dropped from it: pack it again, or build it with a target")
	}
	for _, img := range lib.Images {
		if img.Unusable == nil {
			return nil
		}
		err = img.Unusable
	}
	return err
}

// readFile appends the images of a file to a library.
func (r Reader) readFile(lib *offload.Library, label string, in *input) error {
	if in.has(magicArchive) || in.has(magicThin) {
		return r.readArchive(lib, label, in)
	}
	_, err := readSingle(lib, label, in)
	return err
}

// isHostFile reports whether the input is an ELF file of a host.
func isHostFile(in *input) bool {
	head, err := in.load(0, min(in.size, 64))
	return err == nil && in.has(magicELF) && hostObject(head)
}

// readSingle appends the images of a file that is not an archive, and reports whether the file embeds them.
func readSingle(lib *offload.Library, label string, in *input) (embedded bool, err error) {
	if isHostFile(in) {
		if embedded, err = readObject(lib, label, in); err != nil || embedded {
			return embedded, err
		}
	}
	data, err := in.all()
	if err != nil {
		return false, err
	}
	if isBundled(in) {
		return true, appendBundles(lib, label, data, in.left, new(int))
	}
	if in.has(magicOffload) {
		return true, appendContainer(lib, label, data, in.left, new(int))
	}
	if in.has(magicFatbin) {
		list, err := splitFatbin(label, data, in.left)
		lib.Images = append(lib.Images, list...)
		return true, err
	}
	img, err := Identify(label, data)
	if err != nil {
		return false, err
	}
	if img.Unusable == nil && isHostFile(in) && isProgram(in) {
		img.Unusable = noDeviceImages(label)
	}
	lib.Images = append(lib.Images, img)
	return false, nil
}

// readObject appends the images embedded in a host's ELF file, and reports whether it has any, or had some that were dropped.
func readObject(lib *offload.Library, label string, in *input) (bool, error) {
	o, err := openObject(in)
	if err != nil {
		return false, err
	}
	sections, err := o.containers()
	if err != nil {
		return false, err
	}
	number, dropped := 0, o.hadImages()
	for _, s := range sections {
		dropped = dropped || s.embedded
		if err := appendContainer(lib, label, s.data, in.left, &number); err != nil {
			return false, err
		}
	}
	deposits, err := o.deposits()
	if err != nil {
		return false, err
	}
	for i := range deposits {
		d := &deposits[i]
		if d.kind == depositDescribed && len(sections) > 0 {
			continue // an image in a container
		}
		dropped = dropped || len(d.data) > 0
		if err := o.appendDeposit(lib, label, d, &number); err != nil {
			return false, fmt.Errorf("section %d, %s: %w", d.index, o.nameOf(d.section), err)
		}
	}
	if err := o.entries(lib); err != nil {
		return false, err
	}
	if number == 0 && !dropped {
		if err := o.errGCC(label); err != nil {
			lib.Images = append(lib.Images, &offload.Image{Kind: offload.ImageELF, Target: elfTargets.Get()[o.machine], Label: label, Unusable: err})
			return true, nil
		}
	}
	return number > 0 || dropped, nil // an embedded container may have lost all images
}

// distinct removes repeated entries, which result from inline functions compiled into several objects.
func distinct(entries []offload.Entry) []offload.Entry {
	seen := make(map[offload.Entry]bool, len(entries))
	return slices.DeleteFunc(entries, func(e offload.Entry) bool {
		again := seen[e]
		seen[e] = true
		return again
	})
}

// appendContainer appends the images of concatenated containers. number counts the images of the file.
func appendContainer(lib *offload.Library, label string, data []byte, left *budget, number *int) error {
	entries, err := readContainers(data, left)
	if err != nil {
		return err
	}
	for i := range entries {
		img := entries[i].image(fmt.Sprintf("%s[%d]", label, *number))
		*number++
		if img.Kind == offload.ImageFatbin && img.Unusable == nil {
			if list, err := splitFatbin(img.Label, img.Data, left); err == nil {
				lib.Images = append(lib.Images, entries[i].refined(img, list)...)
				continue
			} else {
				img.Unusable = located(img.Label, err)
			}
		}
		lib.Images = append(lib.Images, img)
	}
	return nil
}
