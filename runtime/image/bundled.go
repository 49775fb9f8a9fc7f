package image

import (
	"fmt"

	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/runtime/image/bundler"
	"github.com/orepl/orepl/runtime/offload"
)

// isBundled reports whether the input is a bundle of clang-offload-bundler: text, binary or compressed.
func isBundled(in *input) bool {
	head, err := in.load(0, min(in.size, 64))
	return err == nil && (bundler.IsBinary(head) || bundler.IsCompressed(head) || bundler.IsText(head))
}

// bundle is one bundle of a file or section, which may hold several.
type bundle struct {
	start, end int
	frame      *bundler.Frame // the header of a compressed bundle; nil for others
	align      int            // alignment of the entries of a binary bundle
	head       int            // bytes of the table of a binary bundle
	entries    []bundler.Entry
	text       []bundler.TextEntry // the entries of a text bundle; nil for others
}

// readBundles reads concatenated bundles and skips zeros between them. A text bundle extends over all of data.
func readBundles(data []byte, left *budget) ([]bundle, error) {
	if bundler.IsText(data) {
		b := bundle{end: len(data)}
		list, err := bundler.ReadText(data)
		if err != nil {
			return nil, err
		}
		for i := range list {
			b.entries = append(b.entries, list[i].Entry)
		}
		b.text = list
		return []bundle{b}, b.charge(left)
	}
	var list []bundle
	for start := 0; start < len(data); {
		if data[start] == 0 {
			start++
			continue
		}
		b, err := readBundle(data[start:], left)
		if err != nil {
			return nil, fmt.Errorf("bundle at byte %d: %w", start, err)
		}
		b.start += start
		b.end += start
		if err := b.charge(left); err != nil {
			return nil, err
		}
		list = append(list, b)
		start = b.end
	}
	return list, nil
}

// charge charges the entries to the budget of images. It returns an error if these are too many.
func (b *bundle) charge(left *budget) error {
	if left.images -= len(b.entries); left.images < 0 {
		return fmt.Errorf("more than %d images", maxEntryCount)
	}
	return nil
}

// readBundle reads the binary or compressed bundle at the start of data.
func readBundle(data []byte, left *budget) (bundle, error) {
	b := bundle{}
	if bundler.IsCompressed(data) {
		f, err := bundler.ReadFrame(data)
		if err != nil {
			return b, err
		}
		if f.Inflated > uint64(left.inflated) {
			return b, fmt.Errorf("%d bytes uncompressed; a file of this length may have %d more in all", f.Inflated, left.inflated)
		}
		left.inflated -= int64(f.Inflated)
		b.end = f.End(data)
		if data, err = f.Inflate(data[:b.end]); err != nil {
			return b, err
		}
		b.frame = &f
	}
	inner, err := bundler.ReadBinary(data)
	if err != nil {
		return b, err
	}
	b.entries, b.head, b.align = inner.Entries, inner.Head, inner.Align()
	if b.frame == nil {
		b.end = inner.Size
	}
	return b, nil
}

// bundleProducers maps kinds of identifiers to producers.
var bundleProducers = later.Value[map[string]Producer]{Make: func() map[string]Producer {
	return map[string]Producer{"openmp": OpenMP, "cuda": CUDA, "hip": HIP, "hipv4": HIP, "sycl": SYCL}
}}

// bundledImage returns an entry of a bundle as an image. The entry must not be the host's code.
func bundledImage(label string, e *bundler.Entry) *offload.Image {
	id := bundler.ParseID(e.ID)
	entry := BundleEntry{Producer: bundleProducers.Get()[id.Kind], Data: e.Data,
		Strings: map[string]string{"triple": id.Triple, "bundle": e.ID}}
	if id.Arch != "" {
		entry.Strings["arch"] = id.Arch
	}
	img := entry.image(label)
	if img.Kind == "" && len(e.Data) > 0 {
		img.Kind = offload.ImageText
		img.Unusable = unsupported(label, "the image is code for %s before it was compiled: LLVM IR, assembly or C as text", id.Triple).
			WithHint("compile and link it by clang --target=%s, and register the result", id.Triple)
	}
	return img
}

