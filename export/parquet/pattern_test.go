package parquet_test

import (
	"maps"
	"testing"

	"github.com/etwgen/etwgen/export/parquet"
)

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          parquet.Resource // nil of one that does not match
	}{
		{"fl/{service}/{service.version}/{host}/*", "fl/cart/1.4.0/node003/a.nettrace", parquet.Resource{parquet.KeyService: "cart", parquet.KeyVersion: "1.4.0", parquet.KeyHost: "node003"}},
		{"{service}/{version}/*", "/data/in/cart/1/a.nettrace", parquet.Resource{parquet.KeyService: "cart", parquet.KeyVersion: "1"}},
		{"{pod}-{region}.nettrace", "in/web-7f-eu.nettrace", parquet.Resource{parquet.KeyPod: "web", "region": "7f-eu"}},
		{"x/{service}/*", "in/yx/cart/a", nil},
		{"{service}/*", "a.nettrace", nil},
		{"a.b/{container}", "aXb/c", nil},
	} {
		p, err := parquet.ParsePattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := p.Match(c.path); ok != (c.want != nil) || !maps.Equal(got, c.want) {
			t.Errorf("%s of %s: %v, %v", c.pattern, c.path, got, ok)
		}
	}
	for _, bad := range []string{"", "a/*", "{", "{}", "{a", "{a/b}", "{a*}", "{{a}}"} {
		if p, err := parquet.ParsePattern(bad); err == nil {
			t.Errorf("%q is a pattern: %v", bad, p)
		}
	}
}

func TestParseResource(t *testing.T) {
	r, err := parquet.ParseResource("service.name=cart, a=b%2Cc ,,d=e=f")
	if err != nil || !maps.Equal(r, parquet.Resource{parquet.KeyService: "cart", "a": "b,c", "d": "e=f"}) {
		t.Errorf("%v, %v", r, err)
	}
	for _, bad := range []string{"a", "=b", "a=%zz", "a=b,c"} {
		if r, err := parquet.ParseResource(bad); err == nil {
			t.Errorf("%q: %v", bad, r)
		}
	}
}
