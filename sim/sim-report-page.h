/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_REPORT_PAGE_H
#define SIM_REPORT_PAGE_H

/* What is the same in every page: its look and its few lines of script. */

static const char sim_report_style[] =
    ":root{color-scheme:light}"
    "body{font:16px/1.5 sans-serif;color:#111;background:#fff;max-width:76rem;margin:0 auto;padding:1rem}"
    "h1{font-size:1.5rem}h2{border-top:2px solid #111;padding-top:.5rem;margin-top:2.5rem}"
    "table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}"
    "caption{text-align:left;font-weight:bold;padding:.3rem 0}"
    "th,td{border:1px solid #999;padding:.2rem .5rem;text-align:left;vertical-align:top}"
    "td.n{text-align:right}.answer td{min-width:6rem}thead th{background:#eee;position:sticky;top:0}"
    "th button{all:unset;cursor:pointer;font:inherit;font-weight:bold}th button:focus-visible{outline:2px solid #000}"
    "th[aria-sort=ascending] button::after{content:' \\25B2'}th[aria-sort=descending] button::after{content:' \\25BC'}"
    ".v-better td:first-child{border-left:5px solid #0072b2}.v-worse td:first-child{border-left:5px solid #d55e00}"
    ".v-metastable td:first-child{border-left:5px double #000}"
    ".scroll{overflow:auto;max-height:40rem}.scroll.answer{max-height:none}figure{margin:1.5rem "
    "0}figcaption{font-weight:bold}"
    "svg{max-width:100%;height:auto}pre{background:#f4f4f4;padding:.7rem;overflow:auto;font-size:.8rem}"
    ".warn{border:2px solid #d55e00;padding:.5rem}"
    "@media print{.scroll{max-height:none;overflow:visible}button::after{content:''!important}}";

/* Sorting by click: numbers by data-v where a cell has it, else texts; equal rows keep their order. With #self-test in
 * the address the page tries itself and says so in an attribute of its root: for the browser test, and for readers
 * whose browser is in doubt. It waits a little, for what is against the policy is told after the page has loaded. */
static const char sim_report_script[] =
    "'use strict';\n"
    "let faults=0;\n"
    "addEventListener('error',()=>faults++);\n"
    "addEventListener('securitypolicyviolation',()=>faults++);\n"
    "const key=(row,i)=>{const c=row.cells[i];return 'v' in "
    "c.dataset?(c.dataset.v===''?NaN:+c.dataset.v):c.textContent};\n"
    "const order=(a,b)=>{\n"
    "  if(typeof a==='string'||typeof b==='string')return String(a).localeCompare(String(b),'en',{numeric:true});\n"
    "  return isNaN(a)?(isNaN(b)?0:1):isNaN(b)?-1:a-b};\n"
    "function sort(button){\n"
    "  const th=button.closest('th'),body=th.closest('table').tBodies[0],i=th.cellIndex;\n"
    "  const up=th.getAttribute('aria-sort')!=='ascending';\n"
    "  for(const other of th.parentNode.cells)other.removeAttribute('aria-sort');\n"
    "  th.setAttribute('aria-sort',up?'ascending':'descending');\n"
    "  const rows=[...body.rows].map(row=>[key(row,i),row]);\n"
    "  rows.sort((a,b)=>{const none=typeof a[0]==='number'&&isNaN(a[0])||typeof b[0]==='number'&&isNaN(b[0]);\n"
    "    return none||up?order(a[0],b[0]):order(b[0],a[0])});\n"
    "  body.append(...rows.map(pair=>pair[1]));\n"
    "}\n"
    "addEventListener('click',event=>{const b=event.target.closest('th button');if(b)sort(b)});\n"
    "function isSorted(th,up){\n"
    "  const values=[...th.closest('table').tBodies[0].rows].map(row=>key(row,th.cellIndex)).filter(v=>v===v);\n"
    "  return values.every((v,i)=>i===0||(up?order(values[i-1],v):order(v,values[i-1]))<=0);\n"
    "}\n"
    "function selfTest(){\n"
    "  const drawn=[...document.querySelectorAll('figure svg')].filter(svg=>{\n"
    "    const box=svg.getBBox();return "
    "box.width>100&&box.height>100&&svg.querySelectorAll('path,polygon,use').length>5});\n"
    "  let sorted=0,wrong=0;\n"
    "  for(const button of document.querySelectorAll('th button'))for(const up of [true,false]){\n"
    "    button.click();isSorted(button.closest('th'),up)?sorted++:wrong++}\n"
    "  const result=`${drawn.length} of ${document.querySelectorAll('figure').length} charts drawn, ${sorted} sorts "
    "right, "
    "${wrong} wrong, ${faults} faults`;\n"
    "  document.documentElement.dataset.selfTest=result;\n"
    "}\n"
    "if(location.hash==='#self-test')addEventListener('load',()=>setTimeout(selfTest,100));\n";

#endif
