module example.com/shop

go 1.26.0

tool github.com/etwgen/etwgen/cmd/etwgen

require github.com/etwgen/etwgen v0.0.0

require (
	github.com/beevik/etree v1.8.1 // indirect
	github.com/dave/jennifer v1.7.1 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	github.com/spf13/cobra v1.10.2 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
)

// Your own module needs no replacement; this one is tested with the etwgen that
// it lies in.
replace github.com/etwgen/etwgen => ../..
