// Package notify tells when files may have changed, by the notifications of the system.
//
// # Design
//
// Editors replace files by others of the same name, which ends a notification for the file itself. So the folders are watched, and
// what happened to which file is left out: the caller compares versions anyway. Polls remain necessary for network file systems,
// which do not notify of changes by other machines.
package notify

import (
	"errors"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// Watcher watches folders of files. Its methods are for one goroutine.
type Watcher struct {
	system  *fsnotify.Watcher
	folders map[string]bool
	changed chan struct{}
	ended   chan struct{}
}

// New returns a watcher without folders. The error says that the system has no notifications, or none left.
func New() (*Watcher, error) {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &Watcher{system: system, folders: map[string]bool{}, changed: make(chan struct{}, 1), ended: make(chan struct{})}
	go w.pass()
	return w, nil
}

// Set watches the folders of files, and those of the files that links lead to, instead of the previous ones. The error joins those
// of folders that cannot be watched.
func (w *Watcher) Set(paths []string) error {
	wanted := map[string]bool{}
	for _, path := range paths {
		wanted[filepath.Dir(path)] = true
		if target, err := filepath.EvalSymlinks(path); err == nil {
			wanted[filepath.Dir(target)] = true
		}
	}
	var failed []error
	for folder := range w.folders {
		if !wanted[folder] {
			_ = w.system.Remove(folder) // a folder that is gone is no longer watched
			delete(w.folders, folder)
		}
	}
	for folder := range wanted {
		if err := w.system.Add(folder); err != nil { // again for one that was replaced by another of the same name
			failed = append(failed, err)
			continue
		}
		w.folders[folder] = true
	}
	return errors.Join(failed...)
}

// Changed returns a channel that receives a value soon after something in a folder changed, one for several changes.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// pass passes on that something happened, unless only attributes changed. Errors stand for events that were lost.
func (w *Watcher) pass() {
	defer close(w.ended)
	for {
		select {
		case event, ok := <-w.system.Events:
			if !ok {
				return
			}
			if event.Op == fsnotify.Chmod {
				continue
			}
		case _, ok := <-w.system.Errors:
			if !ok {
				return
			}
		}
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
}

// Close ends the watcher and waits for its goroutine. It does not close the channel of Changed.
func (w *Watcher) Close() error {
	err := w.system.Close()
	<-w.ended
	return err
}
