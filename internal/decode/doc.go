// Package decode finds out what the event of a record is called, and decodes its
// payload by the best description there is.
//
// In this order, it is: the generated type of exactly the event's version; the
// schema that the trace itself has; a manifest that the user gave; and, for a
// version that is newer than those that are known, the newest known one.
package decode
