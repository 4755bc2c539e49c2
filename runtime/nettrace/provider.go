package nettrace

import (
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// providerGUIDs holds the providers whose GUID is not made from their name.
var providerGUIDs = map[string]etw.GUID{
	"microsoft-windows-dotnetruntime":                                etw.MustParseGUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"),
	"microsoft-windows-dotnetruntimerundown":                         etw.MustParseGUID("a669021c-c450-4609-a035-5af59af4df18"),
	"microsoft-windows-dotnetruntimeprivate":                         etw.MustParseGUID("763fd754-7086-4dfe-95eb-c01a46faf4ca"),
	"microsoft-windows-dotnetruntimestress":                          etw.MustParseGUID("cc2bcbba-16b6-4cf3-8990-d74c2e8af500"),
	"microsoft-dotnetcore-sampleprofiler":                            etw.MustParseGUID("3c530d44-97ae-513a-1e6d-783e8f8e03a9"),
	"system.threading.tasks.tpleventsource":                          etw.MustParseGUID("2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5"),
	"system.diagnostics.eventing.frameworkeventsource":               etw.MustParseGUID("8e9f5090-2d75-4d03-8a81-e5afbf85daf1"),
	"system.collections.concurrent.concurrentcollectionseventsource": etw.MustParseGUID("35167f8e-49b2-4b96-ab86-435b59336b5e"),
	"microsoft-io-recyclablememorystream":                            etw.MustParseGUID("b80cd4e4-890e-468d-9cba-90eb7c82dfc7"),
	"system.linq.parallel.plinqeventsource":                          etw.MustParseGUID("159eeeec-4a14-4418-a8fe-faabcd987887"),
	"system.threading.tasks.dataflow.datafloweventsource":            etw.MustParseGUID("16f53577-e41d-43d4-b47e-c17025bf4025"),
	"system.transactions.transactionseventsource":                    etw.MustParseGUID("8ac2d80a-1f1a-431b-ace4-bff8824aef0b"),
	"system.threading.synchronizationeventsource":                    etw.MustParseGUID("ec631d38-466b-4290-9306-834971ba0217"),
}

// ProviderGUID returns the GUID of the provider of a given name: a fixed one for the
// providers of the runtime that have one, and for others the one that .NET's EventSource
// derives from the name. EventPipe identifies providers by name alone.
func ProviderGUID(name string) etw.GUID {
	if name == "" {
		return etw.GUID{}
	}
	if g, ok := providerGUIDs[strings.ToLower(name)]; ok {
		return g
	}
	return etw.NameGUID(name)
}
