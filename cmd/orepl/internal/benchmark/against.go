package benchmark

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"github.com/orepl/orepl/bindings/bench/record"
)

// turns is the number of runs of each program in a comparison.
const turns = 10

// program is one of the two programs that a comparison runs, with its runs so far.
type program struct {
	path string
	args []string
	env  []string
	runs []*record.Run
}

// RunAgainst runs scripts with this program and another one, in turn, and keeps the comparison for Finish. It returns the run of
// this program with the samples of all its runs. Settings reach the programs as variables, which older ones ignore.
func (o *Options) RunAgainst(ctx context.Context, self string, files, args, env []string, stderr io.Writer) (*record.Run, error) {
	other, err := exec.LookPath(o.Against)
	if err != nil {
		return nil, &Misuse{fmt.Sprintf("--against: %s is no program", o.Against), "name another build of orepl, as in --against ../old/orepl"}
	}
	words := append([]string{"bench", "--json", "-"}, files...)
	words = append(append(words, "--"), args...)
	settings := append(withoutOutputs(env), o.variables()...)
	mine, theirs := &program{self, words, settings, nil}, &program{other, words, settings, nil}
	for turn := range turns {
		order := []*program{mine, theirs}
		if turn%2 == 1 {
			order = []*program{theirs, mine}
		}
		for _, p := range order {
			if err := p.run(ctx); err != nil {
				return nil, err
			}
		}
		print(stderr, fmt.Sprintf("%d of %d turns\n", turn+1, turns))
	}
	_, now, c := record.CompareRuns(theirs.runs, mine.runs, o.Noise)
	o.pairs = &c
	return now, nil
}

// variables returns the settings as variables of the environment. Without a time or precision it selects quick, as many runs
// follow.
func (o *Options) variables() []string {
	quick := o.Quick || !o.chosen["time"] && !o.chosen["precision"]
	list := []string{bare + "=1", Variable("quick") + "=" + strconv.FormatBool(quick), Variable("filter") + "=" + o.Filter}
	for name, v := range map[string]float64{"time": o.Time, "precision": o.Precision} {
		if v > 0 {
			text := strconv.FormatFloat(v, 'g', -1, 64)
			if name == "time" {
				text += "ms"
			}
			list = append(list, Variable(name)+"="+text)
		}
	}
	return list
}

// withoutOutputs returns an environment without the variables of orepl bench.
func withoutOutputs(env []string) (list []string) {
	for _, kv := range env {
		if !strings.HasPrefix(kv, Variable("")) {
			list = append(list, kv)
		}
	}
	return list
}

// run runs the program once and adds its results to p.runs. The error is a [Misuse] if there are none.
func (p *program) run(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Env = p.env
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	run, bad := record.Read(out.Bytes())
	if bad != nil || len(run.Results()) == 0 {
		reason := strings.TrimSpace(said.String())
		if reason == "" {
			reason = errors.Join(err, bad).Error()
		}
		return &Misuse{fmt.Sprintf("%s gave no results: %s", p.path, reason), "both programs must run the scripts, and know --json FILE"}
	}
	p.runs = append(p.runs, run)
	return nil
}
