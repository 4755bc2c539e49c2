// Package assist has the server of the Model Context Protocol.
package assist
