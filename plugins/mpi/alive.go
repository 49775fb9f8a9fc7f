package mpi

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/orepl/orepl/plugins/mpi/internal/bell"
	"github.com/orepl/orepl/plugins/mpi/internal/members"
	"github.com/orepl/orepl/runtime/job"
	"github.com/orepl/orepl/runtime/remote/heartbeat"
	"github.com/orepl/orepl/runtime/remote/silence"
)

// ConnectVariable is an environment variable. The value off turns off the TCP connections by which processes detect the death of
// others, for networks that forbid them. [silence.Variable] has the time after which a silent process is lost.
const ConnectVariable = "OREPL_MPI_SILENCE"

const tokenSize = 16

// identity is the message that processes exchange through MPI when they start.
type identity struct {
	Role    byte
	Watched byte // 0 if the process does not use connections
	Machine [64]byte
	Network [sha256.Size]byte
	Port    uint16
	Token   [tokenSize]byte
	Places  [8][16]byte // IP addresses; unused ones are zero
	Bell    bell.Address
	Cores   cores
}

// meet returns the identities of all processes, by rank. It is collective: all processes must call it.
func (w *world) meet(me *identity) ([]identity, error) {
	mine, err := binary.Append(nil, binary.LittleEndian, me)
	if err != nil {
		return nil, err
	}
	data, err := w.lib.Gather(mine)
	if err != nil {
		return nil, err
	}
	all := make([]identity, w.lib.Size)
	_, err = binary.Decode(data, binary.LittleEndian, all)
	return all, err
}

// network identifies the network in which addresses of loopback interfaces reach the same processes: that of a running system, or of
// a container on it. The name of the machine would not suffice, since machines may have equal names.
func network() [sha256.Size]byte {
	name, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // both are empty on other systems
	space, _ := os.Readlink("/proc/self/ns/net")
	return sha256.Sum256([]byte(name + "\n" + string(boot) + space))
}

// isFirst reports whether a process is the first host, which watches the other hosts, too.
func (w *world) isFirst(rank int) bool { return len(w.scripts.hosts) > 0 && w.scripts.hosts[0] == rank }

// mayConnect reports whether another process connects to this one: hosts connect to workers, and the first host to the
// other hosts.
func (w *world) mayConnect(rank int) bool {
	return rank != w.lib.Rank && rank >= 0 && rank < len(w.roles) && w.roles[rank] == hostRole && (w.role == workerRole || w.isFirst(rank))
}

// introduce determines the roles of all processes. It connects hosts with workers, and the first host with the other hosts,
// unless a process has turned connections off. It is collective.
func (w *world) introduce() error {
	limit, err := silence.Limit(silence.Distant)
	if err != nil {
		return err
	}
	if os.Getenv(ConnectVariable) == "off" {
		limit = 0
	}
	w.dozers = make([]atomic.Bool, w.lib.Size)
	w.beats = &heartbeat.Watch{ID: w.lib.Rank, Silence: limit, Leaving: w.finishing, Lost: w.lose,
		Troubled: func() bool { return w.losses.Load() > 0 },
		Accepts:  w.expects, Frozen: w.frozen, Dozes: func(rank int) { w.dozers[rank].Store(true) }, Woken: w.rouse}
	me := &identity{Role: w.role, Watched: 1, Network: network(), Bell: w.bell.Address(), Cores: usable()}
	if limit == 0 {
		me.Watched = 0
	}
	name, _ := os.Hostname()
	copy(me.Machine[:], name)
	all, err := w.meet(me)
	if err != nil {
		return err
	}
	watched, near := true, true
	neighbors, shared := 0, cores{}
	w.bells, w.processes = make([]*bell.Bell, len(all)), make([]int, len(all))
	for rank, p := range all {
		if p.Machine == me.Machine {
			neighbors++
			shared.add(&p.Cores)
		}
		if rank != w.lib.Rank && p.Network == me.Network && p.Machine == me.Machine {
			if w.bells[rank] = bell.Open(p.Bell); w.bells[rank] != nil {
				w.processes[rank] = int(p.Bell.PID)
			}
		}
		if p.Role == hostRole {
			w.scripts.hosts = append(w.scripts.hosts, len(w.roles))
		}
		w.roles = append(w.roles, p.Role)
		watched = watched && p.Watched != 0
		near = near && p.Network == me.Network
	}
	w.roomy = neighbors <= shared.count() && len(w.scripts.hosts) == len(all)
	if !watched {
		w.beats.Silence = 0
		return nil
	}
	first := w.isFirst(w.lib.Rank)
	if w.role == workerRole || !first {
		if err := w.expect(me, near); err != nil {
			return err
		}
	}
	if all, err = w.meet(me); err != nil || w.role != hostRole {
		return err
	}
	for rank, p := range all {
		if p.Role == workerRole || first && rank != w.lib.Rank {
			if err := w.attach(rank, &p, me); err != nil {
				return err
			}
		}
	}
	return nil
}

// expect accepts connections of hosts, and sets the port, the token and the addresses in me. If near is set, all processes share this
// network, and only the loopback interface is used.
func (w *world) expect(me *identity, near bool) error {
	port, token, err := w.beats.Listen(near)
	if err != nil {
		return err
	}
	me.Port = port
	if _, err := hex.Decode(me.Token[:], []byte(token)); err != nil {
		return err
	}
	list, err := net.InterfaceAddrs()
	if err != nil {
		return err
	}
	n := 0
	for _, a := range list {
		ip, ok := a.(*net.IPNet)
		if !ok || n == len(me.Places) || ip.IP.IsLoopback() || ip.IP.IsLinkLocalUnicast() {
			continue
		}
		copy(me.Places[n][:], ip.IP.To16())
		n++
	}
	return nil
}

