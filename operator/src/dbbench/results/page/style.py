"""The page's style sheet: light and dark, screen, phone and paper. No I/O.

Colours are those of Okabe and Ito (2008), which colour-blind readers can tell apart; dark mode has
lighter ones of the same hues.
"""

from dbbench.results.page.markup import Safe

STYLE = Safe("""
:root{--back:#fff;--card:#f6f7f9;--ink:#1a1d21;--faint:#5b6470;--rule:#d5dae0;--grid:#e6e9ed;
--slower:#b84300;--faster:#005f9e;--equivalent:#00735a;--inconclusive:#5b6470;--aggregate:#1a1d21;
--margin:#cdd6df;--floor:#8a94a0;--warn:#7a1f00;--warnback:#fff1e6;
--s0:#0072b2;--s1:#d55e00;--s2:#007a5c;--s3:#a8568a;--s4:#8a6d00;--s5:#3d8ac4}
@media (prefers-color-scheme:dark){:root{--back:#14171a;--card:#1d2126;--ink:#e8ebee;
--faint:#a3adb8;--rule:#39414a;--grid:#2a3037;--slower:#ff9254;--faster:#6cb8ef;--equivalent:#3fcfa6;
--inconclusive:#a3adb8;--aggregate:#e8ebee;--margin:#38434e;--floor:#7d8894;--warn:#ffb98f;
--warnback:#3a2012;--s0:#62b5ec;--s1:#ff9254;--s2:#3fcfa6;--s3:#e29cc6;--s4:#e6c84f;--s5:#a5d8ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:15px/1.5 system-ui,sans-serif;
overflow-wrap:break-word}
main,footer{max-width:80rem;margin:0 auto;padding:1.2rem}
header{border-bottom:1px solid var(--rule);padding-bottom:1rem}
h1{font-size:clamp(1.1rem,2vw,1.4rem);line-height:1.35;margin:.2rem 0 1rem;font-weight:650;
text-wrap:pretty}
h2{font-size:1.2rem;margin:2.2rem 0 .6rem}
h3{font-size:1.02rem;margin:1.4rem 0 .2rem}
.where,.note,footer,figcaption,caption{color:var(--faint)}
.where{margin:0}
.note,footer{font-size:.86rem}
.warning{border:2px solid var(--warn);border-left-width:10px;background:var(--warnback);
color:var(--warn);padding:.7rem 1rem;border-radius:4px;margin:0 0 1rem}
dl{display:flex;flex-wrap:wrap;gap:.4rem 2.2rem;margin:0 0 .8rem}
dt{font-size:.8rem;color:var(--faint)}dd{margin:0}
nav{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:.9rem}
a{color:var(--faster)}
table{border-collapse:collapse;width:100%;margin:.6rem 0 1.2rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:.2rem 0;font-weight:600}
th,td{padding:.22rem .55rem;text-align:left;vertical-align:middle;
border-bottom:1px solid var(--grid)}
thead th{color:var(--faint);font-size:.8rem;font-weight:600;vertical-align:bottom;
border-bottom:1px solid var(--rule)}
tbody th{font-weight:500}
.figure{text-align:right}
th.plot,td.plot{width:38%;padding-top:0;padding-bottom:0;text-align:right}
.forest td,.forest tbody th{white-space:nowrap}.forest td.plot{border-bottom:0}
tfoot td{border:0}.forest{font-size:.88rem}.forest th,.forest td{padding:0 .45rem}
.forest thead th{padding-bottom:.25rem}
.forest small{font-size:.92em;margin-left:.6em;display:inline-block;min-width:10.5em}
small{color:var(--faint)}
.long{overflow-wrap:anywhere;font-size:.8rem;font-family:ui-monospace,monospace}
svg{display:block;overflow:visible}
.verdict{white-space:nowrap}.verdict svg,.legend svg{display:inline-block;vertical-align:-3px}
.verdict,.slower,.faster,.equivalent,.inconclusive,.aggregate{color:var(--k)}
.slower{--k:var(--slower)}.faster{--k:var(--faster)}.equivalent{--k:var(--equivalent)}
.inconclusive{--k:var(--inconclusive)}.aggregate{--k:var(--aggregate)}
.mark path,.forest g path{fill:currentColor;stroke:currentColor;stroke-width:1.5}
.mark.x,.inconclusive path,.forest g.inconclusive path{fill:var(--back)}
.forest g .arrow{fill:none;stroke-width:2}
.interval{stroke:currentColor;stroke-width:2}
line.grid{stroke:var(--grid)}
.zero{stroke:var(--ink);stroke-width:1.2}
.margin{fill:var(--margin);opacity:.8}
.floor{fill:none;stroke:var(--floor);stroke-dasharray:3 3}
.ticks text,.tick{fill:var(--faint);font-size:11.5px}
.ticks line{stroke:var(--faint)}
.grid{display:grid;gap:.6rem 1.6rem;
grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr))}
.two{grid-template-columns:repeat(auto-fill,minmax(min(100%,28rem),1fr))}
figure{margin:0 0 .8rem;break-inside:avoid}
figcaption strong{color:var(--ink)}
.chart{display:grid;grid-template-columns:auto 1fr;gap:6px;padding-right:10px}
.line{fill:none;stroke:var(--s);stroke-width:2;vector-effect:non-scaling-stroke}
path.s0,path.s1,path.s2,path.s3,path.s4,path.s5{fill:var(--s);stroke:var(--back);stroke-width:1}
.bar{fill:var(--s)}
.s0{--s:var(--s0)}.s1{--s:var(--s1)}.s2{--s:var(--s2)}.s3{--s:var(--s3)}.s4{--s:var(--s4)}
.s5{--s:var(--s5)}
.term{fill:var(--s1)}.term.part{opacity:.6}span.part{padding-left:1.2em}
.cross{stroke:var(--ink);stroke-width:2;fill:none}
.stripe{fill:var(--card)}
.legend span{margin-right:1.4rem;white-space:nowrap}
.counters{table-layout:fixed}.counters td svg{margin-bottom:2px}
details{margin:.6rem 0}summary{cursor:pointer;color:var(--faster)}
pre{background:var(--card);padding:.9rem 1rem;border-radius:4px;font-size:.84rem;line-height:1.4;
white-space:pre-wrap}
footer{border-top:1px solid var(--rule);margin-top:2rem}
@media screen and (max-width:60rem){
thead{position:absolute;clip-path:inset(50%);height:1px;overflow:hidden}
table,tbody,tfoot,caption{display:block}
tr{display:flex;flex-wrap:wrap;gap:0 1.2rem;padding:.35rem 0;border-bottom:1px solid var(--rule)}
tbody th{flex:1 0 100%;font-weight:650}
th,td{display:block;border:0;padding:0;text-align:left}
td[data-label]::before{content:attr(data-label) " ";color:var(--faint);font-size:.78rem}
th.plot,td.plot{flex:1 0 100%;width:100%;padding:0 6px}
td:empty{display:none}tfoot tr{border:0}
.forest td,.forest tbody th{white-space:normal}
main,footer{padding:.9rem}}
@media print{
:root{--back:#fff;--card:#f3f4f6;--ink:#000;--faint:#444;--rule:#999;--grid:#ddd;--slower:#b84300;
--faster:#005f9e;--equivalent:#00735a;--inconclusive:#555;--aggregate:#000;--margin:#ccd3da;
--warn:#7a1f00;--warnback:#fff;--s0:#0072b2;--s1:#d55e00;--s2:#007a5c;--s3:#a8568a}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
html{font-size:11.5px}body{font-size:1rem}main,footer{max-width:none;padding:0}
nav{display:none}h2,h3,h2+p,h3+p,.legend{break-after:avoid}tr,figure,.warning{break-inside:avoid}thead{display:table-header-group}
pre{white-space:pre-wrap}
@page{size:A4 landscape;margin:12mm}}
""")