// appendBundles appends the images of concatenated bundles. number counts the images of the file.
func appendBundles(lib *offload.Library, label string, data []byte, left *budget, number *int) error {
	list, err := readBundles(data, left)
	if err != nil {
		return err
	}
	for i := range list {
		for j := range list[i].entries {
			e := &list[i].entries[j]
			if e.Host() {
				continue
			}
			lib.Images = append(lib.Images, bundledImage(fmt.Sprintf("%s[%d]", label, *number), e))
			*number++
		}
	}
	return nil
}

// prunedBundle is a bundle with its remaining entries.
type prunedBundle struct {
	bundle
	kept, removed []int // indexes of entries
}

// bundles chooses the images to drop from concatenated bundles. It returns the bundles, and whether any image is to be dropped.
func (e *editor) bundles(label string, data []byte, left *budget) ([]prunedBundle, bool, error) {
	list, err := readBundles(data, left)
	if err != nil {
		return nil, false, err
	}
	e.contained = e.contained || len(list) > 0
	var out []prunedBundle
	changed := false
	for i := range list {
		p := prunedBundle{bundle: list[i]}
		for j := range p.entries {
			if entry := &p.entries[j]; !entry.Host() && e.choose(bundledImage(fmt.Sprintf("%s[%d]", label, e.number), entry)) {
				p.removed = append(p.removed, j)
				changed = true
				continue
			}
			p.kept = append(p.kept, j)
		}
		out = append(out, p)
	}
	return out, changed, nil
}

// choose reports whether an image is to be dropped, and adds the image to Dropped or Kept.
func (e *editor) choose(img *offload.Image) bool {
	e.number++
	if e.selects(img) {
		e.Dropped = append(e.Dropped, img)
		return true
	}
	e.Kept = append(e.Kept, img)
	return false
}

// bundleFile plans the change of a file that is a bundle.
func (e *editor) bundleFile(label string, in *input) error {
	e.number = 0
	data, err := in.all()
	if err != nil {
		return err
	}
	list, changed, err := e.bundles(label, data, in.left)
	if err != nil || !changed {
		return err
	}
	for i := range list {
		b := &list[i]
		if len(b.removed) == 0 {
			continue
		}
		if b.text != nil {
			for _, j := range b.removed {
				t := &b.text[j]
				e.splices = append(e.splices, splice{uint64(t.Start), uint64(t.End), nil})
			}
			continue
		}
		out, err := b.write()
		if err != nil {
			return err
		}
		e.splices = append(e.splices, splice{uint64(b.start), uint64(b.end), out})
	}
	return nil
}

// write returns a bundle with the remaining entries.
func (b *prunedBundle) write() ([]byte, error) {
	var entries []bundler.Entry
	for _, j := range b.kept {
		entries = append(entries, b.entries[j])
	}
	out := bundler.WriteBinary(entries, b.align)
	if b.frame == nil {
		return out, nil
	}
	return b.frame.Deflate(out)
}

// inPlace writes a bundle with the remaining entries to room, the bytes of the original one. These extend to the next bundle if the
// bundle is compressed. Entries keep their offsets in uncompressed bundles.
func (b *prunedBundle) inPlace(room []byte) error {
	if b.frame != nil {
		out, err := b.write()
		if err != nil {
			return err
		}
		if len(out) > len(room) {
			return fmt.Errorf("the compressed bundle has %d bytes without the images, more than %d before", len(out), len(room))
		}
		clear(room[copy(room, out):])
		return nil
	}
	var entries []bundler.Entry
	for _, j := range b.kept {
		e := b.entries[j]
		e.Data = append([]byte(nil), e.Data...)
		entries = append(entries, e)
	}
	clear(room)
	bundler.PutBinary(room, entries)
	return nil
}

// bundlesInPlace returns the bytes of concatenated bundles without the dropped images, of the same length.
func bundlesInPlace(data []byte, list []prunedBundle) ([]byte, error) {
	out := append([]byte(nil), data...)
	for i := range list {
		b := &list[i]
		if len(b.removed) == 0 {
			continue
		}
		end := b.end
		if b.frame != nil { // the padding up to the next bundle
			if end = len(data); i+1 < len(list) {
				end = list[i+1].start
			}
		}
		if err := b.inPlace(out[b.start:end]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
