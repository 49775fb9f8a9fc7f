//go:build linux

package repl_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/orepl/orepl/cmd/orepl/command"
)

// asProgram makes the test binary run as the program under test.
const asProgram = "OREPL_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(command.Main(command.Options{}))
	}
	os.Exit(m.Run())
}

// user simulates a user at a terminal.
type user struct {
	t      *testing.T
	keys   *os.File
	cmd    *exec.Cmd
	before unix.Termios
	dir    string
	exited chan error
	read   chan struct{} // closed when all output was read

	mu     sync.Mutex
	screen *screen
	raw    bytes.Buffer // all output of the program
}

// patience bounds every wait on a busy machine.
const patience = time.Minute

// sit starts the prompt in a terminal of this size, in a new folder.
func sit(t *testing.T, columns, rows int, env ...string) *user {
	t.Helper()
	return sitIn(t, []string{os.Args[0]}, columns, rows, env...)
}

// sitIn is sit for another program.
func sitIn(t *testing.T, program []string, columns, rows int, env ...string) *user {
	t.Helper()
	dir := t.TempDir()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	if err := pty.Setsize(master, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program[0], program[1:]...)
	cmd.Env = append(os.Environ(), append([]string{asProgram + "=1", "TERM=xterm", "NO_COLOR=1", "OREPL_GRAPHICS=text", "HOME=" + dir,
		"OREPL_HISTORY=" + filepath.Join(dir, "history")}, env...)...)
	cmd.Dir = dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	u := &user{t: t, keys: master, cmd: cmd, dir: dir, screen: newScreen(columns, rows), exited: make(chan error, 1)}
	u.before = u.modes()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	u.read = make(chan struct{})
	go func() {
		defer close(u.read)
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			u.mu.Lock()
			_, _ = u.screen.Write(buffer[:n])
			u.raw.Write(buffer[:n])
			u.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() { u.exited <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		master.Close()
		<-u.read
		if t.Failed() {
			t.Logf("the screen at the end:\n%s", u.all(0))
		}
	})
	return u
}

// resize changes the size of the terminal.
func (u *user) resize(columns, rows int) {
	u.t.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.screen.resize(columns, rows)
	if err := pty.Setsize(u.keys, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		u.t.Fatal(err)
	}
}

// modes returns the terminal's modes.
func (u *user) modes() unix.Termios {
	u.t.Helper()
	modes, err := unix.IoctlGetTermios(int(u.keys.Fd()), unix.TCGETS)
	if err != nil {
		u.t.Fatal(err)
	}
	return *modes
}

func (u *user) press(keys string) {
	u.t.Helper()
	if _, err := u.keys.WriteString(keys); err != nil {
		u.t.Fatal(err)
	}
}

// all returns all text of screen and scrollback from a line on.
func (u *user) all(from int) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.screen.text(from)
}

// row returns the index of the cursor's line.
func (u *user) row() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.screen.row
}

// until waits for a condition of the screen.
func (u *user) until(what string, holds func(*screen) bool) {
	u.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		u.mu.Lock()
		ok := holds(u.screen)
		u.mu.Unlock()
		if ok {
			return
		}
	}
	u.t.Fatalf("waited in vain for %s", what)
}

// sees waits for a text on the screen or in the scrollback, from a line on.
func (u *user) sees(from int, text string) {
	u.t.Helper()
	u.until(text, func(s *screen) bool { return strings.Contains(unnumbered(s.text(from)), text) })
}

// numbered matches the number of a prompt.
var numbered = regexp.MustCompile(`(?m)^\d+>`)

// unnumbered returns a text without the numbers of its prompts.
func unnumbered(text string) string { return numbered.ReplaceAllString(text, ">") }

// isPrompt reports whether the cursor is on an empty prompt.
func isPrompt(s *screen) bool {
	line := s.line(s.row)
	return unnumbered(line) == ">" && s.column == len(line)+1
}

// edits waits until the cursor's line equals a text.
func (u *user) edits(line string) {
	u.t.Helper()
	u.until("the line "+line, func(s *screen) bool { return unnumbered(s.line(s.row)) == strings.TrimRight(line, " ") })
}

