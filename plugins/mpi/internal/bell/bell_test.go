package bell_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/mpi/internal/bell"
)

// role makes the test's program one that owns a bell and says when it rings.
const role = "OREPL_TEST_BELL"

func TestMain(m *testing.M) {
	if os.Getenv(role) == "" {
		os.Exit(m.Run())
	}
	b := bell.New()
	text, _ := json.Marshal(b.Address())
	fmt.Println(string(text))
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		state := b.Hear()
		fmt.Println("hears")
		start := time.Now()
		for b.State() == state && time.Since(start) < time.Minute {
			b.Wait(state, time.Minute)
		}
		fmt.Println(b.State()&1 == 0 && b.State() != state)
	}
}

// TestRing rings the bell of another process again and again while it sleeps. A bell with another token is not found.
func TestRing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes ring each other's bells on Linux")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"=1")
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	next := func() string {
		if !lines.Scan() {
			t.Fatal("the process has ended")
		}
		return lines.Text()
	}
	var a bell.Address
	must(t, json.Unmarshal([]byte(next()), &a))
	wrong := a
	wrong.Token[0]++
	gone := a
	gone.File += 100
	if bell.Open(wrong) != nil || bell.Open(gone) != nil || bell.Open(bell.Address{}) != nil {
		t.Error("a bell that does not exist is found")
	}
	b := bell.Open(a)
	if b == nil {
		t.Fatal("the bell is not found")
	}
	b.Ring() // not heard
	for range 100 {
		_, err := in.Write([]byte("\n"))
		must(t, err)
		if text := next(); text != "hears" {
			t.Fatal(text)
		}
		b.Ring()
		b.Ring()
		if text := next(); text != "true" {
			t.Fatal("it does not ring")
		}
	}
	must(t, in.Close())
	must(t, cmd.Wait())
	b.Ring() // nobody is left
	(*bell.Bell)(nil).Ring()
}

// TestWake checks that Wait sees each call of Wake, also one before it, and ends after its time.
func TestWake(t *testing.T) {
	b := bell.New()
	for range 1000 {
		state := b.State()
		woken := make(chan bool)
		go func() { b.Wake(); close(woken) }()
		for start := time.Now(); b.State() == state; {
			if b.Wait(state, time.Minute); time.Since(start) > time.Minute {
				t.Fatal("Wait did not end")
			}
		}
		<-woken
	}
	state := b.Hear()
	b.Ignore()
	b.Ring()
	if b.State() != state-1 {
		t.Error("a bell that is ignored rings")
	}
	b.Wait(b.State(), time.Millisecond)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
