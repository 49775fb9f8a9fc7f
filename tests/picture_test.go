package tests

import (
	"bytes"
	"image"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// edgesPicture is the picture of the README: a photograph, and what its first command makes of it.
const edgesPicture = "../docs/pictures/edges.png"

// TestEdgesPicture compares the picture with what examples/01-edges.js writes. OREPL_UPDATE=1 writes the picture.
func TestEdgesPicture(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	photo := filepath.Join(strings.TrimSpace(string(root)), "src/image/testdata/video-001.png")
	edges := filepath.Join(t.TempDir(), "edges.png")
	cmd := exec.Command(buildCommand(t), "run", "../examples/01-edges.js", photo, edges)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	left, right := readPicture(t, photo), readPicture(t, edges)
	size := left.Bounds().Size()
	if right.Bounds().Size() != size {
		t.Fatalf("the edges have %v pixels, the photograph %v", right.Bounds().Size(), size)
	}
	both := image.NewNRGBA(image.Rect(0, 0, 2*size.X, size.Y))
	draw.Draw(both, left.Bounds(), left, image.Point{}, draw.Src)
	draw.Draw(both, right.Bounds().Add(image.Pt(size.X, 0)), right, image.Point{}, draw.Src)
	if os.Getenv("OREPL_UPDATE") != "" {
		var file bytes.Buffer
		if err := png.Encode(&file, both); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(edgesPicture, file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept := readPicture(t, edgesPicture)
	if kept.Bounds() != both.Bounds() {
		t.Fatalf("the picture has %v pixels, not %v", kept.Bounds().Size(), both.Bounds().Size())
	}
	for y := range both.Bounds().Dy() {
		for x := range both.Bounds().Dx() {
			kr, kg, kb, _ := kept.At(x, y).RGBA()
			r, g, b, _ := both.At(x, y).RGBA()
			if kr != r || kg != g || kb != b {
				t.Fatalf("pixel %d, %d differs (OREPL_UPDATE=1 writes the picture anew)", x, y)
			}
		}
	}
}

func readPicture(t *testing.T, file string) image.Image {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	picture, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}
