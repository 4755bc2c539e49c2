// Package code has the commands about samples: which code weighs how much.
package code
