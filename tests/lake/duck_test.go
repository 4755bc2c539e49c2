// Package lake holds tests of lakes of Parquet files by a real DuckDB, which get.sh
// fetches from npm.
package lake

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A duck is a DuckDB that answers queries.
type duck struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// startDuck starts a DuckDB, or skips the test where there is none.
func startDuck(t *testing.T) *duck {
	t.Helper()
	dir := os.Getenv("ETWGEN_DUCKDB")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skip("there is no DuckDB: ", err)
		}
		dir = filepath.Join(cache, "etwgen-duckdb")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node, which DuckDB is a package of")
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@duckdb", "node-api")); err != nil {
		t.Skip("there is no DuckDB: tests/lake/get.sh fetches it, or ETWGEN_DUCKDB says where it is")
	}
	cmd := exec.Command(node, "duck.mjs", dir)
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
		t.Skip("DuckDB cannot be started: ", err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	return &duck{in, bufio.NewReaderSize(out, 1<<20)}
}

// An answer is the result of a query: columns and rows.
type answer struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
	Error   string   `json:"error"`
}

func (d *duck) ask(sql string) (*answer, error) {
	q, err := json.Marshal(map[string]string{"sql": sql})
	if err != nil {
		return nil, err
	}
	if _, err := d.in.Write(append(q, '\n')); err != nil {
		return nil, err
	}
	line, err := d.out.ReadBytes('\n')
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
func (d *duck) query(t *testing.T, sql string) *answer {
	t.Helper()
	a, err := d.ask(sql)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
