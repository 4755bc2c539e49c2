package paths

import "testing"

func TestBase(t *testing.T) {
	for path, want := range map[string]string{
		`C:\Windows\notepad.exe`: "notepad.exe", "/usr/bin/dotnet": "dotnet", `C:/mixed\a.dll`: "a.dll", "plain": "plain", "": "", "folder/": "",
	} {
		if got := Base(path); got != want {
			t.Errorf("Base(%q) is %q, want %q", path, got, want)
		}
	}
}
