#!/bin/sh
# Print the facts for a release decision. Read-only: changes nothing and uses no network.
# Usage: release-facts.sh [--prefix PREFIX] [--path DIR]
#   --prefix PREFIX  tag prefix of one package, e.g. "web-v" or "web@"
#   --path DIR       only commits that touch DIR (monorepo)
# Exit: 0 facts printed, 1 no repository, no commits or no such path, 2 usage error.
set -eu

usage() { sed -n '2,6s/^# \{0,1\}//p' "$0"; }
prefix='' path='.'
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -ge 2 ] || { usage >&2; exit 2; }; prefix=$2; shift 2 ;;
    --path)   [ $# -ge 2 ] || { usage >&2; exit 2; }; path=$2; shift 2 ;;
    -h|--help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

top=$(git rev-parse --show-toplevel 2>/dev/null) || { echo "not in a git work tree" >&2; exit 1; }
cd "$top"
git rev-parse --verify -q HEAD >/dev/null || { echo "the repository has no commits" >&2; exit 1; }
[ -e "$path" ] || { echo "path not found in $top: $path" >&2; exit 1; }

# Without --path, pass no pathspec: with one, git omits empty commits.
log() { if [ "$path" = . ]; then git log "$@"; else git log "$@" -- "$path"; fi; }

# A version tag is the prefix (or an optional "v") followed by digits.
if [ -n "$prefix" ]; then match="$prefix[0-9]*"; else match='*[0-9]*'; fi
version_tags() {
  git -c versionsort.suffix=- tag --list "$match" --sort=-v:refname "$@" |
    if [ -n "$prefix" ]; then cat; else grep -E '^v?[0-9]+\.[0-9]' || true; fi
}

echo "== state"
branch=$(git symbolic-ref -q --short HEAD || echo '(detached)')
main=$(git symbolic-ref -q --short refs/remotes/origin/HEAD || echo 'unknown')
upstream=$(git rev-parse -q --abbrev-ref '@{upstream}' 2>/dev/null || echo 'none')
echo "branch: $branch   default: $main   upstream: $upstream   HEAD: $(git rev-parse --short HEAD)"
if [ "$upstream" != none ]; then
  set -- $(git rev-list --left-right --count 'HEAD...@{upstream}')
  echo "ahead: $1   behind: $2   (as of the last fetch)"
fi
dirty=$(git --no-optional-locks status --porcelain | wc -l | tr -d ' ')
echo "uncommitted or untracked files: $dirty"
[ "$(git rev-parse --is-shallow-repository)" = false ] || echo "WARNING: shallow clone: history and tags are incomplete; run git fetch --unshallow --tags"

echo "== tags"
last=$(version_tags --merged HEAD | grep -Ev -- '-(alpha|beta|rc|pre|dev)|[0-9](a|b|rc)[0-9]+$' | head -n 1 || true)
newest=$(version_tags | head -n 1 || true)
if [ -n "$last" ]; then
  kind=$(git cat-file -t "refs/tags/$last")
  signed=no
  if [ "$kind" = tag ] && git cat-file tag "refs/tags/$last" | grep -q -e '-----BEGIN'; then signed=yes; fi
  echo "last final release reachable from HEAD: $last   ($kind, signed: $signed, $(git log -1 --format=%cs "refs/tags/$last^{commit}"))"
  range="refs/tags/$last..HEAD"
else
  echo "last final release reachable from HEAD: none (first release)"
  range=HEAD
fi
[ "$newest" = "$last" ] || echo "highest version tag anywhere: ${newest:-none}"
at_head=$(git tag --points-at HEAD | tr '\n' ' ')
[ -z "$at_head" ] || echo "HEAD is already tagged: $at_head"
echo "recent: $(version_tags | head -n 5 | tr '\n' ' ')"

echo "== commits since ${last:-the beginning} ($path)"
commits=$(log --no-merges --format=%h "$range" | wc -l | tr -d ' ')
echo "commits without merges: $commits"
[ "$commits" != 0 ] || echo "WARNING: nothing to release"
log --no-merges --format='%h %s' "$range" | awk '
  {
    head = $0; sub(/^[0-9a-f]+ /, "", head)
    group = "other"
    if (match(head, /^[A-Za-z]+(\([^)]*\))?!?:/)) {
      mark = substr(head, 1, RLENGTH); type = mark; sub(/[(!:].*/, "", type); type = tolower(type)
      if (type ~ /^(feat|fix|perf|revert|docs|refactor|test|build|ci|chore|style)$/) group = type
      if (mark ~ /!:$/) breaking[++b] = $0
    } else if (head ~ /^Revert "/) group = "revert"
    count[group]++
    if (count[group] <= 60) lines[group] = lines[group] "  " $0 "\n"
  }
  END {
    if (b) { print "-- marked breaking (!)"; for (i = 1; i <= b; i++) print "  " breaking[i] }
    n = split("feat fix perf revert other docs refactor build ci test style chore", order, " ")
    for (i = 1; i <= n; i++) if (count[order[i]]) {
      printf "-- %s (%d)\n%s", order[i], count[order[i]], lines[order[i]]
      if (count[order[i]] > 60) print "  ... truncated, see git log"
    }
  }'
footers=$(log -E --grep='^BREAKING[ -]CHANGE' --format='  %h %s' "$range")
[ -z "$footers" ] || printf '%s\n%s\n' "-- with a BREAKING CHANGE footer" "$footers"
merges=$(log --merges --first-parent --format='  %h %s | %b' "$range" | grep -E '^  [0-9a-f]+ Merge (pull|merge|branch)' | cut -c1-160 | head -n 60 || true)
[ -z "$merges" ] || printf '%s\n%s\n' "-- merges (pull request titles)" "$merges"

echo "== release tooling and version files found"
for file in RELEASING.md RELEASE.md docs/RELEASING.md CHANGELOG.md CHANGES.md HISTORY.md NEWS.md NEWS \
    .goreleaser.yml .goreleaser.yaml release-please-config.json .release-please-manifest.json \
    .changeset .releaserc .releaserc.json .releaserc.yml release.config.js release.toml cliff.toml .bumpversion.toml \
    package.json pyproject.toml setup.cfg setup.py Cargo.toml go.mod pom.xml build.gradle build.gradle.kts \
    gradle.properties Chart.yaml mix.exs pubspec.yaml VERSION version.txt; do
  for found in "$file" "$path/$file"; do
    if [ -e "$found" ]; then echo "  $found"; fi
    if [ "$path" = . ]; then break; fi
  done
done
git ls-files -- '*.gemspec' '*.csproj' 'Directory.Build.props' | head -n 10 | sed 's/^/  /'
workflows=$(git grep -lE 'tags:|release:|npm publish|gh release|pypi-publish|cargo publish|goreleaser|docker/build-push' -- .github/workflows .gitlab-ci.yml 2>/dev/null || true)
[ -z "$workflows" ] || printf '%s\n' "$workflows" | sed 's/^/  /;s/$/   (runs on tags or publishes; read it)/'

if [ -n "$last" ]; then
  plain=${last#"$prefix"}; plain=${plain#v}
  echo "== occurrences of $plain"
  git grep -nIF -e "$plain" -- "$path" ':!*.lock' ':!package-lock.json' ':!pnpm-lock.yaml' ':!go.sum' ':!CHANGELOG*' ':!CHANGES*' ':!HISTORY*' 2>/dev/null |
    cut -c1-140 | head -n 20 | sed 's/^/  /' || true
fi
