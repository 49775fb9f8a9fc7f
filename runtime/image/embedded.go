package image

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// goSections are the sections in which Go stores contents of embedded files, as strings and as slices.
var goSections = []string{".rodata", ".noptrdata", ".data"}

// goContainers returns the containers that a Go program embeds. No table lists them, so the data sections are searched. The
// result is empty for other programs.
func (o *object) goContainers() ([]containerSection, error) {
	var list []containerSection
	isGo := false
	for i := uint32(1); i < o.sections(); i++ {
		s, _ := o.section(i)
		isGo = isGo || o.named(s, ".go.buildinfo")
	}
	for i := uint32(1); isGo && i < o.sections(); i++ {
		s, _ := o.section(i)
		if s.kind != sectionProgramBits || !slices.ContainsFunc(goSections, func(name string) bool { return o.named(s, name) }) {
			continue
		}
		data, err := o.contents(s)
		if err != nil {
			return nil, fmt.Errorf("section %d: %w", i, err)
		}
		for at := 0; ; {
			next := bytes.Index(data[at:], magicOffload)
			if next < 0 {
				break
			}
			at += next
			n := containerRun(data[at:], o.in.left)
			if n == 0 {
				at += len(magicOffload)
				continue
			}
			list = append(list, containerSection{section: s, index: i, from: at, data: data[at : at+n : at+n], embedded: true})
			at += n
		}
	}
	return list, nil
}

// containerRun returns the number of bytes of the containers at the start of data, or 0. left is the budget for reading each
// container, and is not reduced. Each image must have a triple, since the magic bytes may be a constant of the program.
func containerRun(data []byte, left *budget) int {
	end := 0
	for bytes.HasPrefix(data[end:], magicOffload) {
		if len(data)-end < headerBytes || binary.LittleEndian.Uint32(data[end+4:]) > 3 {
			break
		}
		trial := *left
		entries, size, err := readBlob(data[end:], &trial)
		if err != nil || len(entries) == 0 && end == 0 && !emptyBlob(data) {
			break
		}
		named := true
		for i := range entries {
			named = named && entries[i].Strings["triple"] != ""
		}
		if !named {
			break
		}
		end += size
		for end%8 != 0 && end < len(data) && data[end] == 0 { // padding after a compressed container
			end++
		}
	}
	return end
}

// emptyBlob reports whether data begins with a container that lost all images.
func emptyBlob(data []byte) bool {
	return bytes.HasPrefix(data[4:], writeBlob(2, nil)[4:8]) && allZero(data[24:headerBytes])
}
