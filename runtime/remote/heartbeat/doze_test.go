package heartbeat

import (
	"testing"
	"time"
)

// TestDoze lets a process tell another one that it dozes, and be woken by it.
func TestDoze(t *testing.T) {
	worker, workerLeaves, _ := newHeartbeats(1, time.Minute)
	host, hostLeaves, _ := newHeartbeats(0, time.Minute)
	dozed, woken := make(chan int, 8), make(chan string, 8)
	host.Dozes = func(id int) { dozed <- id }
	host.Woken = func() { woken <- "host" }
	worker.Woken = func() { woken <- "worker" }
	port, token, err := worker.Listen(true)
	if err != nil {
		t.Fatal(err)
	}
	if n := host.Connected(); n != 0 {
		t.Errorf("%d connections before the first", n)
	}
	if err := host.Connect(1, []string{"127.0.0.1"}, port, token); err != nil {
		t.Fatal(err)
	}
	for host.Connected() != 1 || worker.Connected() != 1 {
		time.Sleep(time.Millisecond)
	}
	worker.Doze()
	if id := <-dozed; id != 1 {
		t.Errorf("process %d dozes, not 1", id)
	}
	host.Wake(2) // is not connected
	host.Wake(1)
	if who := <-woken; who != "worker" {
		t.Errorf("the %s was woken", who)
	}
	close(hostLeaves)
	close(workerLeaves)
	host.Part()
	worker.Part()
	if len(dozed)+len(woken) > 0 {
		t.Errorf("%d and %d further calls", len(dozed), len(woken))
	}
}
