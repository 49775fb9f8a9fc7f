package oracle

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/orepl/orepl/lang/kernel/emitjs"
)

//go:embed server.js
var server string

// Node is a Node.js process that runs cases. Only one goroutine may use it at a time.
type Node struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errors bytes.Buffer
	file   string // path of the script
}

// caseTimeout is the maximum duration of a case. A case takes milliseconds, but a busy machine may delay the process
// considerably.
const caseTimeout = 5 * time.Minute

// ErrNodeEnded reports that the process has ended, possibly by a timeout of a case. It accepts no further cases.
var ErrNodeEnded = errors.New("node ended")

// ErrNoNode reports that Node.js is not installed.
var ErrNoNode = errors.New("node is not installed")

// StartNode starts a Node.js process. The error is ErrNoNode if Node.js is not installed.
func StartNode() (*Node, error) {
	path, err := exec.LookPath("node")
	if err != nil {
		return nil, ErrNoNode
	}
	file, err := os.CreateTemp("", "oracle-*.js")
	if err != nil {
		return nil, err
	}
	n := &Node{file: file.Name()}
	if _, err = io.WriteString(file, emitjs.Runtime+server); err == nil {
		err = file.Close()
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(n.file))
	}
	n.cmd = exec.Command(path, n.file)
	n.cmd.Stderr = &n.errors
	in, err := n.cmd.StdinPipe()
	if err != nil {
		return nil, errors.Join(err, os.Remove(n.file))
	}
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, os.Remove(n.file))
	}
	n.in, n.out = in, bufio.NewReaderSize(out, 1<<20)
	if err := n.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.Remove(n.file))
	}
	return n, nil
}

// Close closes the input of the process, waits for its end, and removes its script.
func (n *Node) Close() error {
	return errors.Join(n.in.Close(), n.cmd.Wait(), os.Remove(n.file))
}

type nodeArg struct {
	Type string  `json:"type,omitempty"`
	Bits string  `json:"bits,omitempty"`
	Name string  `json:"name,omitempty"`
	Data []byte  `json:"data,omitempty"`
	Dims []int32 `json:"dims,omitempty"`
}

type nodeCase struct {
	Kernel       string    `json:"kernel"`
	Size         [3]int    `json:"size"`
	GroupSize    [3]int    `json:"groupSize"`
	SubgroupSize int       `json:"subgroupSize"`
	Unchecked    bool      `json:"unchecked"`
	Args         []nodeArg `json:"args"`
}

type nodeReply struct {
	Data   [][]byte `json:"data"`
	Fault  *Fault   `json:"fault"`
	Prints []Print  `json:"prints"`
	Error  string   `json:"error"`
}

// Run runs the case in the process. A case with overlapping buffers is an error. The error wraps ErrNodeEnded if the process
// ends or the case takes longer than caseTimeout.
func (n *Node) Run(c *Case) (*Outcome, error) {
	source, err := emitjs.Emit(c.Kernel)
	if err != nil {
		return nil, err
	}
	ask := nodeCase{Kernel: source, Size: c.Size, GroupSize: c.GroupSize, SubgroupSize: c.SubgroupSize, Unchecked: c.Unchecked}
	if ask.SubgroupSize == 0 {
		ask.SubgroupSize = 32
	}
	for i, a := range c.Args {
		p := &c.Kernel.Params[i]
		if a.Of > 0 {
			return nil, fmt.Errorf("node: buffer %s overlaps another", p.Name)
		}
		if p.Array == nil {
			ask.Args = append(ask.Args, nodeArg{Type: p.Type.String(), Bits: strconv.FormatUint(a.Bits, 10)})
		} else {
			ask.Args = append(ask.Args, nodeArg{Name: p.Array.Name, Data: a.Data, Dims: a.Dims})
		}
	}
	line, err := json.Marshal(&ask)
	if err != nil {
		return nil, err
	}
	timer := time.AfterFunc(caseTimeout, func() { _ = n.cmd.Process.Kill() })
	defer timer.Stop()
	if _, err := n.in.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("%w: %w: %s", ErrNodeEnded, err, n.errors.String())
	}
	answer, err := n.out.ReadBytes('\n')
	if err != nil {
		if !timer.Stop() {
			return nil, fmt.Errorf("%w: the case took longer than %v", ErrNodeEnded, caseTimeout)
		}
		return nil, fmt.Errorf("%w: %w: %s", ErrNodeEnded, err, n.errors.String())
	}
	var reply nodeReply
	if err := json.Unmarshal(answer, &reply); err != nil {
		return nil, err
	}
	if reply.Error != "" {
		return nil, fmt.Errorf("node: %s\n%s", reply.Error, source)
	}
	return &Outcome{reply.Data, reply.Fault, reply.Prints}, nil
}
