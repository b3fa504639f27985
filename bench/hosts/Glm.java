// The walk and the parser of GLM-CLI (SkillRegistry.groovy, Skill.groovy), in Java: `java Glm.java ROOT...` prints the
// name and the path of each skill that it would offer, separated by a tab.

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

class Glm {
    static final Pattern FRONTMATTER = Pattern.compile("^---\\s*\\n([\\s\\S]*?)\\n---");
    static final Set<String> FIELDS = Set.of("name", "description", "license", "compatibility");
    static final Set<String> COMPATIBLE = Set.of("glm-cli", "opencode", "*", "all");

    static Map<String, String> parse(String content) {
        Map<String, String> result = new HashMap<>();
        Matcher matcher = FRONTMATTER.matcher(content);
        if (matcher.find()) {
            for (String line : matcher.group(1).split("\n")) {
                String[] pair = line.split(":", 2);
                if (pair.length == 2 && FIELDS.contains(pair[0].trim())) {
                    result.put(pair[0].trim(), pair[1].trim());
                }
            }
        }
        return result;
    }

    public static void main(String[] roots) throws IOException {
        Map<String, String> skills = new LinkedHashMap<>();
        Map<String, String> compatibility = new HashMap<>();
        for (String root : roots) {
            Path base = Paths.get(root);
            if (!Files.exists(base)) {
                continue;
            }
            List<Path> files;
            try (Stream<Path> stream = Files.walk(base)) {
                files = stream.filter(it -> it.getFileName().toString().equals("SKILL.md")).collect(Collectors.toList());
            }
            for (Path file : files) {
                try {
                    Map<String, String> skill = parse(Files.readString(file));
                    String name = skill.getOrDefault("name", "");
                    boolean isValid = !name.isEmpty() && !skill.getOrDefault("description", "").isEmpty();
                    if (isValid && !skills.containsKey(name)) {
                        skills.put(name, file.toString());
                        compatibility.put(name, skill.getOrDefault("compatibility", ""));
                    }
                } catch (IOException error) {
                    System.err.println("Warning: Failed to load skill from " + file + ": " + error.getMessage());
                }
            }
        }
        skills.forEach((name, path) -> {
            String wanted = compatibility.get(name);
            if (wanted.isEmpty() || COMPATIBLE.contains(wanted)) {
                System.out.println(name + "\t" + path);
            }
        });
    }
}