// attach connects this host to the worker or other host of a rank, whose identity is p.
func (w *world) attach(rank int, p, me *identity) error {
	var places []string
	if p.Network == me.Network {
		places = append(places, "127.0.0.1")
	}
	for _, b := range p.Places {
		if b != [16]byte{} {
			places = append(places, netip.AddrFrom16(b).Unmap().String())
		}
	}
	err := w.beats.Connect(rank, places, p.Port, hex.EncodeToString(p.Token[:]))
	if err == nil {
		return nil
	}
	if err := ended(rank); err != nil {
		return err
	}
	name, _, _ := bytes.Cut(p.Machine[:], []byte{0})
	return fmt.Errorf("rank %d on %s cannot be reached over TCP, which finds processes that died; allow it, or set %s=off: %w", rank, name, ConnectVariable, err)
}

// expects reports whether this process expects a connection of another one, and remembers that it had one.
func (w *world) expects(rank int) bool {
	if !w.mayConnect(rank) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watched[rank] = true
	return true
}

// lose marks a process as lost and ends all waits for it. A host also reports the loss to the processes that it is connected
// to. Later calls for the same process do nothing.
func (w *world) lose(rank int, why error) {
	w.mu.Lock()
	if w.lost[rank] != nil {
		w.mu.Unlock()
		return
	}
	w.lost[rank] = why
	w.left[rank] = true
	w.losses.Add(1)
	w.rouse()
	w.scripts.leave(rank, why)
	var streams []*stream
	for at, s := range w.streams {
		if at.rank == rank {
			streams = append(streams, s)
		}
	}
	w.mu.Unlock()
	for _, s := range streams {
		s.lose(why)
	}
	if w.role == hostRole { // workers may wait for it, too
		w.beats.Report(rank)
	}
}

// lostError returns the reason why a process is lost, nil if it is not.
func (w *world) lostError(rank int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost[rank]
}

// Finalizing MPI waits for all processes: endTime bounds it after a loss, slowTime otherwise.
const (
	endTime  = time.Second
	slowTime = time.Minute
)

// wait waits until this process has left the job, and returns the error that MPI had, if any. It first waits for the hosts to
// leave, a host for at most slowTime if nothing detects their death. If MPI does not end in time, it returns nil.
func (w *world) wait() error {
	var late <-chan time.Time
	if w.role == hostRole && w.beats.Silence == 0 {
		late = time.After(slowTime)
	}
	select {
	case <-w.finishing:
	case <-late:
		return nil
	}
	w.beats.Part()
	start := time.Now()
	looked := start
	var since time.Time
	for {
		select {
		case <-w.ended:
			return w.err
		case <-time.After(100 * time.Millisecond):
		}
		if w.losses.Load() > 0 {
			if since.IsZero() {
				since = time.Now()
			}
			if passedOn() && w.endStopped() && job.Current().Interface != job.OpenMPI { // MPICH waits for dead processes, too
				return nil
			}
		}
		if time.Since(looked) > endTime {
			w.endFrozen()
			looked = time.Now()
		}
		if !since.IsZero() && time.Since(since) > endTime || time.Since(start) > slowTime {
			w.endStopped()
			return nil
		}
	}
}

// frozen returns an error if a process of this machine was stopped by a signal and stays stopped; otherwise nil, also for a process
// under a debugger. It kills a stopped process that runs a script, since the launcher would wait for it. To kill the process of a
// worker might end the whole job.
func (w *world) frozen(rank int) error {
	var stopped members.Member
	for look := range 2 {
		if look > 0 {
			time.Sleep(lookEvery)
		}
		found, ok := members.Local()
		if stopped = found[rank]; !ok || !stopped.Stopped || stopped.Traced {
			return nil
		}
	}
	if w.roles[rank] == hostRole {
		kill(stopped)
	}
	return stoppedError(rank, stopped)
}

// kill ends the processes of a rank.
func kill(m members.Member) {
	for _, pid := range m.PIDs {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
}

// endFrozen kills the other processes of this machine that a signal has stopped, since at the job's end all wait for one
// another. It does nothing without connections.
func (w *world) endFrozen() {
	if w.beats.Silence == 0 {
		return
	}
	found, _ := members.Local()
	for rank, m := range found {
		if rank != w.lib.Rank && m.Stopped && w.frozen(rank) != nil {
			kill(m)
		}
	}
}

// passedOn reports whether the launcher has read all output of this process, as far as it goes to pipes. MPICH's launcher drops
// what it has not read when it finds a dead process.
func passedOn() bool { return unread(int(syscall.Stdout)) == 0 && unread(int(syscall.Stderr)) == 0 }

// endStopped ends the lost processes of this machine that a signal has stopped, since launchers and the end of MPI wait for them. It
// reports whether there was one. A worker ends none.
func (w *world) endStopped() (ok bool) {
	if w.role != hostRole {
		return false
	}
	found, _ := members.Local()
	for rank, m := range found {
		if m.Stopped && w.lostError(rank) != nil {
			kill(m)
			ok = true
		}
	}
	return ok
}
