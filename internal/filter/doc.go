// Package filter chooses events: by what their headers say, before the payload is
// looked at, and by the values of fields.
package filter