// completes presses Tab every five seconds until the cursor's line equals a text. On a busy machine a completion may take too long and
// show nothing.
func (u *user) completes(line string) {
	u.t.Helper()
	var pressed time.Time
	u.until("the line "+line, func(s *screen) bool {
		if time.Since(pressed) > 5*time.Second {
			pressed = time.Now()
			u.press("\t")
			return false
		}
		return unnumbered(s.line(s.row)) == strings.TrimRight(line, " ")
	})
}

// prompted waits for an empty prompt below a line.
func (u *user) prompted(below int) {
	u.t.Helper()
	u.until("a prompt", func(s *screen) bool { return s.row > below && isPrompt(s) })
}

// types types a text and waits until it, or its end if it wraps, is on the screen.
func (u *user) types(text string) {
	u.t.Helper()
	u.press(text)
	tail := text[max(len(text)-20, 0):]
	u.until(tail, func(s *screen) bool {
		shown := s.line(s.row)
		if s.row > 0 && len([]rune(shown)) < 20 {
			shown = string(s.lines[s.row-1]) + shown
		}
		return strings.HasSuffix(shown, strings.TrimRight(tail, " "))
	})
}

// taken waits until the program has read all keys, so that further ones are not part of the same burst.
func (u *user) taken() {
	u.t.Helper()
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", u.cmd.Process.Pid))
	if err != nil {
		u.t.Fatal(err)
	}
	terminal, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOCTTY, 0)
	if err != nil {
		u.t.Fatal(err)
	}
	defer terminal.Close()
	u.until("the keys to be read", func(*screen) bool {
		n, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCINQ)
		return err == nil && n == 0
	})
}

// busy waits until the program has used another 0.2 s of processor time, and so is running the entered code.
func (u *user) busy() {
	u.t.Helper()
	ticks := func() (n int) { // processor time in units of 10 ms
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", u.cmd.Process.Pid))
		if err != nil {
			u.t.Fatal(err)
		}
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		for _, field := range fields[11:13] {
			k, _ := strconv.Atoi(field)
			n += k
		}
		return n
	}
	began := ticks()
	u.until("work of the program", func(*screen) bool { return ticks() >= began+20 })
}

// interrupt presses Ctrl-C during a line's run, and waits for the next prompt. A Ctrl-C between the end of editing and the
// start of the run is lost, so it is repeated after some time.
func (u *user) interrupt(row int) (took time.Duration) {
	u.t.Helper()
	u.until("the line to run", func(s *screen) bool { return s.row > row && u.modes().Lflag&unix.ISIG != 0 })
	time.Sleep(100 * time.Millisecond)
	prompt := func(s *screen) bool { return s.row > row && isPrompt(s) }
	var began time.Time
	for range 3 {
		began = time.Now()
		u.press("\x03")
		for end := began.Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
			u.mu.Lock()
			done := prompt(u.screen)
			u.mu.Unlock()
			if done {
				return time.Since(began)
			}
		}
	}
	u.prompted(row)
	return time.Since(began)
}

// enters enters lines one by one, waits for the next prompt, and returns the output.
func (u *user) enters(lines ...string) (printed string) {
	u.t.Helper()
	below := 0
	for i, line := range lines {
		u.types(line)
		below = u.row()
		u.press("\r")
		if i+1 < len(lines) {
			u.until("a further prompt", func(s *screen) bool { return s.row > below && s.line(s.row) == "..." })
		}
	}
	u.prompted(below)
	u.mu.Lock()
	defer u.mu.Unlock()
	text := u.screen.text(below + 1)
	return strings.TrimRight(strings.TrimSuffix(unnumbered(text), ">"), "\n")
}

// giveUp discards the line by Ctrl-C.
func (u *user) giveUp() {
	u.t.Helper()
	row := u.row()
	u.press("\x03")
	u.prompted(row)
}

// leaves waits for the end of the program and returns its exit code. The terminal's modes must be restored.
func (u *user) leaves() int {
	u.t.Helper()
	select {
	case <-u.exited:
	case <-time.After(patience):
		u.t.Fatal("the program did not end")
	}
	select {
	case <-u.read:
	case <-time.After(patience):
		u.t.Fatal("another process keeps the terminal")
	}
	if after := u.modes(); after != u.before {
		u.t.Errorf("the terminal was left in other modes: %+v, not %+v", after, u.before)
	}
	return u.cmd.ProcessState.ExitCode()
}
