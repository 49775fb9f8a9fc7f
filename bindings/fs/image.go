package fs

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/fs/picture"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// maxPixels is the maximum number of pixels of a decoded picture. A small file can declare arbitrary dimensions.
const maxPixels = 1 << 28

func readImage(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.readPath(a)
	channels := int64(0)
	if v := option(a.Options(1, "options", "channels"), "channels"); v != nil {
		if channels = v.ToInteger(); channels != 1 && channels != 4 {
			a.Fail("channels", "must be 1 or 4, not %d", channels)
		}
	}
	return func(ctx context.Context) (result, error) {
		data, err := f.ReadFile(ctx, path)
		if err != nil {
			return nil, f.ReadError("read", name, path, err)
		}
		decoded, err := decode(name, data, f.Options().Limits.Memory)
		if err != nil {
			return nil, err
		}
		pixels := picture.Flatten(decoded, int(channels))
		if bytes.HasPrefix(data, []byte(jpegMagic)) {
			pixels = pixels.Upright(picture.Orientation(data))
		}
		return func() (goja.Value, error) {
			array, err := lang.TypedArray(f.Engine, pixels.Data)
			if err != nil {
				return nil, err
			}
			o := bindings.NewExports(f.Engine)
			o.Set("width", pixels.Width)
			o.Set("height", pixels.Height)
			o.Set("channels", pixels.Channels)
			o.Set("data", array)
			return o.Done()
		}, nil
	}
}

// option returns an option, or nil if it is missing or undefined.
func option(o *goja.Object, name string) goja.Value {
	if o == nil {
		return nil
	}
	if v := o.Get(name); v != nil && !goja.IsUndefined(v) {
		return v
	}
	return nil
}

// pixelSize is the maximum memory per pixel during decoding, in bytes: 8 for the decoded picture and 4 for the result.
const pixelSize = 8 + 4

const jpegMagic = "\xff\xd8"

// decode decodes a picture. If memory is not 0, a picture that would need more bytes of memory is an error.
func decode(name string, data []byte, memory uint64) (image.Image, error) {
	wrong := func(err error) error {
		return &diag.Diagnostic{ID: "invalid-image", Message: fmt.Sprintf("read %s: %s", name, picture.Fault(err)), Cause: err, Hint: "PNG and JPEG files can be read"}
	}
	var config image.Config
	var err error
	var read func(*bytes.Reader) (image.Image, error)
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG")):
		config, err = png.DecodeConfig(bytes.NewReader(data))
		read = func(r *bytes.Reader) (image.Image, error) { return png.Decode(r) }
	case bytes.HasPrefix(data, []byte(jpegMagic)):
		config, err = jpeg.DecodeConfig(bytes.NewReader(data))
		read = func(r *bytes.Reader) (image.Image, error) { return jpeg.Decode(r) }
	default:
		return nil, otherFormat(name, data)
	}
	if err != nil {
		return nil, wrong(err)
	}
	if config.Width*config.Height > maxPixels {
		return nil, diag.New("invalid-image", "read %s: %d×%d pixels are more than %d", name, config.Width, config.Height, maxPixels).
			WithHint("read a smaller picture, or its parts")
	}
	if n := uint64(config.Width) * uint64(config.Height); memory > 0 && n > memory/pixelSize {
		return nil, &diag.Diagnostic{ID: "out-of-memory", Message: fmt.Sprintf("read %s: %d×%d pixels need %d MiB; %d MiB are allowed", name, config.Width, config.Height, n*pixelSize>>20, memory>>20),
			Hint: "raise the memory limit, or read a smaller picture"}
	}
	decoded, err := read(bytes.NewReader(data))
	if err != nil {
		return nil, wrong(err)
	}
	return decoded, nil
}

// formats are the first bytes of files that cannot be read as pictures, with the names of their formats. The bytes of a container's kind
// follow its size.
var formats = []struct{ begin, kind, name string }{
	{"BM", "", "BMP"}, {"GIF8", "", "GIF"}, {"II*\x00", "", "TIFF"}, {"MM\x00*", "", "TIFF"}, {"\x00\x00\x01\x00", "", "ICO"}, {"P5", "", "PGM"}, {"P6", "", "PPM"},
	{"RIFF", "WEBP", "WebP"}, {"<svg", "", "SVG"}, {"\x93NUMPY", "", "NPY"},
}

// otherFormat returns the error for a file that is neither PNG nor JPEG, with the name of its format if that is known.
func otherFormat(name string, data []byte) error {
	what := "it is no picture that is known here"
	for _, f := range formats {
		rest, ok := bytes.CutPrefix(data, []byte(f.begin))
		if ok && (f.kind == "" || len(rest) > 4 && bytes.HasPrefix(rest[4:], []byte(f.kind))) {
			what = "it is a file of the format " + f.name
			break
		}
	}
	return &diag.Diagnostic{ID: "invalid-image", Message: fmt.Sprintf("read %s: %s", name, what), Cause: image.ErrFormat,
		Hint: "PNG and JPEG files can be read: convert it first; readBytes gives the bytes of any file"}
}

// pictureNames are the endings of the names of pictures that can be written.
var pictureNames = []string{".png", ".jpg", ".jpeg"}

func writeImage(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.writePath(a)
	if a.Err() == nil && !slices.Contains(pictureNames, strings.ToLower(filepath.Ext(path))) {
		a.Reject(diag.New("invalid-argument", "write %s: a picture's name ends in %s", name, strings.Join(pictureNames, ", ")).
			WithHint("the formats are PNG and JPEG, by the end of the name; writeBytes writes any bytes"))
		return nil
	}
	source := imageSource(f.Engine, a)
	if source == nil {
		return nil
	}
	quality := int64(90)
	if v := option(a.Options(2, "options", "quality"), "quality"); v != nil {
		if quality = v.ToInteger(); quality < 1 || quality > 100 {
			a.Fail("quality", "must be from 1 to 100, not %d", quality)
		}
	}
	return func(ctx context.Context) (result, error) {
		pixels, err := source.pixels(ctx)
		if err != nil {
			return func() (goja.Value, error) { return nil, source.explain(err) }, nil
		}
		picture := source.picture(pixels)
		var out bytes.Buffer
		switch strings.ToLower(filepath.Ext(path)) {
		case ".png":
			err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, picture)
		case ".jpg", ".jpeg":
			err = jpeg.Encode(&out, picture, &jpeg.Options{Quality: int(quality)})
		}
		if err != nil {
			return nil, lang.FileError("write", name, err)
		}
		return nil, write(name, path, out.Bytes())
	}
}
