// Package look has the commands that show records as they are: etw dump, stat, info and
// the lists of known events.
package look
