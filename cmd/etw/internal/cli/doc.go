// Package cli has the command line's own things: exit codes, errors, completion, the
// terminal, and the shelf of a server that runs commands.
package cli
