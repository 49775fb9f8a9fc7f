package app

import (
	"bytes"
	"debug/elf"
	"fmt"
	"slices"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/offload"
)

// verifyImages implements orepl image verify.
func verifyImages(inv *invocation) error {
	files, err := inv.parseMixed()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return &usageError{"the files are missing", "write: orepl image verify FILE…"}
	}
	failed := false
	for _, file := range files {
		images, problems, err := verifyFile(file)
		switch {
		case err != nil:
			diag.Print(inv.Stderr, err, inv.colors(inv.Stderr))
		case len(problems) == 0 && images == 0:
			fmt.Fprintf(output{inv}, "%s: it has no images, or every one was dropped; no problems\n", file)
			continue
		case len(problems) == 0:
			inv.printf(inv.Stdout, "%s: %s, no problems\n", file, spelling.Count(images, "image"))
			continue
		}
		failed = true
		for _, p := range problems {
			inv.printf(inv.Stdout, "%s\n", p)
		}
	}
	if failed {
		return &exitError{ExitFailed}
	}
	return nil
}

// verifyFile returns the number of images of a file that are no programs, and their problems.
func verifyFile(file string) (images int, problems []string, err error) {
	f, err := image.OpenFile(file)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	lib, err := f.Read(file)
	if err != nil {
		return 0, nil, err
	}
	lib.Images = slices.DeleteFunc(lib.Images, image.IsProgram)
	err = f.Guard(func() error {
		for _, img := range lib.Images {
			if waitsForLink(f, img) || waitsForCompiler(img) {
				continue
			}
			problems = append(problems, verifyImage(img, lib.Entries)...)
		}
		problems = append(problems, clashes(file, lib.Images)...)
		return nil
	})
	return len(lib.Images), problems, err
}

// waitsForLink reports whether an image is intended for a linker: it needs linking and is embedded in an object or archive.
func waitsForLink(f *image.File, img *offload.Image) bool {
	return offload.CodeOf(img.Unusable) == offload.Unsupported && img.Label != f.Path &&
		(bytes.HasPrefix(f.Data, []byte("\x7fELF")) || bytes.HasPrefix(f.Data, []byte("!<")))
}

// waitsForCompiler reports whether an image of a bundle is text between two steps of a compiler.
func waitsForCompiler(img *offload.Image) bool {
	return img.Kind == offload.ImageText && img.Meta["bundle"] != ""
}

// clashes returns a problem if images are for two target IDs that one file may not hold together, else nil.
func clashes(file string, images []*offload.Image) []string {
	var archs []string
	for _, img := range images {
		archs = append(archs, img.Arch)
	}
	if a, b, ok := image.Clash(archs); ok {
		return []string{fmt.Sprintf("%s: images for %s and %s: a device could run both; set the same features in each", file, a, b)}
	}
	return nil
}

// verifyImage returns the problems of an image: that no device can load it, that its label contradicts its bytes, that its IR
// or tables are damaged. Symbols that it lacks of the table of entries are problems as well.
func verifyImage(img *offload.Image, entries []offload.Entry) (problems []string) {
	problem := func(format string, args ...any) {
		problems = append(problems, img.Label+": "+fmt.Sprintf(format, args...))
	}
	switch {
	case img.Unusable != nil:
		problem("%s", unusable(img))
		return problems
	}
	if img.Conflict != "" {
		problem("%s", img.Conflict)
	}
	switch img.Kind {
	case offload.ImageIR:
		m, err := ir.DecodeBinary(img.Data)
		if err == nil {
			err = m.Verify()
		}
		if err != nil {
			problem("%v", err)
		}
	case offload.ImageELF, offload.ImageCubin:
		symbols, err := exported(img.Data)
		if err != nil {
			problem("its ELF tables: %v", err)
			return problems
		}
		for i := range entries {
			if e := &entries[i]; !slices.Contains(symbols, e.Name) {
				problem("it lacks the %s %s, which the program's table of entries names", e.Kind, e.Name)
			}
		}
	}
	return problems
}

// unusable returns the reason why no device can load an image, with the hint.
func unusable(img *offload.Image) string {
	if hint := diag.Hint(img.Unusable); hint != "" {
		return img.Unusable.Error() + "; " + hint
	}
	return img.Unusable.Error()
}

// exported returns the names of the dynamic symbols that an ELF file defines. For a file without dynamic symbols, such as a
// cubin, it reads the symbol table.
func exported(data []byte) (names []string, err error) {
	defer func() { // debug/elf may panic on damaged files
		if r := recover(); r != nil {
			err = fmt.Errorf("they are damaged: %v", r)
		}
	}()
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		symbols, err = f.Symbols()
	}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			names = append(names, s.Name)
		}
	}
	return names, err
}
