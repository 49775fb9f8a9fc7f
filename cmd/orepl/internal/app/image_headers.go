package app

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/orepl/orepl/kernels/include"
)

// writeHeaders implements orepl image headers.
func writeHeaders(inv *invocation) error {
	folders, err := inv.parseMixed()
	if err != nil {
		return err
	}
	if len(folders) > 1 {
		return &usageError{fmt.Sprintf("orepl image headers takes one folder, and got %d", len(folders)), "write orepl image headers include"}
	}
	folder := "."
	if len(folders) == 1 {
		folder = folders[0]
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	list, err := include.Headers.ReadDir(".")
	if err != nil {
		return err
	}
	for _, f := range list {
		text, err := include.Headers.ReadFile(f.Name())
		if err != nil {
			return err
		}
		path := filepath.Join(folder, f.Name())
		if err := os.WriteFile(path, text, 0o666); err != nil {
			return err
		}
		inv.printf(inv.Stdout, "%s\n", path)
	}
	return nil
}
