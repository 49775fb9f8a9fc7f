package image_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/offload"
)

func split(t *testing.T, entries ...image.BundleEntry) []*offload.Image {
	t.Helper()
	data, err := image.WriteBundle(2, entries)
	if err != nil {
		t.Fatal(err)
	}
	list, err := image.Split("app", data)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestUnknownImageHidesNoOther(t *testing.T) {
	list := split(t,
		image.BundleEntry{Kind: image.BundlePTX, Strings: map[string]string{"triple": "nvptx64-nvidia-cuda", "arch": "sm_90"}, Data: []byte(ptx)},
		image.BundleEntry{Kind: image.BundleObject, Strings: map[string]string{"triple": "amdgcn-amd-amdhsa", "arch": "gfx90a"}, Data: []byte("__CLANG_OFFLOAD_BUNDLE__")},
		image.BundleEntry{Strings: map[string]string{"triple": "aarch64-linux"}, Data: elf(183, 0, 0)[:30]})
	if len(list) != 3 || list[0].Unusable != nil || list[0].Kind != offload.ImagePTX {
		t.Fatalf("%d images; the first: %+v", len(list), list[0])
	}
	for i, want := range []string{"", "no known format", "truncated"} {
		if err := list[i].Unusable; (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("image %d: %v", i, err)
		}
	}
	if g := list[1]; g.Target != "amdgcn-amd-amdhsa" || g.Arch != "gfx90a" || g.Label != "app[1]" {
		t.Errorf("the unknown image keeps its labels: %+v", g)
	}
	junk, err := image.WriteBundle(2, []image.BundleEntry{{Data: []byte("neither")}, {Data: []byte("nor")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := image.Split("junk", junk); offload.CodeOf(err) != offload.InvalidBinary {
		t.Errorf("a container of unknown images only: %v", err)
	}
}

func TestBytesWinOverLabels(t *testing.T) {
	for _, c := range []struct {
		name                 string
		kind                 image.BundleKind
		triple, arch         string
		data                 []byte
		wantTarget, wantArch string
		conflict             string
	}{
		{"agree", image.BundlePTX, "nvptx64-nvidia-cuda", "sm_80", []byte(ptx), "nvptx64-nvidia-cuda", "sm_80", ""},
		{"arch", image.BundlePTX, "nvptx64-nvidia-cuda", "sm_90", []byte(ptx), "nvptx64-nvidia-cuda", "sm_80", "arch sm_90, but the bytes are for sm_80"},
		{"kind", image.BundleCubin, "nvptx64-nvidia-cuda", "sm_80", []byte(ptx), "nvptx64-nvidia-cuda", "sm_80", "kind cubin, but the bytes are ptx"},
		{"triple refines", image.BundleObject, "amd64-unknown-linux-gnu", "generic", elf(62, 0, 0), "amd64-unknown-linux-gnu", "", ""},
		{"triple contradicts", image.BundleObject, "x86_64-unknown-linux-gnu", "", elf(183, 0, 0), "aarch64", "", "triple x86_64-unknown-linux-gnu, but the bytes are for aarch64"},
		{"both", image.BundlePTX, "amdgcn-amd-amdhsa", "gfx90a", []byte(ptx), "nvptx64-nvidia-cuda", "sm_80", "gfx90a, but the bytes are for sm_80"},
		{"arch of the label only", image.BundleObject, "x86_64-linux", "x86-64-v4", elf(62, 0, 0), "x86_64-linux", "x86-64-v4", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			img := split(t, image.BundleEntry{Kind: c.kind, Strings: map[string]string{"triple": c.triple, "arch": c.arch}, Data: c.data})[0]
			if img.Target != c.wantTarget || img.Arch != c.wantArch {
				t.Errorf("for %q, %q", img.Target, img.Arch)
			}
			if (c.conflict == "") != (img.Conflict == "") || !strings.Contains(img.Conflict, c.conflict) {
				t.Errorf("conflict %q, want %q", img.Conflict, c.conflict)
			}
			if img.Meta["triple"] != c.triple || img.Meta["arch"] != c.arch {
				t.Errorf("the labels are lost: %v", img.Meta)
			}
		})
	}
}
