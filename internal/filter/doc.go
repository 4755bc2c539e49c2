// Package filter chooses events: by their headers, before the payload is looked at, and by
// the values of fields.
package filter
