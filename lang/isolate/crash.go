package isolate

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/orepl/orepl/lang/diag"
)

// crash returns an error that describes why the process ended unexpectedly.
func (e *Engine) crash(err error) error {
	words := e.last.String()
	var exit *exec.ExitError
	status := "without an error"
	if errors.As(err, &exit) {
		status = exit.String()
	} else if err != nil {
		status = err.Error()
	}
	switch {
	case containsAny(words, "stack exceeds", "stack overflow"):
		return diag.New("stack-overflow", "the script nested its data or calls too deeply, and the process that ran it ended").
			WithHint("is there a recursion without an end?")
	case containsAny(words, "out of memory", "cannot allocate memory", "pthread_create failed", "failed to create new OS thread"):
		return diag.New("out-of-memory", "the script used more memory than is allowed, and the process that ran it ended").
			WithHint("raise the memory limit, or keep less alive")
	case strings.Contains(status, "signal: killed"):
		return diag.New("out-of-memory", "the process that ran the script was killed by the system").
			WithHint("it probably used too much memory; set a memory limit")
	}
	d := diag.New("crashed", "the process that ran the script ended: %s", status)
	if line := firstLine(words); line != "" {
		d.Notes = append(d.Notes, diag.Note{Message: "its last words: " + line})
	}
	return d
}

func containsAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// A head keeps the first bytes written to it, because a crash message starts with its cause.
type head struct {
	mu   sync.Mutex
	text []byte
}

const headSize = 8 << 10

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, p[:min(len(p), headSize-len(h.text))]...)
	return len(p), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text)
}
