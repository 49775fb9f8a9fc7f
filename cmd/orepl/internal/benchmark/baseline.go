package benchmark

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/orepl/orepl/bindings/bench/history"
	"github.com/orepl/orepl/bindings/bench/record"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/lang/spelling"
)

// folder is the path of the baselines and histories, below the working directory.
var folder = filepath.Join(".orepl", "bench")

// baselineName matches names of baselines.
var baselineName = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN_][\pL\pN._-]*$`) }}

// Path returns the file of a baseline: that of a name, or the file itself if it has a folder or the ending .json. For
// history:NAME it returns the folder of the history.
func Path(baseline string) string {
	if name, ok := strings.CutPrefix(baseline, historyPrefix); ok {
		return historyPath(name)
	}
	if strings.ContainsAny(baseline, `/\`) || strings.HasSuffix(baseline, ".json") {
		return baseline
	}
	return filepath.Join(folder, baseline+".json")
}

// historyPrefix is the prefix of the names of baselines that are the newest runs of a history.
const historyPrefix = "history:"

// historyPath returns the folder of a history.
func historyPath(name string) string { return filepath.Join(folder, name+".history") }

// LoadHistory reads the history of a name. The error is a [Misuse] if there is none, or it cannot be read.
func LoadHistory(name string) (*history.History, error) {
	h, err := history.Load(historyPath(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Misuse{fmt.Sprintf("there is no history %q", name), "orepl bench --history NAME FILE… keeps the results of each run"}
	case err != nil:
		return nil, &Misuse{err.Error(), "remove the file, or the history"}
	}
	return h, nil
}

// Load reads a baseline: that of a name, a file, or the newest runs of a history as one. The error is a [Misuse].
func Load(baseline string) (*record.Run, error) {
	if name, ok := strings.CutPrefix(baseline, historyPrefix); ok {
		h, err := LoadHistory(name)
		if err != nil {
			return nil, err
		}
		return h.Baseline(), nil
	}
	path := Path(baseline)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		hint := "orepl bench --save NAME keeps results as a baseline"
		names := saved()
		if near := spelling.Nearest(baseline, names); near != "" {
			hint = fmt.Sprintf("did you mean %s?", near)
		} else if len(names) > 0 {
			hint = "there are " + strings.Join(names, ", ")
		}
		if info, err := os.Stat(baseline); err == nil && info.Mode().IsRegular() {
			return nil, &Misuse{fmt.Sprintf("there is no baseline %q, and the file of this name is none, since it does not end in .json", baseline),
				fmt.Sprintf("name a file that --json wrote, as in --compare ./%s whatever its ending", baseline)}
		}
		if path == baseline {
			return nil, &Misuse{fmt.Sprintf("there is no file %q to compare with", baseline), "orepl bench --json FILE writes one; a name without a folder and .json is that of a baseline of --save"}
		}
		return nil, &Misuse{fmt.Sprintf("there is no baseline %q", baseline), hint}
	}
	if err != nil {
		return nil, &Misuse{fmt.Sprintf("the baseline %s cannot be read: %v", path, errors.Unwrap(err)), ""}
	}
	run, err := record.Read(data)
	if err != nil {
		return nil, &Misuse{fmt.Sprintf("%s is no baseline: %v", path, err), "orepl bench --save NAME or --json FILE writes one"}
	}
	return run, nil
}

// exists reports whether there is a baseline.
func exists(baseline string) bool {
	_, err := os.Stat(Path(baseline))
	return err == nil
}

// saved returns the names of the saved baselines.
func saved() []string {
	files, _ := filepath.Glob(filepath.Join(folder, "*.json")) // the pattern is valid
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(filepath.Base(f), ".json")
	}
	slices.Sort(names)
	return names
}
