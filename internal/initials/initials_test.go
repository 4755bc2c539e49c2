package initials

import "testing"

func TestOf(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"ThreadId", "ThreadID"},
		{"TcpIpSendIPv4", "TCPIPSendIPv4"},
		{"ActivityIdsUrl", "ActivityIDsURL"},
		{"IdleTime", "IdleTime"},
		{"GCId", "GCId"}, // one word, as golint sees it
		{"PipeId2_1", "PipeID2_1"},
		{"", ""},
		{"thread_id", "thread_id"},
		{"idleUrl", "idleURL"},
	} {
		if got := Of(tt.in); got != tt.want {
			t.Errorf("Of(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
