//go:build unix

// Package kubernetes tests the examples for Kubernetes: this module has a reader of YAML.
package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/etwgen/etwgen/internal/s3test"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

type names struct {
	Name      string `yaml:"name"`
	ClaimName string `yaml:"claimName"`
	ReadOnly  bool   `yaml:"readOnly"`
	SizeLimit string `yaml:"sizeLimit"`
}

// An object has the fields of the kinds that the examples use, by their names in the API of Kubernetes: others
// are errors.
type object struct {
	APIVersion string            `yaml:"apiVersion"`
	Kind       string            `yaml:"kind"`
	Data       map[string]string `yaml:"data"`
	Metadata   names             `yaml:"metadata"`
	Spec       struct {
		Completions          int                          `yaml:"completions"`
		Parallelism          int                          `yaml:"parallelism"`
		CompletionMode       string                       `yaml:"completionMode"`
		BackoffLimitPerIndex int                          `yaml:"backoffLimitPerIndex"`
		MaxFailedIndexes     int                          `yaml:"maxFailedIndexes"`
		Replicas             int                          `yaml:"replicas"`
		Selector             map[string]map[string]string `yaml:"selector"`
		Template             struct {
			Metadata map[string]map[string]string `yaml:"metadata"`
			Spec     pod                          `yaml:"spec"`
		} `yaml:"template"`
	} `yaml:"spec"`
}

type pod struct {
	RestartPolicy   string         `yaml:"restartPolicy"`
	SecurityContext map[string]int `yaml:"securityContext"`
	Containers      []container    `yaml:"containers"`
	Volumes         []struct {
		Name                  string `yaml:"name"`
		ConfigMap             *names `yaml:"configMap"`
		PersistentVolumeClaim *names `yaml:"persistentVolumeClaim"`
		EmptyDir              *names `yaml:"emptyDir"`
	} `yaml:"volumes"`
}

type container struct {
	Name    string   `yaml:"name"`
	Image   string   `yaml:"image"`
	Command []string `yaml:"command"`
	Args    []string `yaml:"args"`
	Env     []struct {
		Name      string                       `yaml:"name"`
		Value     string                       `yaml:"value"`
		ValueFrom map[string]map[string]string `yaml:"valueFrom"`
	} `yaml:"env"`
	EnvFrom   []map[string]names           `yaml:"envFrom"`
	Resources map[string]map[string]string `yaml:"resources"`
	Ports     []struct {
		Name          string `yaml:"name"`
		ContainerPort int    `yaml:"containerPort"`
	} `yaml:"ports"`
	VolumeMounts []struct {
		Name      string `yaml:"name"`
		MountPath string `yaml:"mountPath"`
		ReadOnly  bool   `yaml:"readOnly"`
	} `yaml:"volumeMounts"`
}

// apis has the version of the API that each kind belongs to.
var apis = map[string]string{"ConfigMap": "v1", "Job": "batch/v1", "Deployment": "apps/v1"}

// read returns the objects of a file.
func read(t *testing.T, path string) (list []object) {
	t.Helper()
	d := yaml.NewDecoder(bytes.NewReader(testio.Read(t, path)))
	d.KnownFields(true)
	for {
		var o object
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if o.APIVersion != apis[o.Kind] || o.Metadata.Name == "" {
			t.Errorf("%s: %+v", path, o)
		}
		list = append(list, o)
	}
}

// script returns the script of an example, and the variables that its container gives it.
func script(t *testing.T, path string) (text string, env map[string]string) {
	t.Helper()
	env = make(map[string]string)
	for _, o := range read(t, path) {
		text += o.Data["run.sh"]
		for _, c := range o.Spec.Template.Spec.Containers {
			for _, v := range c.Env {
				env[v.Name] = v.Value
			}
		}
	}
	return text, env
}

// TestObjects reads the examples: mounts name volumes, and scripts no variable that they are not given.
func TestObjects(t *testing.T) {
	for _, path := range []string{"../../../examples/lake/backfill.yaml", "../../../examples/lake/live.yaml", "../../examples/kubernetes.yaml"} {
		for _, o := range read(t, path) {
			volumes := make(map[string]bool)
			for _, v := range o.Spec.Template.Spec.Volumes {
				volumes[v.Name] = true
			}
			for _, c := range o.Spec.Template.Spec.Containers {
				if c.Image == "" {
					t.Errorf("%s: %s has no image", path, c.Name)
				}
				for _, m := range c.VolumeMounts {
					if !volumes[m.Name] {
						t.Errorf("%s: %s mounts %s, which is no volume", path, c.Name, m.Name)
					}
				}
			}
		}
		text, env := script(t, path)
		for _, m := range regexp.MustCompile(`\$([A-Z_]+)`).FindAllStringSubmatch(text, -1) {
			if _, ok := env[m[1]]; !ok && m[1] != "JOB_COMPLETION_INDEX" {
				t.Errorf("%s: nobody sets %s", path, m[1])
			}
		}
	}
}

// A cluster is the part of one that a script needs: the programs, and a bucket.
type cluster struct {
	path, url string
	store     *s3test.Store
}

