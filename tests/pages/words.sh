# Functions for the setup scripts in the pages: changes at the forge, and files on the machine.

goes_on() {  # acme releases a change of on-call
    git clone -q "$FORGE/acme" "$FORGE/work" &&
        (cd "$FORGE/work" && echo 'Later.' >> skills/on-call/SKILL.md && git commit -qam Later && git push -q)
}
moves() {  # acme moves the tag of deploy
    goes_on && (cd "$FORGE/work" && sed -i 's/five minutes/fifteen minutes/' skills/deploy/SKILL.md &&
        git commit -qam Fifteen && git tag -f v1.0.0 > "$FORGE/said" && git push -qf origin main v1.0.0)
}
renames() {  # acme renames on-call
    (cd "$FORGE/work" && git mv skills/on-call skills/duty && git commit -qm Rename && git push -q)
}
vercel() {  # NAME...: skills of anthropics/skills, installed by Vercel's tool
    git clone -q "$FORGE/anthropics-skills" "$FORGE/vercel" && mkdir -p .claude/skills
    for name in "$@"; do
        cp -r "$FORGE/vercel/skills/$name" .claude/skills
        sum=$(cd ".claude/skills/$name" && for file in forms.md SKILL.md; do printf $file; cat $file; done | sha256sum)
        echo "\"$name\": {\"source\": \"anthropics/skills\", \"sourceType\": \"github\", \"computedHash\": \"${sum%% *}\"}"
    done | paste -sd, | sed 's/.*/{"version": 1, "skills": {&}}/' > skills-lock.json
}
draft() {  # NAME VERSION [NEEDS]: a skill that acme will publish
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
publishes() {  # builds acme's index, which is configured on this machine
    skillpm index build "$HOME/desk/skills" --out "$HOME/desk/public" --name acme -q &&
        mkdir -p "$HOME/.config/skillpm" &&
        printf '[[indexes]]\nname = "acme"\nurl = "%s"\n' "$HOME/desk/public" > "$HOME/.config/skillpm/config.toml"
}
pip_installs() {  # PACKAGE VERSION: a Python package with a skill, in .venv
    site=.venv/lib/python3.11/site-packages skill="$1/.agents/skills/$1/SKILL.md"
    rm -rf "$site/$1"-*.dist-info && mkdir -p "$site/${skill%/*}" "$site/$1-$2.dist-info" &&
        printf -- '---\nname: %s\ndescription: Use when you work with %s.\n---\n\nFor %s.\n' "$1" "$1" "$2" > "$site/$skill" &&
        python3 - "$site" "$skill" > "$site/$1-$2.dist-info/RECORD" <<END
import base64, hashlib, sys
data = open(f"{sys.argv[1]}/{sys.argv[2]}", "rb").read()
print(sys.argv[2], "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("="), "", sep=",")
END
}
project() {  # a project with two skills, on a machine that has the programs they need
    mkdir -p "$HOME/bin" && PATH="$HOME/bin:$PATH"
    for program in kubectl npx; do printf '#!/bin/sh\n' > "$HOME/bin/$program" && chmod +x "$HOME/bin/$program"; done
    skillpm init -q && skillpm install 'acme/skills#v1.0.0@deploy' anthropics/skills@pdf -q 2> "$FORGE/said"
}
