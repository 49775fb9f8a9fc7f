// Package far is the plugin for devices of workers: processes of the command orepl worker, on this machine or another. The
// devices of a single worker are far:cpu:0, far:opencl:0 and so on, those of several far:0/cpu:0, far:1/cpu:0. Workers that join have the
// numbers after those listed.
// docs/remote.md is the manual.
//
// Package runtime/remote detects lost workers by the end of their stream or by silence.
//
// # Design
//
// A listed worker keeps its number even if it cannot be reached. Otherwise names of devices would stand for other machines from day
// to day.
package far

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
	"github.com/orepl/orepl/runtime/remote/socket"
)

// Name is the plugin's name.
const Name = "far"

// Variable is the name of the environment variable that lists the workers.
const Variable = "OREPL_FAR"

// Options are the plugin's options.
type Options struct {
	// Workers are addresses, as orepl worker prints them. "spawn" starts a worker, which ends with this process;
	// "spawn:FILE" runs that program. "listen:ADDRESS" waits for workers that join.
	Workers []string
	// Tell receives lines for the user: where workers can join, and why one could not. Nil: none.
	Tell func(line string)
}

// FromEnvironment returns the options in OREPL_FAR, which has addresses separated by commas. Lines for the user go to standard error.
func FromEnvironment() (o Options) {
	text := os.Getenv(Variable)
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			o.Workers = append(o.Workers, part)
		}
	}
	o.Tell = func(line string) { fmt.Fprintln(os.Stderr, line) }
	return o
}

type plugin struct {
	offload.Plugin
	workers int
}

// Unconfigured returns instructions for listing workers, or "" if workers are listed.
func (p plugin) Unconfigured() string {
	if p.workers > 0 {
		return ""
	}
	return "far has the devices of workers: set " + Variable + "=spawn, or to the address that orepl worker prints"
}

// New returns the plugin.
func New(o Options) offload.Plugin {
	var listed, listens []string
	for _, worker := range o.Workers {
		if address, ok := strings.CutPrefix(worker, listenPrefix); ok {
			listens = append(listens, address)
		} else {
			listed = append(listed, worker)
		}
	}
	peers := func(context.Context) (peers []remote.Peer, err error) {
		for i, worker := range listed {
			p := remote.Peer{Name: strconv.Itoa(i)}
			if len(o.Workers) == 1 {
				p.Name = ""
			}
			if p.Dial, err = dialer(worker); err != nil {
				return nil, wrong(fmt.Sprintf("worker %d", i), err)
			}
			peers = append(peers, p)
		}
		return peers, nil
	}
	if len(listens) == 0 {
		return plugin{workers: len(o.Workers), Plugin: remote.NewCluster(Name, peers)}
	}
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	admit := func(context.Context) (remote.Admission, error) { return admission(listens, o.Tell) }
	return plugin{workers: len(o.Workers), Plugin: remote.NewGrowing(Name, peers, admit, func(err error) {
		o.Tell("far: a worker could not join: " + err.Error())
	})}
}

// wrong returns the error of a wrong option.
func wrong(what string, err error) error {
	e := offload.Errorf(offload.InvalidArgument, "open", "%s", what).On(Name, "")
	e.Err = err
	return e
}

func dialer(worker string) (remote.Dial, error) {
	if word, program, _ := strings.Cut(worker, ":"); word == "spawn" {
		return func(context.Context) (io.ReadWriteCloser, error) { return spawn(program) }, nil
	}
	a, err := socket.ParseAddress(worker)
	if err == nil && a.Token == "" {
		a, err = a.WithToken("")
	}
	return a.Dial, err
}

// command returns the path of the command orepl: this program if it is orepl, otherwise by the search path.
func command() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasSuffix(info.Path, "/cmd/orepl") {
		return os.Executable()
	}
	path, err := exec.LookPath("orepl")
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("the command orepl is not on the path: write spawn:FILE in %s", Variable)
	}
	return path, err
}
