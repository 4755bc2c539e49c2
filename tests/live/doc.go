// Package live holds tests against real .NET runtimes: .NET Core 3.1, .NET 9 and .NET 10.
// The script get.sh of its folder lays them out, and the variable ETWGEN_DOTNET says
// where. Without them the tests skip.
package live
