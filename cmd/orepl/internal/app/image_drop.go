package app

import (
	"fmt"

	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/offload"
)

// dropImages implements orepl image drop.
func dropImages(inv *invocation) error {
	targets := inv.targets("drop images for this `TARGET[,ARCH]`, such as cpu, ir, nvptx64 or nvptx64,sm_90; several are allowed")
	return inv.editFiles("drop --target TARGET", func() ([]image.Pattern, error) {
		if len(*targets) == 0 {
			return nil, &usageError{"the target is missing", "write: orepl image drop --target nvptx64 FILE; orepl image strip drops every image"}
		}
		return targets.patterns()
	}, targets)
}

// stripImages implements orepl image strip.
func stripImages(inv *invocation) error {
	return inv.editFiles("strip", func() ([]image.Pattern, error) { return nil, nil }, nil)
}

// editFiles drops from each file the images that the patterns of choose select; without patterns it drops all. It calls choose
// after it has parsed the flags. It plans the changes of all files before it writes the first one.
func (inv *invocation) editFiles(usage string, choose func() ([]image.Pattern, error), targets *repeated) error {
	out := inv.flags.String("o", "", "the `file` to write; without it the file is changed in place")
	files, err := inv.parseMixed()
	if err != nil {
		return err
	}
	patterns, err := choose()
	switch {
	case err != nil:
		return err
	case len(files) == 0:
		return &usageError{"the file is missing", "write: orepl image " + usage + " FILE"}
	case len(files) > 1 && *out != "":
		return &usageError{"-o is for one file", "leave it out to change the files in place"}
	}
	type change struct {
		file *image.File
		edit *image.Edit
	}
	var changes []change
	for _, name := range files {
		f, err := image.OpenFile(name)
		if err != nil {
			return err
		}
		defer f.Close()
		edit, err := f.Drop(name, func(img *offload.Image) bool { return selected(patterns, img) })
		if offload.CodeOf(err) == offload.NotFound {
			return nothingDropped(f, name, targets, err)
		}
		if err != nil {
			return err
		}
		changes = append(changes, change{f, edit})
	}
	for i, c := range changes {
		path := files[i]
		if *out != "" {
			path = *out
		}
		before := len(c.file.Data)
		lines := make([]string, 0, len(c.edit.Dropped))
		for _, img := range c.edit.Dropped {
			lines = append(lines, fmt.Sprintf("  %s  %s  %s  %d bytes", img.Label, img.Kind, image.Name(img), len(img.Data)))
		}
		if err := c.file.Rewrite(path, c.edit); err != nil {
			return err
		}
		inv.printf(inv.Stdout, "%s: dropped %s, kept %d; %d bytes, %d before\n", path, spelling.Count(len(c.edit.Dropped), "image"),
			len(c.edit.Kept), c.edit.Size, before)
		for _, line := range lines {
			inv.printf(inv.Stdout, "%s\n", line)
		}
	}
	return nil
}

// nothingDropped returns the error for a file of which no image was dropped. With --target it names the file's images, else it
// is err.
func nothingDropped(f *image.File, name string, targets *repeated, err error) error {
	if targets == nil {
		return err
	}
	lib, readErr := f.Read(name)
	if readErr != nil {
		return err
	}
	return noneSelected(name, targets, lib.Images)
}
