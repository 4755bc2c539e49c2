// Dotnetman makes the manifests of the packages in generated/dotnet, and the overrides
// beside them, of the table of facts about .NET's EventSources:
//
//	go run ./internal/dotnetman
//
// go generate does so before the packages are made of them. To take up a source, or a
// newer version of one, it prints the lines of the table that a manifest comes to, such
// as one that etwgen import makes of an assembly:
//
//	etwgen import System.Net.Http.dll > http.man
//	go run ./generated/dotnet/internal/dotnetman -from http.man -package http
//
// Manifests have more than facts: the texts of their messages stay behind. The meanings of
// sources, events and fields are written into the table by hand.
package main
