# What pages say to happen on the machine and at the forge: words for the scripts that no reader sees.

goes_on() {  # acme goes on with on-call
    git clone -q "$FORGE/acme" "$FORGE/work" &&
        (cd "$FORGE/work" && echo 'Later.' >> skills/on-call/SKILL.md && git commit -qam Later && git push -q)
}
moves() {  # and releases deploy again, under the same tag
    goes_on && (cd "$FORGE/work" && sed -i 's/five minutes/fifteen minutes/' skills/deploy/SKILL.md &&
        git commit -qam Fifteen && git tag -f v1.0.0 > "$FORGE/said" && git push -qf origin main v1.0.0)
}
vercel() {  # NAME...: what Vercel's tool leaves of skills of anthropics/skills
    git clone -q "$FORGE/anthropics-skills" "$FORGE/vercel" && mkdir -p .claude/skills
    for name in "$@"; do
        cp -r "$FORGE/vercel/skills/$name" .claude/skills
        sum=$(cd ".claude/skills/$name" && for file in forms.md SKILL.md; do printf $file; cat $file; done | sha256sum)
        echo "\"$name\": {\"source\": \"anthropics/skills\", \"sourceType\": \"github\", \"computedHash\": \"${sum%% *}\"}"
    done | paste -sd, | sed 's/.*/{"version": 1, "skills": {&}}/' > skills-lock.json
}
draft() {  # NAME VERSION [NEEDS]: a skill at the desk of acme's publisher
    mkdir -p "$HOME/desk/skills/$1" && cat > "$HOME/desk/skills/$1/SKILL.md" <<END
---
name: $1
description: Use when $1 is wanted.
metadata:
  version: "$2"
  skill-dependencies: "$3"
---

Do it well.
END
}
publishes() {  # acme's index, which this machine knows
    skillpm index build "$HOME/desk/skills" --out "$HOME/desk/public" --name acme -q &&
        mkdir -p "$HOME/.config/skillpm" &&
        printf '[[indexes]]\nname = "acme"\nurl = "%s"\n' "$HOME/desk/public" > "$HOME/.config/skillpm/config.toml"
}
