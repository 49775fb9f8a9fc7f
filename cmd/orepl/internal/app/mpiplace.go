package app

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/orepl/orepl/cmd/orepl/internal/placement"
	"github.com/orepl/orepl/runtime/job"
)

// mpiPlace is where orepl mpirun starts processes, by its flags.
type mpiPlace struct {
	hosts, file string
	share       uint
	list        []placement.Host // with the number of processes of each; empty for this machine
}

// resolve finds the machines of n workers or scripts. The script of workers runs on this machine.
func (p *mpiPlace) resolve(n int, spmd bool) error {
	var hosts []placement.Host
	var err error
	switch {
	case p.hosts != "" && p.file != "":
		return &usageError{"--hosts and --hostfile exclude each other", "write the machines into the file, or into --hosts a,b"}
	case p.file != "":
		if hosts, err = placement.ReadHosts(p.file); err != nil {
			return &usageError{fmt.Sprintf("--hostfile: %v", err), "a file of one machine per line: a, b:2 or b slots=2"}
		}
	case p.hosts != "":
		if hosts, err = placement.ParseHosts(p.hosts); err != nil {
			return &usageError{fmt.Sprintf("--hosts: %v", err), "write --hosts a,b or --hosts a:2,b:2"}
		}
	default:
		return nil
	}
	p.list = placement.Spread(hosts, n)
	if spmd {
		return nil
	}
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	here := placement.Host{Name: name, Slots: 1}
	if p.list[0].Name == name { // the launcher starts processes in the order of the list
		p.list[0].Slots++
		return nil
	}
	p.list = append([]placement.Host{here}, p.list...)
	return nil
}

// flags returns the launcher's flags with the machines. Open MPI's processes on other machines get the variables of this command by name.
func (p *mpiPlace) flags(flags, env []string, spmd bool) []string {
	if len(p.list) == 0 {
		return flags
	}
	machines := placement.List(p.list)
	if !slices.Contains(flags, "--oversubscribe") { // MPICH
		return append(flags, "-hosts", machines)
	}
	if spmd { // scripts on other machines report their status to the launcher, which drops it with recovery
		flags = slices.DeleteFunc(flags, func(f string) bool { return f == "--enable-recovery" })
	}
	flags = append(flags, "--host", machines, "-x", job.StatusVariable)
	for _, variable := range append(slices.Clone(env), p.variables(spmd)...) {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "OREPL_") && name != job.StatusVariable {
			flags = append(flags, "-x", name)
		}
	}
	return flags
}

// variables returns the environment by which processes take their accelerators.
func (p *mpiPlace) variables(spmd bool) (list []string) {
	if p.share == 0 {
		return nil
	}
	list = append(list, placement.ShareVariable+"="+strconv.Itoa(int(p.share)))
	if !spmd {
		list = append(list, placement.WorkersVariable+"=1")
	}
	return list
}
