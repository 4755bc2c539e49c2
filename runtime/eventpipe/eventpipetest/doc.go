// Package eventpipetest has a stand-in of a .NET runtime: the server's side of the
// diagnostics port, for tests of programs that use package eventpipe where there is no
// .NET. Use it to test an agent.
//
//	rt := eventpipetest.NewRuntime(10)
//	rt.Stream, rt.Rest = events, end // of a .nettrace
//	path, stop, err := rt.Listen(t.TempDir())
//
// As in a real runtime one thread serves all commands, and an old one knows fewer. How
// it goes wrong is up to the test: answers can be refused, left out, and changed on
// their way.
package eventpipetest
