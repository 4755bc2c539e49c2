// Package dotnet knows the EventSources of .NET's own libraries, and of others that many
// programs use: HttpClient, sockets, TLS, Kestrel, tasks, metrics, SqlClient, gRPC,
// MSBuild and more. Use it to decode whatever comes up in a trace; to handle events of
// some, use the packages below it, which have most of them as Go types:
//
//	http              System.Net.Http                 requests and connections of HttpClient
//	sockets           System.Net.Sockets              connections made and accepted
//	dns               System.Net.NameResolution       lookups of names
//	tls               System.Net.Security             handshakes
//	kestrel           Microsoft-AspNetCore-Server-Kestrel
//	hosting           Microsoft.AspNetCore.Hosting    requests, whatever the server
//	signalr           Microsoft.AspNetCore.Http.Connections
//	yarp              Yarp.ReverseProxy
//	grpcclient        Grpc.Net.Client
//	grpcserver        Grpc.AspNetCore.Server
//	sqlclient         Microsoft.Data.SqlClient.EventSource
//	azurecore         Azure-Core
//	logging           Microsoft-Extensions-Logging    what programs log by ILogger
//	diagnosticsource  Microsoft-Diagnostics-DiagnosticSource, with activities
//	di                Microsoft-Extensions-DependencyInjection
//	metrics           System.Diagnostics.Metrics      values of meters
//	counters          the EventCounters of any source
//	tasks             System.Threading.Tasks.TplEventSource
//	parallel          System.Threading.Tasks.Parallel.EventSource
//	plinq             System.Linq.Parallel.PlinqEventSource
//	dataflow          System.Threading.Tasks.Dataflow.DataflowEventSource
//	concurrent        System.Collections.Concurrent.ConcurrentCollectionsEventSource
//	framework         System.Diagnostics.Eventing.FrameworkEventSource
//	arraypool         System.Buffers.ArrayPoolEventSource
//	recyclable        Microsoft-IO-RecyclableMemoryStream
//	msbuild           Microsoft-Build
//
// A program imports those whose events it handles. This package has descriptions of all
// sources, from which a [etw.Decoder] decodes without types: set its Find to [Of].
//
// All were held against recordings of .NET 10. Where a source writes other fields than it
// declares, as two events of the tasks do, they are those that it writes.
package dotnet

//go:generate go run ./internal/dotnetman