func start(t *testing.T) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the tools")
	}
	for _, name := range []string{"sh", "awk", "xargs"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	c := &cluster{path: t.TempDir(), store: &s3test.Store{ID: "id"}}
	if out, err := exec.Command("go", "build", "-C", "../../..", "-o", c.path, "./cmd/etw", "./cmd/etw-lake").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := httptest.NewServer(c.store)
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// command returns a run of a script, with variables of its example and further ones.
func (c *cluster) command(ctx context.Context, text string, env map[string]string, more ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", text)
	cmd.Env = append(os.Environ(), "PATH="+c.path+string(os.PathListSeparator)+os.Getenv("PATH"))
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Env = append(cmd.Env, "AWS_ENDPOINT_URL="+c.url, "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret")
	cmd.Env = append(cmd.Env, more...)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// A manifest is the part of one that the tests look at.
type manifest struct {
	TraceID  string
	Events   int64
	Host     string
	Resource map[string]string
}

// lake returns the recordings in the bucket, of which all files have to be there.
func (c *cluster) lake(t *testing.T) map[string]manifest {
	t.Helper()
	dir := t.TempDir()
	recordings := make(map[string]manifest)
	objects, _ := c.store.Objects()
	for path, text := range objects {
		at := filepath.Join(dir, strings.TrimPrefix(path, "/bucket/fleet/"))
		testio.Write(t, at, []byte(text))
		if strings.Contains(path, "/_traces/") {
			var m manifest
			testio.JSON(t, []byte(text), &m)
			recordings[m.TraceID] = m
		}
	}
	if out, err := exec.Command(filepath.Join(c.path, "etw"), "lake", "check", dir).CombinedOutput(); err != nil || !strings.HasPrefix(string(out), fmt.Sprint(len(recordings), " recording")) {
		t.Fatalf("%v\n%s", err, out)
	}
	return recordings
}

// TestBackfill runs the job's script for each index of a list of traces, one of which lost events, and some
// twice: each trace is in the bucket, once. A file that is no trace is a failure of its index alone.
func TestBackfill(t *testing.T) {
	c := start(t)
	text, env := script(t, "../../../examples/lake/backfill.yaml")
	root := t.TempDir()
	var list []string
	for _, name := range []string{"gc", "alloc", "lost", "exceptions", "threads"} {
		at := filepath.Join(root, "traces", "cart", "1.4.0", "web 1", name+".nettrace")
		testio.Write(t, at, testio.Read(t, "../../../tests/recorded/"+name+".nettrace"))
		list = append(list, at)
	}
	run := func(index, completions string, paths ...string) error {
		file := filepath.Join(t.TempDir(), "traces.txt")
		testio.Write(t, file, []byte(strings.Join(paths, "\n")+"\n"))
		out, err := c.command(t.Context(), text, env, "LIST="+file, "WORK="+t.TempDir(), "COMPLETIONS="+completions, "JOB_COMPLETION_INDEX="+index,
			"FROM_PATH="+root+env["FROM_PATH"]).CombinedOutput()
		t.Logf("%s of %s: %v\n%s", index, completions, err, out)
		return err
	}
	for _, index := range []string{"0", "1", "2", "1"} {
		if err := run(index, "3", list...); err != nil {
			t.Error(err)
		}
	}
	if err := run("9", "10", list...); err != nil { // it has nothing to do
		t.Error(err)
	}
	l := c.lake(t)
	for _, m := range l {
		if m.Resource["service.name"] != "cart" || m.Resource["service.version"] != "1.4.0" || m.Host != "web 1" || m.Events == 0 {
			t.Errorf("%+v", m)
		}
	}
	if len(l) != len(list) {
		t.Errorf("%d of %d traces are there", len(l), len(list))
	}
	if err := run("0", "1", list[0], "kubernetes_test.go"); err == nil {
		t.Error("a file that is no trace is no failure")
	}
}

// TestLive runs the recorder's script beside a runtime until a recording is in the bucket.
func TestLive(t *testing.T) {
	c := start(t)
	text, env := script(t, "../../../examples/lake/live.yaml")
	diag, err := os.MkdirTemp("", "diag") // paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(diag)
	rt := eventpipetest.NewRuntime(8)
	rt.Play(testio.Read(t, "../../../tests/recorded/gc.nettrace"))
	_, stop, err := rt.Listen(diag)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var out bytes.Buffer
	cmd := c.command(ctx, text, env, "DIAG="+diag, "WORK="+t.TempDir(), "EVERY=30s", "NODE=node1", "POD=shop-1")
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for found := false; !found && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		objects, _ := c.store.Objects()
		for path := range objects {
			found = found || strings.Contains(path, "/_traces/")
		}
	}
	cancel()
	_ = cmd.Wait()
	for _, m := range c.lake(t) {
		if m.Resource["service.name"] == "shop" && m.Resource["k8s.pod.name"] == "shop-1" && m.Host == "node1" && m.Events > 0 {
			return
		}
		t.Errorf("%+v", m)
	}
	t.Errorf("no recording is as it should be:\n%s", out.String())
}
