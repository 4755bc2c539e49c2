// Package lake holds tests of lakes of Parquet files by real engines, DuckDB and ClickHouse, which
// get.sh fetches from npm.
package lake

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// An engine is a DuckDB or a ClickHouse that answers queries.
type engine struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// startDuck starts a DuckDB, or skips the test where there is none.
func startDuck(t *testing.T) *engine {
	t.Helper()
	return start(t, "DuckDB", "duckdb", "@duckdb/node-api")
}

// startClickHouse starts a ClickHouse, as a library in a process, or skips the test where there is none.
func startClickHouse(t *testing.T) *engine {
	t.Helper()
	return start(t, "ClickHouse", "chdb", "chdb")
}

// start starts an engine that get.sh lays out in a folder of its name.
func start(t *testing.T, title, name, npm string) *engine {
	t.Helper()
	node, dir := laidOut(t, title, name, npm)
	cmd := exec.Command(node, name+".mjs", dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(title, " cannot be started: ", err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	return &engine{in, bufio.NewReaderSize(out, 1<<20)}
}

// laidOut returns node, and the folder in which get.sh lays packages out, one of which is npm, or skips the test.
func laidOut(t *testing.T, title, name, npm string) (node, dir string) {
	t.Helper()
	dir = os.Getenv("ETWGEN_" + strings.ToUpper(name))
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skip("there is no ", title, ": ", err)
		}
		dir = filepath.Join(cache, "etwgen-"+name)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node, which ", title, " is a package of")
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", filepath.FromSlash(npm))); err != nil {
		t.Skipf("there is no %s: tests/lake/get.sh %s fetches it, or ETWGEN_%s says where it is", title, name, strings.ToUpper(name))
	}
	return node, dir
}

// An answer is the result of a query: columns and rows.
type answer struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
	Error   string   `json:"error"`
}

func (e *engine) ask(sql string) (*answer, error) {
	q, err := json.Marshal(map[string]string{"sql": sql})
	if err != nil {
		return nil, err
	}
	if _, err := e.in.Write(append(q, '\n')); err != nil {
		return nil, err
	}
	line, err := e.out.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	a := new(answer)
	if err := json.Unmarshal(line, a); err != nil {
		return nil, err
	}
	if a.Error != "" {
		return nil, fmt.Errorf("%s\n%s", a.Error, sql)
	}
	return a, nil
}

// query is ask for queries that must succeed.
func (e *engine) query(t *testing.T, sql string) *answer {
	t.Helper()
	a, err := e.ask(sql)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
