// Package record is the file format of a run of benchmarks, with the machine that it ran on. It reads and writes the JSON that
// docs/benchmarks.schema.json describes, and writes tables for other programs.
package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/orepl/orepl/bindings/bench/stats"
)

// Version is the version of the format.
const Version = 1

// Run is a run of benchmarks.
type Run struct {
	Version   int       `json:"version"`
	Date      time.Time `json:"date"`
	Commit    string    `json:"commit,omitempty"` // of the repository that holds the working directory
	Arguments []string  `json:"arguments"`        // arguments of the scripts
	Machine   Machine   `json:"machine"`
	Files     []File    `json:"files"`
}

// File holds the results of one script.
type File struct {
	Name    string   `json:"file"`
	Results []Result `json:"results"`
	Error   string   `json:"error,omitempty"` // error that ended the script
}

// Result is a result of the module 'bench', with the same names. Times are in milliseconds per call.
type Result struct {
	Name         string             `json:"name"`
	Group        string             `json:"group,omitempty"`
	Params       Params             `json:"params,omitempty"`
	Variant      string             `json:"variant,omitempty"`
	Median       Number             `json:"median"`
	Low          Number             `json:"low"`
	High         Number             `json:"high"`
	Least        Number             `json:"least"`
	Most         Number             `json:"most"`
	Deviation    Number             `json:"deviation"`
	Outliers     stats.Outliers     `json:"outliers"`
	Modes        []float64          `json:"modes,omitempty"`
	Noisy        bool               `json:"noisy"`
	Interference float64            `json:"interference,omitempty"`
	Others       *float64           `json:"others,omitempty"` // the share of other programs meanwhile, if it is known
	Samples      int                `json:"samples"`
	Batch        int                `json:"batch"`
	Times        []float64          `json:"times"`
	Clock        string             `json:"clock"`
	Device       string             `json:"device,omitempty"`
	Checks                          // results of the checks
	Rates                           // amounts per second
	Against      *VariantComparison `json:"against,omitempty"`
	medians      []float64          // the medians of the runs that the result joins
}

// Checks says whether a result counts.
type Checks struct {
	Verified *bool    `json:"verified,omitempty"`
	Wrong    string   `json:"wrong,omitempty"`
	Failed   string   `json:"failed,omitempty"`
	Missed   []string `json:"missed,omitempty"`
	Met      []string `json:"met,omitempty"` // the conditions of --fail-if that the result meets
}

// Rates are amounts per second, and the share of the roofline.
type Rates struct {
	GigabytesPerSecond float64 `json:"gigabytesPerSecond,omitempty"`
	Gigaflops          float64 `json:"gigaflops,omitempty"`
	Roofline           float64 `json:"roofline,omitempty"`
}

// VariantComparison compares a variant with the first one of its point.
type VariantComparison struct {
	Variant string `json:"variant"`
	stats.Comparison
	Verdict string `json:"verdict"`
}

// Bad returns the reason for which a result fails a run, or "".
func (r *Result) Bad() string {
	switch {
	case r.Failed != "":
		return "failed: " + r.Failed
	case r.Wrong != "":
		return "wrong: " + r.Wrong
	case len(r.Missed) > 0:
		return "missed a threshold: " + r.Missed[0]
	case len(r.Met) > 0:
		return r.Met[0]
	}
	return ""
}

// Number is a number whose JSON form is null if it is not finite.
type Number float64

// MarshalJSON implements [json.Marshaler].
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	var v float64
	err := json.Unmarshal(data, &v)
	*n = Number(v)
	return err
}

// Write writes a run as JSON.
func (r *Run) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	return nil
}

// Read reads a run from JSON. It fails for text of another kind, for a later version, and for samples that are not times.
func Read(data []byte) (*Run, error) {
	var r Run
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&r); err != nil {
		return nil, errors.New("the file does not hold results of orepl bench")
	}
	switch {
	case r.Version == 0 || r.Files == nil:
		return nil, errors.New("the file does not hold results of orepl bench")
	case r.Version > Version:
		return nil, fmt.Errorf("the file has version %d of the format; this program reads up to %d", r.Version, Version)
	}
	for _, f := range r.Files {
		for _, res := range f.Results {
			for _, t := range res.Times {
				if !(t >= 0) {
					return nil, fmt.Errorf("the sample %v of %s is not a time", t, res.Name)
				}
			}
		}
	}
	return &r, nil
}

// Results returns the results of all files.
func (r *Run) Results() []Result {
	var list []Result
	for _, f := range r.Files {
		list = append(list, f.Results...)
	}
	return list
}
