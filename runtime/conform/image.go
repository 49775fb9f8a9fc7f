package conform

import (
	"reflect"
	"slices"

	"github.com/orepl/orepl/runtime/offload"
)

var imageCases = []testCase{
	{"image/fit", imageFit},
	{"image/damaged", imageDamaged},
	{"image/unknown", imageUnknown},
	{"image/symbols", imageSymbols},
}

func imageFit(t *T) {
	lib := t.library()
	images := lib.Images()
	if len(images) != 1 || images[0].Image.Kind != offload.ImageIR {
		t.Fatalf("%d images; the first of kind %s", len(images), images[0].Image.Kind)
	}
	for _, f := range images[0].Devices {
		if f.Device == t.device.ID() && (f.Err != nil || !f.Chosen || f.Loaded) {
			t.Errorf("before use: %+v", f)
		}
	}
	_, err := lib.Symbols(t.ctx, t.device)
	t.check(err)
	for _, f := range lib.Images()[0].Devices {
		if f.Device == t.device.ID() && !f.Loaded {
			t.Errorf("after use: %+v", f)
		}
	}
}

// imageDamaged loads truncated and altered images, each of which must be refused.
func imageDamaged(t *T) {
	rng := random()
	try := func(what string, data []byte) {
		lib, err := t.session.Register(t.ctx, what, data)
		if err == nil {
			_, err = lib.Kernel(t.ctx, t.device, "ids")
			t.check(lib.Unregister(t.ctx))
		}
		t.refused(what, err, offload.InvalidBinary)
	}
	for range 40 {
		try("a truncated image", kernelImage[:rng.IntN(len(kernelImage))])
	}
	for range 100 {
		data := slices.Clone(kernelImage)
		bit := rng.IntN(8 * len(data))
		data[bit/8] ^= 1 << (bit % 8)
		try("an image with a bit flipped", data)
	}
	try("an image with more behind it", append(slices.Clone(kernelImage), 0))
}

func imageUnknown(t *T) {
	for _, data := range [][]byte{nil, {0}, []byte("this is no image"), make([]byte, 1000), []byte("\x7fELF"), []byte(".version 7.0\n")} {
		_, err := t.session.Register(t.ctx, "unknown", data)
		t.refused("bytes that are no image", err, offload.InvalidBinary)
	}
	// An image for another device is refused with a reason; CheckImage of the platform must not load it.
	img := &offload.Image{Kind: "fantasy", Label: "fantasy", Data: []byte("x")}
	if _, err := t.device.Contract().CheckImage(img); err == nil {
		t.Errorf("an image of a kind that does not exist fits")
	}
	if _, err := t.device.Contract().Load(t.ctx, img); err == nil {
		t.Errorf("an image of a kind that does not exist was loaded")
	}
}

func imageSymbols(t *T) {
	lib := t.library()
	symbols, err := lib.Symbols(t.ctx, t.device)
	t.check(err)
	found := false
	for _, s := range symbols {
		found = found || s.Kernel && s.Name == "saxpy"
	}
	if !found {
		t.Errorf("kernel saxpy is not among %v", symbols)
	}
	_, err = lib.Kernel(t.ctx, t.device, "no such kernel")
	t.refused("a kernel that does not exist", err, offload.NotFound)
	_, err = lib.Global(t.ctx, t.device, "no such variable")
	t.refused("a variable that does not exist", err, offload.NotFound, offload.SymbolKind)
	_, err = lib.Global(t.ctx, t.device, "saxpy")
	t.refused("a kernel taken for a variable", err, offload.SymbolKind, offload.NotFound)
	info := t.kernel("saxpy").Info()
	want := []offload.Param{
		{Name: "a", Type: offload.F32},
		{Name: "x", Buffer: true, Type: offload.F32, Elem: 4, Rank: 1, Reads: true},
		{Name: "y", Buffer: true, Type: offload.F32, Elem: 4, Rank: 1, Reads: true, Writes: true},
	}
	got := slices.Clone(info.Params)
	for i := range got {
		if !got[i].Buffer {
			got[i].Elem = 0 // unspecified for scalars
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("parameters of saxpy: %+v, want %+v", got, want)
	}
	if info.Name != "saxpy" || info.ObservesGroup {
		t.Errorf("saxpy: %+v", *info)
	}
	if !t.kernel("groups").Info().ObservesGroup {
		t.Errorf("kernel groups does not observe its group")
	}
}
