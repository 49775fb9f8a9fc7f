package activity

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// role makes the test's program one that counts, until the end of its input.
const role = "OREPL_TEST_ACTIVITY"

func TestMain(m *testing.M) {
	if os.Getenv(role) == "" {
		os.Exit(m.Run())
	}
	Devices("cpu:0")
	if err := Publish(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	c := Current()
	c.Queues.Add(2)
	c.Commands.Add(3)
	c.Memory.Add(4)
	_, _ = CountReads(strings.NewReader("12345")).Read(make([]byte, 10))
	_, _ = CountWrites(io.Discard).Write(make([]byte, 6))
	Devices("opencl:0", "cpu:0")
	fmt.Println("counted")
	_, _ = io.ReadAll(os.Stdin)
}

// TestFind sees the counts of another process while it runs, and not after its end.
func TestFind(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("counted\n"))
	if _, err := io.ReadFull(out, line); err != nil || string(line) != "counted\n" {
		t.Fatalf("%q, %v", line, err)
	}
	find := func() *Process {
		for _, p := range Find() {
			if p.PID == cmd.Process.Pid {
				return &p
			}
		}
		return nil
	}
	p := find()
	if p == nil || !slices.Equal(p.Devices, []string{"cpu:0", "opencl:0"}) || p.More ||
		p.Queues != 2 || p.Commands != 3 || p.Memory != 4 || p.Received != 5 || p.Sent != 6 {
		t.Errorf("found %+v", p)
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	for end := time.Now().Add(time.Minute); find() != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("found after its end")
		}
	}
}

// TestManyDevices checks that names of devices beyond the room for them are left out, and that damaged memory is no process.
func TestManyDevices(t *testing.T) {
	defer func(list []string, room []byte) { names, showing = list, room }(names, showing)
	data := make([]byte, size)
	copy(data, magic)
	names, showing = nil, data[namesAt:]
	for i := range 1000 {
		Devices(fmt.Sprintf("far:%d/cpu:0", i))
	}
	p, ok := parse(1, data)
	if !ok || !p.More || len(p.Devices) < 200 || p.Devices[200] != "far:200/cpu:0" || strings.Contains(strings.Join(p.Devices, ","), "+") {
		t.Errorf("%v, %d devices, more: %v", ok, len(p.Devices), p.More)
	}
	for _, damaged := range [][]byte{nil, data[:size-1], bytes.Replace(data, []byte("orepl"), []byte("other"), 1)} {
		if _, ok := parse(1, damaged); ok {
			t.Errorf("%d bytes are taken for a process", len(damaged))
		}
	}
	data[namesAt], data[namesAt+1] = 0xff, 0xff
	if _, ok := parse(1, data); ok {
		t.Error("names beyond the memory are taken")
	}
}
