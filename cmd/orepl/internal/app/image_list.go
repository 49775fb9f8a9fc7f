package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/orepl/orepl/bindings/offloadjs/images"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/printable"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/offload"
)

// fileReport is a file in the output of orepl image list --json.
type fileReport struct {
	File     string        `json:"file"`
	Images   []imageReport `json:"images"`
	Entries  []entryReport `json:"entries,omitempty"`
	Requires uint32        `json:"requires,omitempty"`
	Error    string        `json:"error,omitempty"`
}

// imageReport is an image of a file.
type imageReport struct {
	Label    string            `json:"label"`
	Kind     offload.ImageKind `json:"kind"`
	Triple   string            `json:"triple"`
	Arch     string            `json:"arch"`
	Producer string            `json:"producer"`
	Size     int               `json:"size"`
	Meta     map[string]string `json:"meta,omitempty"` // other strings of the container
	Unusable string            `json:"unusable,omitempty"`
	Conflict string            `json:"conflict,omitempty"`
	Devices  []fitReport       `json:"devices,omitempty"`
}

// fitReport is a device's decision on an image.
type fitReport struct {
	Device   string `json:"device"`
	Decision string `json:"decision"`
	Score    int    `json:"score,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// entryReport is an entry of the host program.
type entryReport struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Size  int64  `json:"size,omitempty"`
	Flags uint32 `json:"flags,omitempty"`
}

// listImages implements orepl image list.
func listImages(inv *invocation) error {
	asJSON := inv.flags.Bool("json", false, "print JSON")
	devices := inv.flags.Bool("devices", false, "ask the devices of this machine which images they take, and why they refuse the others")
	files, err := inv.parseMixed()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return &usageError{"the files are missing", "write: orepl image list FILE…"}
	}
	reports := []fileReport{}
	failed := false
	for _, file := range files {
		r, err := inv.reportFile(file, *devices)
		if err != nil {
			failed = true
			r = fileReport{File: file, Images: []imageReport{}, Error: err.Error()}
			diag.Print(inv.Stderr, err, inv.colors(inv.Stderr))
		}
		reports = append(reports, r)
		if !*asJSON && err == nil {
			inv.printFile(&r)
		}
	}
	if *asJSON {
		enc := json.NewEncoder(inv.Stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(reports); err != nil {
			return err
		}
	}
	if failed {
		return &exitError{ExitFailed}
	}
	return nil
}

// reportFile reads a file and describes its images, except whole programs, and its entries. With devices, it adds the decision
// of each device on each image.
func (inv *invocation) reportFile(file string, devices bool) (fileReport, error) {
	f, err := image.OpenFile(file)
	if err != nil {
		return fileReport{}, err
	}
	defer f.Close()
	lib, err := f.Read(file)
	if err != nil {
		return fileReport{}, err
	}
	r := fileReport{File: file, Images: []imageReport{}, Requires: lib.Requires}
	lib.Images = slices.DeleteFunc(lib.Images, image.IsProgram)
	for _, img := range lib.Images {
		r.Images = append(r.Images, newImageReport(img))
	}
	for i := range lib.Entries {
		e := &lib.Entries[i]
		r.Entries = append(r.Entries, entryReport{e.Name, e.Kind.String(), e.Size, e.Flags})
	}
	if devices && len(lib.Images) > 0 {
		err = f.Guard(func() error { return inv.askDevices(&r, &lib) })
	}
	return r, err
}

// newImageReport returns the description of an image without decisions of devices.
func newImageReport(img *offload.Image) imageReport {
	r := imageReport{Label: img.Label, Kind: img.Kind, Triple: img.Target, Arch: img.Arch, Producer: img.Producers,
		Size: len(img.Data), Conflict: img.Conflict}
	if img.Unusable != nil {
		r.Unusable = img.Unusable.Error()
	}
	for k, v := range img.Meta {
		if k != "triple" && k != "arch" {
			if r.Meta == nil {
				r.Meta = make(map[string]string)
			}
			r.Meta[k] = v
		}
	}
	return r
}

// askDevices registers the images, without loading them, and adds each device's decision.
func (inv *invocation) askDevices(r *fileReport, lib *offload.Library) error {
	rt := inv.open()
	defer rt.Close()
	s := rt.Session()
	s.Devices(inv.ctx) // opens the plugins
	registered, err := s.RegisterImages(inv.ctx, lib.Label, offload.Position{}, lib.Images...)
	if err != nil {
		return err
	}
	for i, status := range registered.Images() {
		for _, fit := range status.Devices {
			r.Images[i].Devices = append(r.Images[i].Devices, fitReport{fit.Device, fit.Decision(), fit.Score, images.ReasonOf(&fit)})
		}
	}
	return nil
}

// printFile prints the listing of a file.
func (inv *invocation) printFile(r *fileReport) {
	inv.printf(inv.Stdout, "%s: %s", r.File, spelling.Count(len(r.Images), "image"))
	if len(r.Entries) > 0 {
		inv.printf(inv.Stdout, ", %s", spelling.Count(len(r.Entries), "entry"))
	}
	fmt.Fprintln(output{inv})
	rows := make([][]string, len(r.Images))
	for i := range r.Images {
		img := &r.Images[i]
		target := img.Triple
		if img.Arch != "" {
			target = strings.TrimPrefix(target+","+img.Arch, ",")
		}
		rows[i] = []string{strings.TrimPrefix(img.Label, r.File), string(img.Kind), target, img.Producer, fmt.Sprintf("%d bytes", img.Size)}
	}
	for i, line := range aligned(rows) {
		img := &r.Images[i]
		inv.printf(inv.Stdout, "  %s\n", line)
		inv.printDetail("unusable", img.Unusable)
		inv.printDetail("conflict", img.Conflict)
		for _, k := range slices.Sorted(maps.Keys(img.Meta)) {
			inv.printDetail(k, img.Meta[k])
		}
		for _, fit := range img.Devices {
			text := fit.Decision
			if fit.Score > 0 {
				text += fmt.Sprintf(", score %d", fit.Score)
			}
			if fit.Reason != "" {
				text += ": " + fit.Reason
			}
			inv.printDetail(fit.Device, text)
		}
	}
	rows = rows[:0]
	for _, e := range r.Entries {
		size := ""
		if e.Size > 0 {
			size = fmt.Sprintf("%d bytes", e.Size)
		}
		rows = append(rows, []string{e.Kind, e.Name, size})
	}
	for _, line := range aligned(rows) {
		inv.printf(inv.Stdout, "  %s\n", line)
	}
}

// printDetail prints a property of an image, if it has one.
func (inv *invocation) printDetail(name, text string) {
	if text != "" {
		inv.printf(inv.Stdout, "      %s: %s\n", name, strings.ReplaceAll(text, "\n", "\n        "))
	}
}

// aligned returns a line of text for each row, in which the columns are aligned.
func aligned(rows [][]string) []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i := range row {
			cells[i] = printable.Line(row[i])
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush() // writes to memory cannot fail
	var lines []string
	for line := range strings.Lines(b.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return lines
}
