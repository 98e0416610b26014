"""The style of a report: colours for light and dark windows and for paper, one layout for all."""

from __future__ import annotations

# Inks are read on the two papers, marks are seen on them; tests measure the contrasts.
LIGHT = {
    "ink": "#1c2330",
    "soft": "#56606f",
    "paper": "#ffffff",
    "card": "#f4f6f9",
    "line": "#d5dbe4",
    "strong": "#1f6f8b",
    "weak": "#8ba3b0",
    "other": "#b45309",
    "heat": "#86bfd1",
    "warn": "#7a4100",
    "warn-paper": "#fff3df",
    "class-1": "#1f6f8b",
    "class-2": "#b45309",
    "class-3": "#6d4fa3",
    "class-4": "#2f7d3b",
    "class-5": "#b0275f",
    "class-6": "#56606f",
}
DARK = {
    "ink": "#e6eaf0",
    "soft": "#a8b2c0",
    "paper": "#14181f",
    "card": "#1d232c",
    "line": "#3a4451",
    "strong": "#5bb5d2",
    "weak": "#64798a",
    "other": "#f0a35e",
    "heat": "#2a5c70",
    "warn": "#ffd08c",
    "warn-paper": "#38290f",
    "class-1": "#5bb5d2",
    "class-2": "#f0a35e",
    "class-3": "#b9a1e6",
    "class-4": "#7cc77f",
    "class-5": "#f08bb4",
    "class-6": "#a8b2c0",
}


def _variables(colors: dict[str, str]) -> str:
    return "".join(f"--{name}:{color};" for name, color in colors.items())


_LAYOUT = """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:960px;padding:1rem 1.1rem 3rem;font:16px/1.55 system-ui,sans-serif;
color:var(--ink);background:var(--paper);overflow-wrap:break-word}
h1{font-size:1.5rem;line-height:1.25;margin:.2rem 0 .6rem}
h2{font-size:1.2rem;margin:2.2rem 0 .5rem;border-top:1px solid var(--line);padding-top:1rem}
h3{font-size:1rem;margin:1.4rem 0 .3rem}
p{margin:.5rem 0;max-width:75ch}ul{margin:.5rem 0;padding-left:1.2rem}li{margin:.25rem 0}
a{color:var(--strong)}
a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:3px solid var(--strong);
outline-offset:2px}
.skip{position:absolute;left:-999px}.skip:focus{position:static}
.soft,figcaption,caption{color:var(--soft);font-size:.9rem}
.verdict{font-size:1.25rem;line-height:1.4}
.warn{color:var(--warn);background:var(--warn-paper);padding:.5rem .8rem;border-radius:6px;
border-left:4px solid var(--warn)}
nav{display:flex;flex-wrap:wrap;gap:.1rem 1rem}nav a{padding:.2rem 0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.6rem;
margin:1rem 0;padding:0;list-style:none}
.tiles li{background:var(--card);border-radius:8px;padding:.6rem .8rem;margin:0}
.tiles b{display:block;font-size:1.25rem;line-height:1.3}
.beside{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,21rem),1fr));
gap:.8rem 2rem;align-items:start}
figure{margin:.8rem 0;max-width:30rem;break-inside:avoid}
svg{width:100%;height:auto;display:block}svg text{fill:var(--ink);font:13px system-ui,sans-serif}
svg .right{text-anchor:end}svg .middle{text-anchor:middle}svg .small{font-size:11.5px;
fill:var(--soft)}
.bar,.point{fill:var(--strong)}.bar.weak{fill:var(--weak)}.point.weak{fill:var(--paper);
stroke:var(--strong);stroke-width:2}.point.other{fill:var(--other)}
.error{stroke:var(--ink);stroke-width:1.5}.track{stroke:var(--line)}
.axis{stroke:var(--soft)}.ideal{stroke:var(--soft);stroke-dasharray:4 4}
.curve{fill:none;stroke:var(--strong);stroke-width:2}.band{fill:var(--strong);opacity:.18}
.box{fill:var(--heat)}.rest{fill:var(--line)}
.key{display:inline-block;width:.8em;height:.8em;border-radius:50%;margin-right:.3em}
.scroll{overflow-x:auto;margin:.6rem 0}
table{border-collapse:collapse;font-size:.9rem;min-width:min(100%,22rem)}
caption{text-align:left;padding:.2rem 0}td{white-space:nowrap}.wide td{white-space:normal}
.wide td:nth-child(5),.wide td:nth-child(7){min-width:11rem}
td,th{padding:.28rem .6rem;text-align:right;border-bottom:1px solid var(--line);
vertical-align:top;font-variant-numeric:tabular-nums}
thead th{border-bottom:2px solid var(--soft)}tbody th{font-weight:400}
td:first-child,th:first-child,.wide td,.wide th{text-align:left}
td svg{width:84px;height:22px}
.heat{background:color-mix(in srgb,var(--heat) var(--share),transparent)}
details{margin:.6rem 0}summary{cursor:pointer;color:var(--strong);padding:.2rem 0}
code,pre{font:.88rem/1.5 ui-monospace,Menlo,Consolas,monospace}
pre{overflow-x:auto;padding:.7rem .9rem;background:var(--card);border-radius:6px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dt{color:var(--soft)}
dd{margin:0}@media (max-width:480px){dl{grid-template-columns:1fr}dd{margin:0 0 .5rem}}
@media print{body{max-width:none;padding:0;font-size:10.5pt}nav,.skip{display:none}
h2,h3{break-after:avoid}.scroll{overflow:visible}tr,figure,.warn,li,.beside>div{break-inside:avoid}
table{font-size:8.5pt}
pre{white-space:pre-wrap}details::details-content{content-visibility:visible;display:block;
height:auto;opacity:1}summary{list-style:none;color:var(--soft)}
.heat,.tiles li,svg{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""
_LAYOUT += "".join(
    f"circle.c{k}{{fill:var(--class-{k})}}polyline.c{k}{{stroke:var(--class-{k})}}"
    f".k{k}{{background:var(--class-{k})}}"
    for k in range(1, 7)
)
_LAYOUT += (
    "polyline.c2{stroke-dasharray:7 3}polyline.c3{stroke-dasharray:2 3}"
    "polyline.c4{stroke-dasharray:9 3 2 3}polyline.c5{stroke-dasharray:4 4}polyline{fill:none;"
    "stroke-width:2}"
)

STYLE = (
    f":root{{color-scheme:light dark;{_variables(LIGHT)}}}"
    f"@media (prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}"
    f"@media print{{:root{{color-scheme:light;{_variables(LIGHT)}}}}}" + _LAYOUT.replace("\n", "")
)
