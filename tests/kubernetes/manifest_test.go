// Package kubernetes checks manifests of the documentation against Kubernetes' API types, from which its published schema is generated. It is
// a module of its own, so that others need not download them.
package kubernetes

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
)

// parse parses a manifest of a job strictly: an unknown name, or a value of another type, is an error.
func parse(manifest string) (*batch.Job, error) {
	data, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	job := new(batch.Job)
	return job, d.Decode(job)
}

func manifest(t *testing.T) string {
	page, err := os.ReadFile("../../docs/remote.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) != 1 {
		t.Fatalf("docs/remote.md has %d manifests", len(blocks))
	}
	return string(blocks[0][1])
}

// TestJob checks the manifest of workers: its names and types, and what Kubernetes requires beyond them.
func TestJob(t *testing.T) {
	job, err := parse(manifest(t))
	if err != nil {
		t.Fatal(err)
	}
	spec := job.Spec.Template.Spec
	if job.APIVersion != batch.SchemeGroupVersion.String() || job.Kind != "Job" || job.Name == "" || len(spec.Containers) != 1 {
		t.Fatalf("%s %s %q has %d containers", job.APIVersion, job.Kind, job.Name, len(spec.Containers))
	}
	if p := spec.RestartPolicy; p != core.RestartPolicyNever && p != core.RestartPolicyOnFailure {
		t.Errorf("the policy %q is not one of jobs", p)
	}
	c := spec.Containers[0]
	if c.Name == "" || c.Image == "" || !strings.HasPrefix(strings.Join(c.Command, " "), "orepl worker --join tls:") {
		t.Errorf("the container is %+v", c)
	}
	if len(c.Env) != 1 || c.Env[0].Name != "OREPL_TOKEN" || c.Env[0].ValueFrom == nil || c.Env[0].ValueFrom.SecretKeyRef == nil ||
		c.Env[0].ValueFrom.SecretKeyRef.Name == "" || c.Env[0].ValueFrom.SecretKeyRef.Key == "" {
		t.Errorf("the environment is %+v", c.Env)
	}
}

// TestStrict checks that mistakes in the manifest are found.
func TestStrict(t *testing.T) {
	text := manifest(t)
	for _, c := range [][2]string{
		{"parallelism: 16", "parallel: 16"},
		{"parallelism: 16", "parallelism: many"},
		{"secretKeyRef", "secretKey"},
		{"command: [", "command: [{}, "},
	} {
		if !strings.Contains(text, c[0]) {
			t.Errorf("the manifest has no %s", c[0])
		}
		if _, err := parse(strings.Replace(text, c[0], c[1], 1)); err == nil {
			t.Errorf("%s in place of %s is not found", c[1], c[0])
		}
	}
}
