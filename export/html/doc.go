// Package html writes the findings of analyses as pages for a browser: [Report] has all of a
// trace, [Flame] a call tree. Use it for people who read: a page is one file that needs
// nothing else.
//
// A page is one file that needs nothing else. It loads nothing from anywhere, and
// its content security policy forbids it to: only the scripts and styles that the
// package itself has may run, which the policy knows by their checksums. Names in
// traces are anyone's, and the page shows them as text alone: characters that do not
// show, or change the direction of text, are written as escapes.
package html
