// Package desk keeps opened traces and answers about them, for servers that ask the
// commands: assistants, and others.
package desk
