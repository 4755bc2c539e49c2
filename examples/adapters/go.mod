module example.com/adapters

go 1.26.0

require (
	github.com/Microsoft/go-winio v0.6.4
	github.com/etwgen/etwgen v0.0.0
)

require golang.org/x/sys v0.49.0 // indirect

// Your own module needs no replacement; this one is tested with the etwgen that it lies
// in.
replace github.com/etwgen/etwgen => ../..
