"""Every page of a built site in a browser, on a phone and a laptop: what is cut off, dead links, requests, pictures.

    python .ci/site_pages.py docs/_build

Needs Chromium or Chrome, and minutes. Exit code 1 if something was found.
"""

import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from runs.report.devtools import Browser

#: What reaches past the window and does not scroll, pictures that were not loaded, addresses of links.
LOOK = """
const room = document.documentElement.clientWidth;
const cut = (each) => /auto|scroll/.test(getComputedStyle(each).overflowX);
const scrolls = (each) => each && each.tagName !== "MAIN" && (cut(each) || scrolls(each.parentElement));
const past = (each) => each.getBoundingClientRect().right > room + 1 && !each.closest("svg") && !scrolls(each);
return {
  wide: document.scrollingElement.scrollWidth > innerWidth,
  past: [...document.querySelectorAll("main *")].filter(past).slice(0, 2).map((each) => each.outerHTML.slice(0, 100)),
  pictures: [...document.images].filter((each) => each.complete && !each.naturalWidth).map((each) => each.src),
  links: [...document.querySelectorAll("a[href]")].map((each) => each.href).filter((each) => each.startsWith("file:")),
  ids: [...document.querySelectorAll("[id]")].map((each) => each.id),
};
"""


def main(site: Path) -> int:
    """Look at every page; the number of findings."""
    pages = [page for page in sorted(site.rglob("*.html")) if "_static" not in page.parts]
    found, ids, links = [], {}, {}
    with Browser() as browser:
        for page in pages:
            for width in (390, 1366):
                browser.open(page, width=width)
                seen = browser.ask(LOOK)
                found += [(page, f"at {width}: {text}") for text in seen["past"] or ["wider"] * seen["wide"]]
                found += [(page, f"no picture: {each}") for each in seen["pictures"]]
                found += [(page, f"asks for {each}") for each in browser.requests() if not each.startswith("file:")]
            ids[page.resolve()] = set(seen["ids"])
            links[page] = seen["links"]
    for page, addresses in links.items():
        for address in dict.fromkeys(addresses):
            parts = urlsplit(address)
            target = Path(unquote(parts.path)).resolve()
            if not target.exists():
                found.append((page, f"leads nowhere: {address}"))
            elif parts.fragment and target in ids and unquote(parts.fragment) not in ids[target]:
                found.append((page, f"no such place: {address}"))
    for page, text in found:
        print(f"{page.relative_to(site)}: {text}")
    print(f"{len(pages)} pages, {len(found)} findings")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
