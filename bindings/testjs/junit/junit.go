// Package junit writes results of tests in the XML format of JUnit, which CI systems show.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"time"

	"github.com/orepl/orepl/bindings/testjs"
	"github.com/orepl/orepl/lang/diag"
)

// File holds the results of a file.
type File struct {
	Name    string
	Results []testjs.Result
	Err     error // of the file itself, or nil
}

type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []suite  `xml:"testsuite"`
}

type suite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Time     string     `xml:"time,attr"`
	Cases    []testcase `xml:"testcase"`
}

type testcase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	Time    string   `xml:"time,attr"`
	Failure *problem `xml:"failure"`
	Error   *problem `xml:"error"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Write writes the results of files. A file that failed itself is an error of a test with the file's name.
func Write(w io.Writer, files []File) error {
	var all suites
	for _, f := range files {
		s := suite{Name: f.Name}
		total := time.Duration(0)
		for _, r := range f.Results {
			c := testcase{Name: r.Name, Class: f.Name, Time: seconds(r.Duration)}
			if r.Err != nil {
				c.Failure = problemOf(r.Err)
				s.Failures++
			}
			total += r.Duration
			s.Cases = append(s.Cases, c)
		}
		if f.Err != nil {
			s.Errors++
			s.Cases = append(s.Cases, testcase{Name: f.Name, Class: f.Name, Time: seconds(0), Error: problemOf(f.Err)})
		}
		s.Tests, s.Time = len(s.Cases), seconds(total)
		all.Suites = append(all.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

func problemOf(err error) *problem {
	p := &problem{Message: diag.All(err)[0].Message}
	for _, d := range diag.All(err) {
		p.Text += diag.Format(d, false)
	}
	return p
}
