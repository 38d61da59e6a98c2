#!/bin/bash
# trace_page.sh - the page of a large trace in headless Chromium: how large it is, how long it takes until it is drawn, and what a
# frame takes while the timeline moves, with all rows in view.
#   TASKS (64), EVENTS (1000000)
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-bench-page.XXXXXX")
trap 'rm -rf "$dir"' EXIT
command -v chromium >/dev/null || { echo "trace_page.sh: chromium is not installed" >&2; exit 1; }
"$BUILD/tests/bench/trace_page" "${TASKS:-64}" "${EVENTS:-1000000}" >"$dir/page.html" || exit 1
echo "a page of ${EVENTS:-1000000} events of ${TASKS:-64} tasks: $(($(stat -c %s "$dir/page.html") / 1000)) kB"
{
    sed '/^<\/body>/,$d' "$dir/page.html"
    cat <<'END'
<script>
{
    const times = [];
    for (let i = 0; i < 90; i++) {
        const begun = performance.now(), width = END / Math.pow(1.2, i % 30);
        v0 = (END - width) * (i * 37 % 90) / 90;
        v1 = v0 + width;
        draw();
        g.getImageData(0, 0, 1, 1); // waits until it is drawn
        times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    document.title = `drawn after ${document.documentElement.dataset.drawn} ms; ` +
        `a frame takes ${times[45].toFixed(1)} ms, at most ${times[89].toFixed(1)} ms (30 frames a second: 33.3 ms)`;
}
</script>
</body>
</html>
END
} >"$dir/moved.html"
root=()
[ "$(id -u)" != 0 ] || root=(--no-sandbox)
timeout 120 chromium --headless=new "${root[@]}" --disable-gpu --user-data-dir="$dir/browser" --window-size=1300,2600 \
    --dump-dom "file://$dir/moved.html" 2>/dev/null | sed -n 's,.*<title>\(.*\)</title>.*,\1,p'
