// The walk and the parser of BRUTUS (registry.go, parser.go): `go run brutus.go ROOT...` prints the name and the path of
// each skill, separated by a tab. It needs gopkg.in/yaml.v3 (Debian: golang-gopkg-yaml.v3-dev, GO111MODULE=off).
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

var (
	block    = regexp.MustCompile(`(?s)^---\r?\n(.*?)\r?\n---`)
	keyValue = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)\s*:\s*(.*)$`)
	whole    = regexp.MustCompile(`(?s)^---\r?\n(.*?)\r?\n---\r?\n(.*)$`)
)

func preprocess(content string) string {
	match := block.FindStringSubmatch(content)
	if match == nil {
		return content
	}
	var result []string
	for _, line := range strings.Split(match[1], "\n") {
		trimmed := strings.TrimSpace(line)
		pair := keyValue.FindStringSubmatch(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(line, " ") ||
			strings.HasPrefix(line, "\t") || pair == nil {
			result = append(result, line)
			continue
		}
		value := strings.TrimSpace(pair[2])
		isSet := value != "" && value != ">" && value != "|" && !strings.HasPrefix(value, "\"") &&
			!strings.HasPrefix(value, "'")
		if isSet && strings.Contains(value, ":") {
			result = append(result, pair[1]+": |", "  "+value)
		} else {
			result = append(result, line)
		}
	}
	// As a function, so that a `$` in the text is not a reference to a group.
	return block.ReplaceAllStringFunc(content, func(string) string {
		return "---\n" + strings.Join(result, "\n") + "\n---"
	})
}

func main() {
	skills := map[string]string{}
	// The last folder wins, so the first is walked last.
	for number := len(os.Args) - 1; number > 0; number-- {
		filepath.WalkDir(os.Args[number], func(path string, entry fs.DirEntry, _ error) error {
			if entry == nil || entry.Name() != "SKILL.md" {
				return nil
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return nil
			}
			match := whole.FindStringSubmatch(preprocess(string(content)))
			if match == nil {
				return nil
			}
			var front struct {
				Name        string `yaml:"name"`
				Description string `yaml:"description"`
			}
			if yaml.Unmarshal([]byte(match[1]), &front) == nil && front.Name != "" {
				skills[front.Name] = path
			}
			return nil
		})
	}
	for name, path := range skills {
		fmt.Printf("%s\t%s\n", name, path)
	}
}
