package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/orepl/orepl/lang/printable"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// services implements the host services of the script's kernels.
type services struct {
	registry *Registry
	queue    *session.Queue // queue of the launch; nil if its kernel calls no service
}

// On returns the services for launches on a queue.
func (r *Registry) On(q *session.Queue) contract.Services {
	s := r.perQueue[q]
	if s == nil {
		s = &services{registry: r, queue: q}
		r.perQueue[q] = s
	}
	return s
}

// Printing returns the services for launches of kernels that call none by name.
func (r *Registry) Printing() contract.Services { return r.noQueue }

// Forget drops the services of a queue that has been closed.
func (r *Registry) Forget(q *session.Queue) { delete(r.perQueue, q) }

// Print writes a kernel's line of output to the script's output. If the device belongs to another process, its id precedes the
// line.
func (s *services) Print(m *contract.Message) {
	text := printable.Text(m.Text)
	if strings.Contains(m.Device, "/") {
		text = printable.Text(m.Device) + ": " + text
	}
	s.registry.Engine.PrintLine(text)
}

// CheckService implements [contract.ServiceChecker].
func (s *services) CheckService(name string) error {
	_, err := s.registry.find(name)
	return err
}

// Call implements [contract.Services].
func (s *services) Call(ctx context.Context, r *contract.Request) (uint64, error) {
	return s.registry.serve(ctx, s.queue, r)
}

// ReturnsAtOnce implements [contract.PromptServices].
func (s *services) ReturnsAtOnce(name string) bool {
	of, err := s.registry.find(name)
	return err == nil && of.atOnce
}

// Warn implements [contract.Warner]. It may be called on any goroutine.
func (s *services) Warn(text string) {
	s.registry.Engine.Post(func() error { s.registry.Engine.WarnAlways(text, ""); return nil })
}

// OpenFile implements [contract.FileServices], subject to the engine's policy.
func (s *services) OpenFile(name, mode string) (contract.File, error) {
	base, update := strings.ReplaceAll(mode, "b", ""), strings.Contains(mode, "+")
	base = strings.ReplaceAll(base, "+", "")
	flags := map[string]int{"r": os.O_RDONLY, "w": os.O_CREATE | os.O_TRUNC | os.O_WRONLY, "a": os.O_CREATE | os.O_APPEND | os.O_WRONLY}
	flag, ok := flags[base]
	if !ok || strings.Count(mode, "b") > 1 || strings.Count(mode, "+") > 1 {
		return nil, contract.Errorf(contract.InvalidArgument, "open", "there is no mode %q for files", mode).WithHint("write r, w, a, r+, w+ or a+")
	}
	if update {
		flag = flag&^(os.O_RDONLY|os.O_WRONLY) | os.O_RDWR
	}
	if s.registry.Engine.Options().Files != nil {
		return nil, s.refused("open", name, errors.New("the script's files are part of the program"))
	}
	path := name
	var err error
	if base == "r" || update {
		path, err = s.registry.Engine.ReadPath(name)
	}
	if err == nil && (base != "r" || update) {
		path, err = s.registry.Engine.WritePath(name)
	}
	if err != nil {
		return nil, s.refused("open", name, err)
	}
	if err := s.registry.Engine.Options().CheckRegular("open", path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, flag, 0o666)
}

// RemoveFile implements [contract.FileServices].
func (s *services) RemoveFile(name string) error {
	path, err := s.writePath("remove", name)
	if err != nil {
		return err
	}
	return os.Remove(path)
}

// RenameFile implements [contract.FileServices].
func (s *services) RenameFile(from, to string) error {
	old, err := s.writePath("rename", from)
	if err != nil {
		return err
	}
	path, err := s.writePath("rename", to)
	if err != nil {
		return err
	}
	return os.Rename(old, path)
}

// writePath returns the absolute path of a file that op changes, or the error for one that the policy denies.
func (s *services) writePath(op, name string) (string, error) {
	path, err := s.registry.Engine.WritePath(name)
	if err != nil {
		return "", s.refused(op, name, err)
	}
	return path, nil
}

// refused returns the error of op for a file that the policy denies.
func (s *services) refused(op, name string, err error) error {
	return &contract.Error{Code: contract.PermissionDenied, Op: op, Detail: fmt.Sprintf("a kernel may not use the file %q", name), Err: err}
}
