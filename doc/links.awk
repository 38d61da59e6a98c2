# links.awk - what lowdown and mandoc leave to do to links: -v names=FILE -v man=FOLDER/.
#
# A line of FILE is a name with its section and the file of the page that describes it: covey_send_array.3 covey_send.3.
# Where `man` is empty the text is a page itself, beside the others.
BEGIN {
    while ((getline line <names) > 0) {
        split(line, word, " ")
        page[word[1]] = word[2]
    }
    if (man == "") top = "../"
}

# covey_send(3), with or without bold letters, leads to its page; a page does not lead to itself by its own name.
function with_pages(text,    done, found, name, bare) {
    while (match(text, /(<(b|i|strong)>)?covey[a-z0-9_.-]*(<\/(b|i|strong)>)?\([1-8]\)/)) {
        found = substr(text, RSTART, RLENGTH)
        bare = found
        gsub(/<[^>]*>/, "", bare)
        name = substr(bare, 1, length(bare) - 3) "." substr(bare, length(bare) - 1, 1)
        done = done substr(text, 1, RSTART - 1) (name in page ? "<a href=\"" man page[name] ".html\">" found "</a>" : found)
        text = substr(text, RSTART + RLENGTH)
    }
    return done text
}

# mandoc names a section All-to-all and links to All_to_all.
function same_hyphens(text,    done, found) {
    while (match(text, /(id="|href="#)[^"]*"/)) {
        found = substr(text, RSTART, RLENGTH)
        gsub(/-/, "_", found)
        done = done substr(text, 1, RSTART - 1) found
        text = substr(text, RSTART + RLENGTH)
    }
    return done text
}

{
    gsub(/<a class="Xr" href="[^"]*">/, "") && gsub(/<\/a>/, "")
    if (man == "") $0 = same_hyphens($0)
    while (match($0, /href="(\.\.(\/|&#47;))?(doc(\/|&#47;))?(lessons(\/|&#47;))?[A-Za-z_-]+\.md/)) {
        found = substr($0, RSTART, RLENGTH)
        name = found
        sub(/^href="(\.\.(\/|&#47;))?(doc(\/|&#47;))?/, "", name)
        sub(/^lessons(\/|&#47;)/, "lesson-", name)
        sub(/\.md$/, "", name)
        $0 = substr($0, 1, RSTART - 1) "href=\"" (name == "README" ? "index" : name) ".html" substr($0, RSTART + RLENGTH)
    }
    gsub(/(src|href)="doc(\/|&#47;)/, "&@")
    gsub(/"doc(\/|&#47;)@/, "\"")
    if (/^<\/?(html|head|meta|title|link|!DOCTYPE)/ || /<title>/) print
    else if (/^<body>/ || /^<body /) print $0 "\n<p class=\"top\"><a href=\"" top "index.html\">Covey</a> | <a href=\"" man "index.html\">manual pages</a></p>"
    else print with_pages($0)
}
