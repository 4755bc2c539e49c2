package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// A line is a command line: the tool, and its arguments.
type line struct {
	tool string
	args []string
}

func (l line) command() string {
	if l.tool == "etwgen" {
		return "etwgen-" + l.args[0]
	}
	return l.args[0]
}

func (l line) String() string { return l.tool + " " + strings.Join(l.args, " ") }

var (
	braces = regexp.MustCompile(`\{([^{}]*)\}`)
	kinds  = regexp.MustCompile(`\b(TRACE|MANIFEST|ASSEMBLY)\b`)
)

// linesOf returns the lines of a table, with every file of the kinds that they name.
func linesOf(table string, files map[string][]string) []line {
	var all []line
	for text := range strings.Lines(table) {
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		for _, text := range expand(text) {
			kind := kinds.FindString(text)
			if kind == "" {
				all = append(all, lineOf(text, kind, ""))
			}
			for _, file := range files[kind] {
				all = append(all, lineOf(text, kind, file))
			}
		}
	}
	return all
}

// expand returns the lines that a line with braces stands for.
func expand(text string) []string {
	at := braces.FindStringSubmatchIndex(text)
	if at == nil {
		return []string{text}
	}
	var all []string
	for choice := range strings.SplitSeq(text[at[2]:at[3]], ",") {
		all = append(all, expand(text[:at[0]]+choice+text[at[1]:])...)
	}
	return all
}

func lineOf(text, kind, file string) line {
	words := strings.Fields(text)
	for i, word := range words {
		words[i] = strings.Trim(word, "'")
		if kind != "" && word == kind {
			words[i] = file
		}
	}
	return line{words[0], words[1:]}
}

// rules are the changes that are meant.
type rules struct {
	commands map[string][]string
	words    map[string][]string
	output   []replacement
}

type replacement struct {
	match *regexp.Regexp
	by    []byte
}

func readRules(path string) (*rules, error) {
	r := &rules{commands: map[string][]string{}, words: map[string][]string{}}
	if path == "" {
		return r, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	for in.Scan() {
		text := strings.TrimSpace(in.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		if err := r.add(text); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, text, err)
		}
	}
	return r, in.Err()
}

func (r *rules) add(text string) error {
	of, rule, _ := strings.Cut(text, " ")
	from, to, ok := strings.Cut(rule+" ", " = ")
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	if !ok || from == "" {
		return fmt.Errorf("no %q in it", " = ")
	}
	switch of {
	case "command":
		r.commands[from] = strings.Fields(to)
	case "flag":
		r.words[from] = strings.Fields(to)
	case "output":
		match, err := regexp.Compile(from)
		if err != nil {
			return err
		}
		r.output = append(r.output, replacement{match, []byte(to)})
	default:
		return fmt.Errorf("it begins with none of command, flag and output")
	}
	return nil
}

// translate returns the line of today, or false if there is none.
func (r *rules) translate(l line) (line, bool) {
	head, rest := l.args[:1], l.args[1:]
	if to, ok := r.commands[l.command()]; ok {
		if len(to) == 0 {
			return line{}, false
		}
		head = to
	}
	args := slices.Clone(head)
	for _, arg := range rest {
		if to, ok := r.words[arg]; ok {
			args = append(args, to...)
		} else {
			args = append(args, arg)
		}
	}
	return line{l.tool, args}, true
}

// clean replaces parts of a run's output by the rules.
func (r *rules) clean(left streams) streams {
	for name, data := range left {
		for _, rule := range r.output {
			data = rule.match.ReplaceAll(data, rule.by)
		}
		left[name] = data
	}
	return left
}
