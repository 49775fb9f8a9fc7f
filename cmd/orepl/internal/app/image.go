package app

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/offload"
)

// imageCommands returns the subcommands of orepl image.
func imageCommands() []command {
	return []command{
		{"image pack", "-o OUT [--target TARGET[,ARCH]=FILE]… [FILE…]", "put images into a container; equal input gives equal bytes", packImages},
		{"image list", "[--json] [--devices] FILE…", "list the images and entries of containers, objects, archives, shared objects and executables", listImages},
		{"image extract", "[--target TARGET[,ARCH]]… [-o OUT | --dir DIR] FILE", "write images to files of their own", extractImages},
		{"image drop", "--target TARGET[,ARCH]… [-o OUT] FILE…", "drop images of targets from files, in place", dropImages},
		{"image strip", "[-o OUT] FILE…", "drop every image from files, in place", stripImages},
		{"image headers", "[DIR]", "write the C headers of kernels that call services to a folder, by default this one", writeHeaders},
		{"image verify", "FILE…", "check containers, labels, images and the table of entries", verifyImages},
	}
}

// runImage implements orepl image.
func runImage(inv *invocation) error {
	list := imageCommands()
	if len(inv.Args) == 0 || inv.Args[0] == "-h" || inv.Args[0] == "--help" {
		inv.printUsage("image")
		if len(inv.Args) == 0 {
			return &usageError{"orepl image needs a command", "write one of the commands above, such as orepl image list FILE"}
		}
		return nil
	}
	name := inv.Args[0]
	var names []string
	for _, c := range list {
		short := strings.TrimPrefix(c.name, "image ")
		if short == name {
			sub := *inv
			sub.flags = flag.NewFlagSet("orepl "+c.name, flag.ContinueOnError)
			sub.flags.SetOutput(io.Discard)
			sub.Args = inv.Args[1:]
			return sub.failed(c.run(&sub))
		}
		names = append(names, short)
	}
	hint := "the commands are " + strings.Join(names, ", ")
	if near := spelling.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return &usageError{fmt.Sprintf("orepl image has no command %q", name), hint}
}

// failed prints the error of a command that runs no script, and returns the exit code of a failed check. It returns nil, exit
// codes and usage errors unchanged.
func (inv *invocation) failed(err error) error {
	var exit *exitError
	var usage *usageError
	if err == nil || errors.As(err, &exit) || errors.As(err, &usage) {
		return err
	}
	diag.Print(inv.Stderr, err, inv.colors(inv.Stderr))
	return &exitError{ExitFailed}
}

// imageNames returns the names of the subcommands of orepl image, as text.
func imageNames() string {
	return "pack, list, extract, drop, strip, headers, verify"
}

// repeated is a flag that may occur several times.
type repeated []string

func (r *repeated) String() string     { return strings.Join(*r, " ") }
func (r *repeated) Set(s string) error { *r = append(*r, s); return nil }

// targets declares the flag --target, which may be repeated. about is its description.
func (inv *invocation) targets(about string) *repeated {
	r := new(repeated)
	inv.flags.Var(r, "target", about)
	return r
}

// patterns parses the values of a flag --target. An empty value is a usage error.
func (r *repeated) patterns() ([]image.Pattern, error) {
	var list []image.Pattern
	for _, text := range *r {
		p, err := image.ParsePattern(text)
		if err != nil {
			return nil, &usageError{fmt.Sprintf("--target %q is empty", text), "write a target such as cpu, ir, nvptx64 or nvptx64,sm_90"}
		}
		list = append(list, p)
	}
	return list, nil
}

// selected reports whether a pattern selects an image. An empty list selects all images.
func selected(patterns []image.Pattern, img *offload.Image) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p image.Pattern) bool { return p.Match(img) })
}

