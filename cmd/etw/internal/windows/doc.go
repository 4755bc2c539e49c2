// Package windows has the commands about the sessions of ETW.
package windows
