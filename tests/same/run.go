package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A build is a folder with the tools.
type build struct {
	folder  string
	version map[string][]byte // of each tool, which both print here and there
}

// streams are the outputs of a run, by name: stdout, stderr, exit code, and files.
type streams map[string][]byte

const patience = 3 * time.Minute

// madeAt is the number of an export to a lake, which is made of its time, in the names of files
// and in the list of them.
var madeAt = regexp.MustCompile(`([-"])[0-9a-f]{24}\b`)

func newBuild(folder string) (*build, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	b := &build{folder, map[string][]byte{}}
	for _, tool := range []string{"etw", "etwgen"} {
		out, err := exec.Command(filepath.Join(folder, tool), "--version").Output()
		if err != nil {
			return nil, err
		}
		words := strings.Fields(string(out))
		if last := words[len(words)-1]; len(last) > 3 {
			b.version[tool] = []byte(last)
		}
	}
	return b, nil
}

// run runs a line in an empty folder of the same name for both builds.
func (b *build) run(l line) streams {
	folder, err := os.MkdirTemp("", "same")
	exitIf(err)
	defer os.RemoveAll(folder)
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, filepath.Join(b.folder, l.tool), l.args...)
	c.Dir, c.Stdout, c.Stderr = folder, &stdout, &stderr
	c.Env = append(os.Environ(), "HOME="+folder, "TZ=UTC", "PAGER=", "NO_COLOR=1")
	failed := c.Run()
	if c.ProcessState == nil {
		exitIf(failed)
	}
	left := streams{
		"stdout": stdout.Bytes(), "stderr": stderr.Bytes(),
		"exit code": []byte(strconv.Itoa(c.ProcessState.ExitCode())),
	}
	exitIf(filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			name := madeAt.ReplaceAllString(strings.TrimPrefix(path, folder+"/"), "${1}TIME")
			left["file "+name], err = os.ReadFile(path)
		}
		return err
	}))
	for name, data := range left {
		data = madeAt.ReplaceAll(bytes.ReplaceAll(data, []byte(folder), []byte("FOLDER")), []byte("${1}TIME"))
		if version := b.version[l.tool]; version != nil {
			data = bytes.ReplaceAll(data, version, []byte("VERSION"))
		}
		left[name] = data
	}
	if ctx.Err() != nil {
		left["stderr"] = fmt.Appendf(nil, "it took more than %v", patience)
	}
	return left
}
