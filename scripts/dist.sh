#!/bin/bash
# dist.sh VERSION FOLDER - writes FOLDER/covey-VERSION.tar.xz: the sources, byte for byte the same for the same
# sources, whoever makes it and when.
#
# What belongs to them git knows, and says so in the file MANIFEST of the archive; from where that is
# unpacked the same archive can be made again, without git. All files have the time of the last commit.
set -eu
cd "$(dirname "$0")/.."
name=covey-$1
archive=$2/$name.tar.xz
export LC_ALL=C TZ=UTC
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]; then
    { git ls-files && echo MANIFEST; } | sort -u >"$work/MANIFEST"
    seconds=$(git log -1 --format=%ct)
    [ -z "$(git status --porcelain --untracked-files=no)" ] || echo "dist.sh: with changes that are not committed" >&2
elif [ -f MANIFEST ]; then
    cp MANIFEST "$work"
    seconds=$(stat -c %Y MANIFEST)
else
    echo "dist.sh: here is neither git's folder nor a MANIFEST" >&2
    exit 1
fi
while read -r file; do
    [ "$file" = MANIFEST ] || [ -e "$file" ] || [ -L "$file" ] || { echo "dist.sh: $file is missing" >&2 && exit 1; }
done <"$work/MANIFEST"
mkdir -p "$2" "$work/$name"
grep -vx MANIFEST "$work/MANIFEST" | tar -c -T - | tar -x -C "$work/$name"
cp "$work/MANIFEST" "$work/$name"
tar -c -C "$work" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$seconds" "$name" |
    xz -T1 -6 >"$archive.new"
mv "$archive.new" "$archive"
echo "$archive"
