// Package ship has the commands that write for others: export, filter and compare.
package ship