// noneSelected returns the error for patterns that select no image of a file.
func noneSelected(file string, patterns *repeated, images []*offload.Image) error {
	var names []string
	for _, img := range images {
		if name := image.Name(img); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	e := offload.Errorf(offload.NotFound, "select images", "no image is for %s", strings.Join(*patterns, " or ")).On("", file)
	if len(names) == 0 {
		return e.WithHint("it has no images")
	}
	return e.WithHint("its images are for %s", strings.Join(names, " and "))
}

// packImages implements orepl image pack.
func packImages(inv *invocation) error {
	out := inv.flags.String("o", "", "the `file` to write")
	targets := inv.targets("an image: `TARGET[,ARCH[,KEY:VALUE…]]=FILE`, as in --target cpu=a.so --target nvptx64,sm_90=b.ptx; files without --target are labelled by their bytes")
	version := inv.flags.Int("version", 1, "the version of the container: 1, which LLVM reads since release 14, 2 or 3")
	compress := inv.flags.String("compress", "", "compress the container by this `method`, zlib or zstd; it is of version 3")
	producer := inv.flags.String("producer", "", "the `language` that the images were compiled from: openmp, cuda, hip or sycl")
	files, err := inv.parseMixed()
	if err != nil {
		return err
	}
	language, ok := image.ParseProducer(*producer)
	method, known := map[string]image.Compression{"": image.Uncompressed, "zlib": image.Zlib, "zstd": image.Zstd}[*compress]
	switch {
	case *out == "":
		return &usageError{"the output file is missing", "write: orepl image pack -o app.offload --target cpu=a.so"}
	case len(*targets)+len(files) == 0:
		return &usageError{"there is no image to pack", "write: orepl image pack -o " + *out + " --target cpu=a.so"}
	case !ok:
		return &usageError{fmt.Sprintf("--producer %s is unknown", *producer), "write --producer openmp, cuda, hip or sycl"}
	case !known:
		return &usageError{fmt.Sprintf("--compress %s is unknown", *compress), "write --compress zlib or zstd"}
	case *version < 1 || *version > 3:
		return &usageError{fmt.Sprintf("--version %d is unknown", *version), "write --version 1, 2 or 3"}
	case *compress != "" && *version != 3 && isSet(inv.flags, "version"):
		return &usageError{"only containers of version 3 are compressed", "write --compress " + *compress + " without --version"}
	}
	if language == image.HIP && *version == 1 && *compress == "" {
		language = image.HIPBefore20 // as tools without other versions write it
	}
	var entries []image.BundleEntry
	for _, text := range *targets {
		e, err := parseTarget(text, language)
		if err != nil {
			return err
		}
		entries = append(entries, e)
	}
	for _, file := range files {
		e, err := readEntry(file, language, nil)
		if err != nil {
			return err
		}
		entries = append(entries, e)
	}
	var archs []string
	for i := range entries {
		archs = append(archs, entries[i].Strings["arch"])
	}
	if a, b, ok := image.Clash(archs); ok {
		return offload.Errorf(offload.InvalidArgument, "pack", "%s and %s cannot be in one file: a device could run both", a, b).
			WithHint("set the same features in each, such as xnack+ in one and xnack- in the other")
	}
	inv.warnShadowed(entries)
	var data []byte
	if *compress != "" {
		data, err = image.WriteCompressed(method, entries)
	} else {
		data, err = image.WriteBundle(*version, entries)
	}
	if err != nil {
		return err
	}
	return image.ReplaceFile(*out, data)
}

// warnShadowed warns of several images of one kind for one target, of which a device loads only one. It warns of the first such
// target only.
func (inv *invocation) warnShadowed(entries []image.BundleEntry) {
	first := make(map[string]bool)
	for i := range entries {
		target := strings.TrimSuffix(entries[i].Strings["triple"]+","+entries[i].Strings["arch"], ",")
		key := fmt.Sprintf("%d:%s", entries[i].Kind, target)
		if first[key] {
			inv.printf(inv.Stderr, "warning: several images are for %s; a device loads one of them, and the kernels of the others are not found\n",
				target)
			fmt.Fprintln(inv.Stderr, "hint: link them to one shared object, or pack a container for each")
			return
		}
		first[key] = true
	}
}

// isSet reports whether a flag was set on the command line.
func isSet(flags *flag.FlagSet, name string) (set bool) {
	flags.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// parseTarget parses TARGET[,ARCH[,KEY:VALUE…]]=FILE and reads the image.
func parseTarget(text string, language image.Producer) (image.BundleEntry, error) {
	spec, file, ok := strings.Cut(text, "=")
	words := strings.Split(spec, ",")
	if !ok || file == "" || words[0] == "" {
		return image.BundleEntry{}, &usageError{fmt.Sprintf("--target %q is not TARGET[,ARCH]=FILE", text), "write: --target nvptx64,sm_90=kernels.ptx"}
	}
	meta := map[string]string{"triple": image.FullTriple(words[0])}
	for i, word := range words[1:] {
		key, value, pair := strings.Cut(word, ":")
		switch {
		case i == 0 && (!pair || strings.HasPrefix(word, "gfx")): // AMD's target IDs have colons
			meta["arch"] = word
		case !pair || key == "" || key == "triple" || key == "arch":
			return image.BundleEntry{}, &usageError{fmt.Sprintf("--target %q: %q is not KEY:VALUE", text, word),
				"write: --target nvptx64,sm_90,feature:+ptx80=kernels.ptx"}
		default:
			meta[key] = value
		}
	}
	return readEntry(file, language, meta)
}

// readEntry reads an image for a container. meta has the strings of its entry, or is nil if its bytes determine the target.
func readEntry(file string, language image.Producer, meta map[string]string) (image.BundleEntry, error) {
	f, err := image.OpenFile(file)
	if err != nil {
		return image.BundleEntry{}, err
	}
	defer f.Close()
	data := slices.Clone(f.Data)
	return image.NewEntry(file, data, language, meta)
}

// extractImages implements orepl image extract.
func extractImages(inv *invocation) error {
	targets := inv.targets("only images for this `TARGET[,ARCH]`, such as cpu, ir, nvptx64 or amdgcn,gfx90a:xnack+; several are allowed")
	out := inv.flags.String("o", "", "the `file` to write; the selected image must be the only one")
	dir := inv.flags.String("dir", ".", "the `folder` to write into, one file for each image")
	files, err := inv.parseMixed()
	if err != nil {
		return err
	}
	patterns, err := targets.patterns()
	switch {
	case err != nil:
		return err
	case len(files) != 1:
		return &usageError{"one file is expected", "write: orepl image extract [--target TARGET] FILE"}
	case *out != "" && isSet(inv.flags, "dir"):
		return &usageError{"-o and --dir exclude each other", "write -o for one image, --dir for all"}
	}
	f, err := image.OpenFile(files[0])
	if err != nil {
		return err
	}
	defer f.Close()
	lib, err := f.Read(files[0])
	if err != nil {
		return err
	}
	var chosen []*offload.Image
	for _, img := range lib.Images {
		if selected(patterns, img) && len(img.Data) > 0 {
			chosen = append(chosen, img)
		}
	}
	if len(chosen) == 0 {
		return noneSelected(files[0], targets, lib.Images)
	}
	if *out != "" {
		if len(chosen) > 1 {
			return offload.Errorf(offload.InvalidArgument, "extract", "%d images are selected, and -o writes one", len(chosen)).
				On("", files[0]).WithHint("name a target with --target, or write --dir in place of -o")
		}
		return f.Guard(func() error { return image.ReplaceFile(*out, chosen[0].Data) })
	}
	if err := os.MkdirAll(*dir, 0o777); err != nil {
		return err
	}
	base := filepath.Base(files[0])
	for i, img := range chosen {
		path := filepath.Join(*dir, extractedName(base, i, img))
		if err := f.Guard(func() error { return image.ReplaceFile(path, img.Data) }); err != nil {
			return err
		}
		inv.printf(inv.Stdout, "%s\n", path)
	}
	return nil
}

// extensions maps kinds of images to file extensions. Other kinds have the extension bin.
var extensions = map[offload.ImageKind]string{
	offload.ImageIR: "ir", offload.ImageELF: "so", offload.ImagePTX: "ptx", offload.ImageCubin: "cubin", offload.ImageFatbin: "fatbin",
	offload.ImageSPIRV: "spv", offload.ImageOpenCLC: "cl", offload.ImageBitcode: "bc",
	offload.ImageText: "txt",
}

// extractedName returns the file name of an image, such as app.0.nvptx64-nvidia-cuda,sm_90.ptx.
func extractedName(base string, i int, img *offload.Image) string {
	ext, ok := extensions[img.Kind]
	if !ok {
		ext = "bin"
	}
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>| `, r) {
			return '_'
		}
		return r
	}, image.Name(img))
	return fmt.Sprintf("%s.%d.%s.%s", base, i, clean, ext)
}
