package image

import (
	"path/filepath"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
)

// TestReplaceFileErrors checks the codes of files that cannot be written.
func TestReplaceFileErrors(t *testing.T) {
	dir := t.TempDir()
	if err := ReplaceFile(filepath.Join(dir, "none", "f"), nil); offload.CodeOf(err) != offload.NotFound {
		t.Errorf("a folder that does not exist: %v", err)
	}
	if err := ReplaceFile(dir, nil); offload.CodeOf(err) != offload.HostIO {
		t.Errorf("a folder: %v", err)
	}
}
