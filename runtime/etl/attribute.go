package etl

import "github.com/etwgen/etwgen/runtime/etw"

type ownerFinding struct{}

func (o *ownerFinding) visit(b *block, p []byte, key int64) {}

type owners struct{}

func newOwners(*Reader, []finding) *owners { return nil }
func (s *owners) attribute(*etw.Record)    {}
