//! How the page looks.

/// Everything but the charts over time, which bring their own. `--s0` is the baseline's colour,
/// `--s1` to `--s6` are Okabe and Ito's, darker on white where they would be hard to see.
pub(super) const PAGE: &str = "
:root{color-scheme:light dark;
--paper:#fff;--ink:#1f2328;--soft:#57606a;--line:#d0d7de;--grid:#e6eaee;--tint:#f6f8fa;
--band:#8c959f2e;--zero:#1f2328;--link:#0969da;
--s0:#57606a;--s1:#0072b2;--s2:#d55e00;--s3:#009e73;--s4:#b0548d;--s5:#c98a00;--s6:#2f9fd8;
--better:#00613f;--worse:#a63d00;--even:#57606a}
@media (prefers-color-scheme:dark){:root{
--paper:#0d1117;--ink:#e6edf3;--soft:#9ea7b3;--line:#30363d;--grid:#242a33;--tint:#161b22;
--band:#8b949e38;--zero:#e6edf3;--link:#58a6ff;
--s0:#a5adb8;--s1:#4aa8e0;--s2:#f0883e;--s3:#2cc79b;--s4:#e09bc6;--s5:#f0cf5a;--s6:#8fd0f7;
--better:#3fd0a0;--worse:#ff9f5a;--even:#9ea7b3}}
body{margin:0;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,'Segoe UI',Helvetica,Arial,sans-serif}
main{max-width:1180px;margin:0 auto;padding:20px 24px 60px}
h1{font-size:26px;margin:8px 0}
h2{font-size:20px;margin:40px 0 6px;padding-top:14px;border-top:1px solid var(--line)}
h3{font-size:16px;margin:24px 0 6px}
p{margin:6px 0;max-width:90ch}
.lead{font-size:17px}
.detail{color:var(--soft);font-size:14px}
nav{display:flex;flex-wrap:wrap;gap:4px 18px;margin:14px 0}
a{color:var(--link)}
ul{margin:4px 0;padding-left:22px}
.wide{overflow-x:auto}
.wide svg{max-width:none}
table{border-collapse:collapse;margin:12px 0;font-size:14px;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--soft);padding-bottom:4px;
position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th,td{text-align:left;vertical-align:top;padding:5px 14px 5px 8px;border-bottom:1px solid var(--line);
white-space:nowrap}
thead th{background:var(--tint)}
tbody th{font-weight:600}
.absent,.interval{color:var(--soft)}
.verdict{font-weight:600}
.verdict.better{color:var(--better)}
.verdict.worse{color:var(--worse)}
.verdict.equivalent,.verdict.undecided{color:var(--even);font-weight:400}
div.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(340px,100%),1fr));gap:14px 18px}
figure{margin:0;break-inside:avoid}
figcaption{font-weight:600;font-size:14px}
svg{max-width:100%;height:auto;display:block}
.legend{display:flex;flex-wrap:wrap;gap:2px 18px;font-size:14px;max-width:none}
.legend svg{display:inline-block;vertical-align:-2px}
.chart{font:11px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;font-variant-numeric:tabular-nums}
.chart text{fill:var(--soft)}
.chart .title{fill:var(--ink);font-weight:600;font-size:12px}
.chart .name,.chart .number{fill:var(--ink)}
.chart .name{paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}
.chart .end{text-anchor:end}
.chart .middle{text-anchor:middle}
.chart .grid,.chart .rule{stroke:var(--grid)}
.chart .zero{stroke:var(--zero)}
.chart .band{fill:var(--band)}
.s0{--c:var(--s0)}.s1{--c:var(--s1)}.s2{--c:var(--s2)}.s3{--c:var(--s3)}
.s4{--c:var(--s4)}.s5{--c:var(--s5)}.s6{--c:var(--s6)}
.box{fill:var(--c);fill-opacity:.22;stroke:none}
.dots{stroke:var(--c);stroke-width:4;stroke-linecap:round;stroke-opacity:.85;fill:none}
.median{stroke:var(--ink);stroke-width:2}
.spread{stroke:var(--c);fill:none;stroke-opacity:.7}
.shape{stroke:var(--c);stroke-width:1.8;fill:var(--paper)}
.shape.on{fill:var(--c)}
.front{fill:none;stroke:var(--soft);stroke-dasharray:5 4}
.better{--v:var(--better);--f:var(--better)}
.worse{--v:var(--worse);--f:var(--worse)}
.equivalent,.undecided{--v:var(--even);--f:var(--paper)}
.chart .interval{stroke:var(--v);stroke-width:1.8;fill:none}
.estimate{stroke:var(--v);stroke-width:1.8;fill:var(--f)}
.bwmon .step0{stroke-width:1.3}
@media print{nav{display:none}main{max-width:none;padding:0}h2,h3{break-after:avoid}
.wide{overflow:visible}.wide svg{max-width:100%}body{font-size:12px}}
";
