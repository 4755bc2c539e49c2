// Package view shows traces in a browser: a page, and the answers of commands over HTTP.
package view
