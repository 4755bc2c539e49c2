// Package pcapng writes the network packets of a Windows trace as a pcapng file, for Wireshark,
// tshark and all else that reads those. They are recorded by "netsh trace start capture=yes" and
// "pktmon start --capture", and the packets of Windows' own VPNs. A [Capture] finds them in the
// records of a trace, and a [Writer] writes them. Use it where network packets of Windows go to
// tools that know pcapng.
//
// A packet has a comment with the process and the thread that were on when it was logged: of
// sent packets mostly those that sent them, of received ones any.
package pcapng
